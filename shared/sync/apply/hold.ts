import type { GroupState } from '../../domain/group-state.ts';
import { type HeldSetName, HOLD_LIFETIME_MS, type Hold, holdsOf } from '../../domain/hold.ts';
import type { EndHold, StartHold } from '../../plan/decision.ts';
import { limitOf } from '../../plan/guard-limit.ts';
import { type HeldRemovals, isOver } from '../../plan/hold.ts';
import { type AuditLink, entryOf } from '../ports/logs.ts';
import { originOf } from './audit.ts';
import type { ApplyContext, PassFacts, Performed } from './context.ts';
import { holdDigest } from './load.ts';
import { unreserved } from './write.ts';

export async function startHold(
  decision: StartHold,
  facts: PassFacts,
  context: ApplyContext,
): Promise<Performed> {
  const { state } = facts;
  const held = heldBy(decision, facts, context.ports.clock());
  const before = await unreserved(facts, context);
  await context.ports.groups.hold(state, held, await recordHold([held.hold], true, facts, context));
  return { facts: withHeld(decision, before, held) };
}

export function withHeld<Known extends Pick<PassFacts, 'state' | 'held'>>(
  { deletes }: StartHold,
  facts: Known,
  { hold, users }: HeldRemovals,
): Known {
  const about = deletes ? 'delete' : 'remove';
  return {
    ...facts,
    state: { ...facts.state, hold },
    held: { ...facts.held, hold: { users, about } },
  };
}

export async function endHold(
  { ends }: EndHold,
  facts: PassFacts,
  context: ApplyContext,
): Promise<Performed> {
  const { state } = facts;
  const ended = holdsOf(state).filter((hold) => ends.some((name) => state[name] === hold));
  await context.ports.groups.dropHold(state, ends, await recordHold(ended, false, facts, context));
  return { facts: { ...facts, state: withoutHold(state, ends), held: undefined } };
}

export const withoutHold = (state: GroupState, ends: readonly HeldSetName[]): GroupState =>
  Object.fromEntries(
    Object.entries(state).filter(([name]) => !ends.some((one) => one === name)),
  ) as unknown as GroupState;

/** Adds the audit entry about holds that begin or end. The caller stores the change after this entry. */
function recordHold(
  holds: readonly Hold[],
  made: boolean,
  facts: PassFacts,
  context: ApplyContext,
): Promise<AuditLink> {
  const { state, wanted, settings } = facts;
  const summary = holds.map(({ removes, keeps }) => `${removes} to remove, ${keeps} stay`).join('; ');
  const [before, after] = made ? [null, summary] : [summary, null];
  const [first] = holds;
  const reason =
    made && first !== undefined
      ? `removals wait: ${limitOf(first, settings.guard)}`
      : 'it no longer covers a planned removal';
  const entry = entryOf(made ? 'hold' : 'drop_hold', { kind: 'hold', before, after, reason }, context.ports);
  return context.record(state, { ...entry, ...originOf(state, wanted) });
}

/** Returns the hold to record. The store adds the location of the stored users. */
export function heldBy(
  { users, approved, size, rule, share, deletes }: StartHold,
  { state, settings }: Pick<PassFacts, 'state' | 'settings'>,
  nowMs: number,
): HeldRemovals {
  const isUnderFourEyes = settings.fourEyes || holdsOf(state).some(({ fourEyes }) => fourEyes);
  const replaced = replacedBy(state, nowMs);
  const hold: Hold = {
    digest: holdDigest(state.link?.id, deletes ? 'delete' : 'remove', users),
    rule,
    removes: users.length,
    keeps: size - users.length - approved,
    share: share ?? (size === 0 ? 0 : users.length / size),
    createdAtMs: Math.min(nowMs, ...replaced.map(({ createdAtMs }) => createdAtMs)),
    dirtySinceMs: Math.min(
      ...[state.unwrittenSinceMs, state.dirtySinceMs].map((sinceMs) => sinceMs ?? nowMs),
      ...replaced.map(({ dirtySinceMs }) => dirtySinceMs),
    ),
    expiresAtMs: nowMs + HOLD_LIFETIME_MS,
    decision: { kind: 'waiting' },
    ...(isUnderFourEyes && { fourEyes: true as const }),
    chunks: 0,
    hash: '',
  };
  return { hold, users: new Set(users) };
}

/** Returns the sets that a new hold replaces: the earlier hold, and decisions that have expired. */
const replacedBy = ({ hold, approval, rejection }: GroupState, nowMs: number): readonly Hold[] => [
  ...(hold === undefined ? [] : [hold]),
  ...[approval, rejection].flatMap((decided) => (decided && isOver(decided, nowMs) ? decided : [])),
];
