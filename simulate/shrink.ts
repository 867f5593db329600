import type { Happening, Life } from './simulation-run.ts';

/** The life with only some of its happenings. */
export const keepOnly = (life: Life, kept: readonly number[]): Life => ({
  ...life,
  happenings: kept.flatMap((place) => life.happenings[place] ?? []),
});

/**
 * Leaves out whatever the failure does not need: first whole connections, actors and kinds of actions, then halves, quarters and
 * so on of what is left, as delta debugging does, until no single happening can go or the budget of lives is spent.
 * @returns what is left, its places in the drawn life's happenings, and how many lives that took
 */
export async function shrink(life: Life, fails: (smaller: Life) => Promise<boolean>, mostLives: number) {
  let kept = life.happenings.map((_, place) => place);
  let lives = 0;
  const tryWithout = async (without: ReadonlySet<number>): Promise<boolean> => {
    const fewer = kept.filter((place) => !without.has(place));
    if (lives >= mostLives || fewer.length === kept.length) return false;
    lives += 1;
    if (!(await fails(keepOnly(life, fewer)))) return false;
    kept = fewer;
    return true;
  };
  for (const sortOf of SORTS) {
    const sorts = new Set(kept.map((place) => sortOf(life.happenings[place] as Happening)));
    for (const sort of sorts) {
      await tryWithout(new Set(kept.filter((place) => sortOf(life.happenings[place] as Happening) === sort)));
    }
  }
  for (let size = kept.length >> 1; size >= 1; ) {
    let shrank = false;
    for (let from = 0; from < kept.length; ) {
      const gone = await tryWithout(new Set(kept.slice(from, from + size)));
      shrank ||= gone;
      if (!gone) from += size;
    }
    if (lives >= mostLives) break;
    if (size > 1 || !shrank) size >>= 1;
  }
  return { life: keepOnly(life, kept), kept, lives };
}

const SORTS: readonly ((happening: Happening) => string)[] = [
  ({ connection }) => connection,
  ({ actor }) => actor,
  ({ actor, action }) => `${actor} ${action.kind}`,
  ({ action }) => ('group' in action ? String(action.group) : action.kind),
];
