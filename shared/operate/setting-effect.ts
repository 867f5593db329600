import type { Plan } from '../contract/answers/groups.ts';
import type { PlanEffect } from '../contract/answers/reconcile.ts';

export interface GroupEffect {
  readonly group: string;
  readonly added: number;
  readonly removed: number;
  readonly held: number;
  /** The number of changes in the earlier plan that the new plan does not contain. */
  readonly dropped: number;
}

type Planned = Pick<Plan, 'group' | 'action' | 'changes' | 'held'>;

/**
 * Returns the groups whose plans differ before and after a change of settings or of people. Changes that both plans
 * contain are not counted.
 */
export function effectsOf(before: readonly Planned[], after: readonly Planned[]): readonly GroupEffect[] {
  const earlier = new Map(before.map((plan) => [plan.group, plan]));
  return after.flatMap((plan) => groupEffect(earlier.get(plan.group), plan));
}

export function sumOf(effects: readonly GroupEffect[]): PlanEffect {
  const sum = (key: 'added' | 'removed' | 'held' | 'dropped') =>
    effects.reduce((total, effect) => total + effect[key], 0);
  return {
    groups: effects.length,
    added: sum('added'),
    removed: sum('removed'),
    held: sum('held'),
    dropped: sum('dropped'),
  };
}

function groupEffect(before: Planned | undefined, after: Planned): readonly GroupEffect[] {
  const [was, is] = [keysOf(before?.changes ?? []), keysOf(after.changes)];
  const fresh = after.changes.filter((change) => !was.has(keyOf(change)));
  const count = (kind: string) => fresh.filter((change) => change.kind === kind).length;
  const dropped = [...was].filter((key) => !is.has(key)).length;
  const heldBefore = new Set(before?.held.map(String));
  const held = after.held.filter((one) => !heldBefore.has(String(one))).length;
  if (fresh.length + dropped + held === 0 && before?.action === after.action) return [];
  const { group } = after;
  return [{ group, added: count('add_member'), removed: count('remove_member'), held, dropped }];
}

type Change = Planned['changes'][number];

const keyOf = ({ kind, before, after, member }: Change): string =>
  JSON.stringify([kind, before, after, member ?? null]);

const keysOf = (changes: readonly Change[]): ReadonlySet<string> => new Set(changes.map(keyOf));
