import type { Plan } from '../contract/answers.ts';

/** What a change of settings adds to the plans, and takes from them. */
export interface SettingEffect {
  /** Groups whose plan differs. */
  readonly groups: number;
  readonly added: number;
  readonly removed: number;
  readonly held: number;
  /** Changes that were planned before, and are not any more. */
  readonly dropped: number;
}

type Planned = Pick<Plan, 'group' | 'action' | 'changes' | 'held'>;

/** The difference between the plans with the present settings and with the new ones: what waits either way is not counted. */
export function effectOf(before: readonly Planned[], after: readonly Planned[]): SettingEffect {
  const earlier = new Map(before.map((plan) => [plan.group, plan]));
  const effects = after.map((plan) => groupEffect(earlier.get(plan.group), plan));
  const sum = (count: (effect: ReturnType<typeof groupEffect>) => number) =>
    effects.reduce((total, effect) => total + count(effect), 0);
  return {
    groups: sum(({ differs }) => (differs ? 1 : 0)),
    added: sum(({ fresh }) => fresh.filter(({ kind }) => kind === 'add_member').length),
    removed: sum(({ fresh }) => fresh.filter(({ kind }) => kind === 'remove_member').length),
    held: sum(({ held }) => held),
    dropped: sum(({ dropped }) => dropped),
  };
}

function groupEffect(before: Planned | undefined, after: Planned) {
  const [was, is] = [keysOf(before?.changes ?? []), keysOf(after.changes)];
  const fresh = after.changes.filter((change) => !was.has(keyOf(change)));
  const dropped = [...was].filter((key) => !is.has(key)).length;
  const heldBefore = new Set(before?.held.map(String));
  const held = after.held.filter((one) => !heldBefore.has(String(one))).length;
  const isOther = before?.action !== after.action;
  return { fresh, dropped, held, differs: fresh.length + dropped + held > 0 || isOther };
}

type Change = Planned['changes'][number];

const keyOf = ({ kind, before, after, member }: Change): string =>
  JSON.stringify([kind, before, after, member ?? null]);

const keysOf = (changes: readonly Change[]): ReadonlySet<string> => new Set(changes.map(keyOf));
