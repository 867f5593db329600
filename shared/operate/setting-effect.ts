import type { Plan } from '../contract/answers/groups.ts';
import type { PlanEffect } from '../contract/answers/reconcile.ts';
import type { ConnectionName } from '../domain/ids.ts';
import { WRITES } from '../sync/apply/plan-group.ts';
import { type NamesPorts, readNames } from './names.ts';

export interface GroupEffect {
  readonly group: string;
  readonly added: readonly Change[];
  readonly removed: readonly Change[];
  readonly held: readonly string[];
  /** The number of changes in the earlier plan that the new plan does not contain. */
  readonly dropped: number;
}

type Planned = Pick<Plan, 'group' | 'action' | 'changes' | 'held'>;
type Change = Planned['changes'][number];

export function effectsOf(before: readonly Planned[], after: readonly Planned[]): readonly GroupEffect[] {
  const earlier = new Map(before.map((plan) => [plan.group, plan]));
  return after.flatMap((plan) => groupEffect(earlier.get(plan.group), plan));
}

export const countsOfEffect = ({ added, removed, held, dropped }: Omit<GroupEffect, 'group'>) => ({
  added: added.length,
  removed: removed.length,
  held: held.length,
  dropped,
});

export const sumOf = (effects: readonly GroupEffect[]): PlanEffect => ({
  groups: effects.length,
  ...countsOfEffect({
    added: effects.flatMap(({ added }) => added),
    removed: effects.flatMap(({ removed }) => removed),
    held: effects.flatMap(({ held }) => held),
    dropped: effects.reduce((total, { dropped }) => total + dropped, 0),
  }),
});

function groupEffect(before: Planned | undefined, after: Planned): readonly GroupEffect[] {
  const [was, is] = [writtenBy(before), writtenBy(after)];
  const fresh = [...is].flatMap(([key, change]) => (was.has(key) ? [] : [change]));
  const of = (kind: string) => fresh.filter((change) => change.kind === kind);
  const dropped = [...was.keys()].filter((key) => !is.has(key)).length;
  const held = after.held.filter((user) => !before?.held.includes(user));
  if (fresh.length + dropped + held.length === 0 && before?.action === after.action) return [];
  return [{ group: after.group, added: of('add_member'), removed: of('remove_member'), held, dropped }];
}

const writtenBy = (plan: Planned | undefined): ReadonlyMap<string, Change> =>
  new Map(plan && WRITES.has(plan.action) ? plan.changes.map((change) => [keyOf(change), change]) : []);

const keyOf = ({ kind, before, after, member }: Change): string =>
  JSON.stringify([kind, before, after, member ?? null]);

const NAMED = 50;

export async function membersNamed(
  { group, added, removed, held }: GroupEffect,
  connection: ConnectionName,
  ports: NamesPorts,
): Promise<readonly string[]> {
  const changes = [...added, ...removed];
  const members = changes.flatMap(({ member }) => member ?? []);
  const names = await readNames(connection, { members, usersOf: [group] }, ports);
  const nameOf = ({ member, before, after }: Change) =>
    member == null ? names.user(after ?? before ?? '') : names.member(member);
  const lines = [
    ...added.map((change) => `+ ${nameOf(change)}`),
    ...removed.map((change) => `- ${nameOf(change)}`),
    ...held.map((user) => `waits: ${names.user(user)}`),
  ];
  const more = [`… and ${lines.length - NAMED} more`];
  return lines.length > NAMED ? [...lines.slice(0, NAMED), ...more] : lines;
}
