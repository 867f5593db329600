import type { Named, Names } from '../../shared/operate/names.ts';
import type { GroupPlan } from '../../shared/sync/apply/preview.ts';
import type { Output } from './output.ts';
import { plural, shellWord, visible } from './words.ts';

/** Changes of one plan that are listed before the rest is only counted. */
const SHOWN = 50;

/** What the lines of plans name. */
export const namedIn = (plans: readonly GroupPlan[]): Named => {
  const busy = plans.filter(isBusy);
  return {
    groups: busy.map(({ group }) => group),
    members: busy.flatMap(({ changes }) => changes.slice(0, SHOWN).flatMap(({ member }) => member ?? [])),
    usersOf: busy
      .filter(({ action, changes }) => action === 'hold' || changes.some(isUnnamed))
      .map(({ group }) => group),
  };
};

const isUnnamed = ({ kind, member }: GroupPlan['changes'][number]): boolean =>
  member == null && kind.endsWith('_member');
const isBusy = ({ action, note }: GroupPlan): boolean => action !== 'none' || note !== null;

/** Plans for people: one line per change, with its reason. */
export function showPlans(
  plans: readonly GroupPlan[],
  { out, names, write = out.line }: { out: Output; names: Names; write?: (text: string) => void },
): void {
  const busy = plans.filter(isBusy);
  for (const plan of busy) for (const line of linesOf(plan, names, out)) write(line);
  const quiet = plans.length - busy.length;
  if (quiet > 0) write(out.paint.dim(`${quiet} of ${plans.length} groups: nothing to do`));
}

function* linesOf(plan: GroupPlan, names: Names, { paint }: Output): Generator<string> {
  const { group, action, changes, held, hold, note } = plan;
  yield `${paint.bold(names.group(group))}  ${action}`;
  for (const change of changes.slice(0, SHOWN)) {
    const isRemoval = change.after === null;
    const line = `  ${isRemoval ? '-' : '+'} ${change.kind} ${sayChange(change, names)}`;
    yield isRemoval ? paint.red(line) : paint.green(line);
    yield paint.dim(`      ${change.reason}`);
  }
  if (changes.length > SHOWN) yield `  … and ${changes.length - SHOWN} more changes`;
  if (action !== 'hold' && held.length > 0) yield `  ${plural(held.length, 'removal')} held by the guard`;
  if (hold !== null) yield `  next: groupsync holds show ${shellWord(group)}`;
  if (note !== null) yield paint.dim(`  ${note}`);
}

function sayChange(change: GroupPlan['changes'][number], names: Names): string {
  const { before, after, member } = change;
  if (isUnnamed(change)) return names.user(after ?? before ?? '');
  const value = before !== null && after !== null ? `${before} → ${after}` : (after ?? before ?? '');
  return member == null ? visible(value) : `${names.member(member)} as ${value}`;
}
