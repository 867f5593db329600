import type { GroupState } from '../../domain/group-state.ts';
import { HOLD_LIFE_MS, type Hold } from '../../domain/hold.ts';
import type { EndHold, StartHold } from '../../plan/decision.ts';
import { type HeldSets, mayCoverRejected } from '../../plan/hold.ts';
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
  const sets = heldBy(decision, facts, context.ports.clock());
  const before = await unreserved(facts, context);
  await context.ports.groups.hold(state, sets, await recordHold(sets.hold.hold, true, facts, context));
  return { facts: { ...before, ...withHeld(decision, state, sets) } };
}

/** Returns the facts after a hold was recorded. */
export function withHeld<State extends GroupState>(
  { deletes }: StartHold,
  { approval: _, ...state }: State,
  { hold, approval }: HeldSets,
) {
  const about = deletes ? 'delete' : 'remove';
  const approved = approval && ({ users: approval.users, about } as const);
  return {
    state: { ...state, hold: hold.hold, ...(approval && { approval: approval.hold }) },
    held: { users: hold.users, about, approved },
  } as const;
}

export async function endHold(
  { ends }: EndHold,
  facts: PassFacts,
  context: ApplyContext,
): Promise<Performed> {
  const { hold, approval } = facts.state;
  const ended = ends.includes('hold') ? (hold ?? approval) : approval;
  await context.ports.groups.dropHold(facts.state, ends, await recordHold(ended, false, facts, context));
  return { facts: { ...facts, state: withoutHold(facts.state, ends), held: undefined } };
}

export const withoutHold = ({ hold, approval, ...state }: GroupState, ends: EndHold['ends']): GroupState => ({
  ...state,
  ...(hold && !ends.includes('hold') && { hold }),
  ...(approval && !ends.includes('approval') && { approval }),
});

/**
 * Writes the audit entry before the hold is stored. If another change of the group comes first, the next pass makes the
 * same decision again.
 */
function recordHold(
  hold: Hold | undefined,
  made: boolean,
  facts: PassFacts,
  context: ApplyContext,
): Promise<AuditLink> {
  const { state, wanted } = facts;
  const summary = hold === undefined ? null : `${hold.removes} to remove, ${hold.keeps} stay`;
  const [before, after] = made ? [null, summary] : [summary, null];
  const reason = made ? `more than the rule ${hold?.rule} allows` : 'it covers no planned removal any more';
  const entry = entryOf(made ? 'hold' : 'drop_hold', { kind: 'hold', before, after, reason }, context.ports);
  return context.record(state, { ...entry, ...originOf(state, wanted) });
}

type HoldFacts = Pick<PassFacts, 'state' | 'held' | 'settings'>;

/**
 * Returns the hold to record, and the removals that an operator approved separately. One write stores both, so there is
 * no moment without the hold. The store adds the location of the stored users.
 */
export function heldBy(decision: StartHold, facts: HoldFacts, nowMs: number): HeldSets {
  const { users, approved, deletes, size } = decision;
  const { link, hold, approval } = facts.state;
  const permission = hold?.decision.kind === 'approved' ? hold : approval;
  const removes = approved.length;
  const digest = holdDigest(link?.id, deletes ? 'delete' : 'remove', approved);
  return {
    hold: { hold: holdOf(decision, facts, nowMs), users: new Set(users) },
    approval:
      permission === undefined || removes === 0
        ? undefined
        : {
            hold: { ...permission, digest, removes, keeps: size - removes, share: removes / size },
            users: new Set(approved),
          },
  };
}

function holdOf(
  { users, approved, size, rule, share, deletes }: StartHold,
  { state: { link, hold }, held, settings }: HoldFacts,
  nowMs: number,
): Hold {
  const isAfter = hold && mayCoverRejected(hold) && users.some((user) => held?.users?.has(user) ?? true);
  return {
    digest: holdDigest(link?.id, deletes ? 'delete' : 'remove', users),
    rule,
    removes: users.length,
    keeps: size - users.length - approved.length,
    share: share ?? (size === 0 ? 0 : users.length / size),
    createdAtMs: nowMs,
    expiresAtMs: nowMs + HOLD_LIFE_MS,
    decision: { kind: 'waiting' },
    ...(isAfter && { afterRejection: true as const }),
    ...((settings.fourEyes || hold?.fourEyes === true) && { fourEyes: true as const }),
    chunks: 0,
    hash: '',
  };
}
