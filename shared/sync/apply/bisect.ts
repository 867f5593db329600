import { FIELD_NAMES, GROUP_FIELDS, type GroupField } from '../../domain/group-fields.ts';
import type { GroupState } from '../../domain/group-state.ts';
import type { PlatformUserId } from '../../domain/ids.ts';
import { removalsRefused } from '../../plan/decide/refusal.ts';
import type { Decision, Write } from '../../plan/decision.ts';
import type { Wanted } from '../../plan/facts.ts';
import { hiddenWanted } from '../../plan/hidden.ts';
import type { Plan } from '../../plan/plan.ts';
import { refusedOf } from '../../plan/refused-fields.ts';
import type { AuditLink } from '../ports/logs.ts';
import type { PlatformFailure } from '../ports/platform.ts';
import { MAX_REFUSALS } from '../tuning.ts';
import { auditOf, explain } from './audit.ts';
import { type ApplyContext, type Bisection, type PassFacts, type Performed, SUPERSEDED } from './context.ts';
import { giveUp } from './failure.ts';

type Refused = NonNullable<PassFacts['refused']>;

/** Records the refusal, and searches for the refused part. If no part is left, ends the search. */
export async function fail(_: Decision, facts: PassFacts, context: ApplyContext): Promise<Performed> {
  const { refused, audited } = await recordRefusal(facts, context);
  return (await search(refused, facts, context)) ?? endSearch(refused, audited, facts.state, context);
}

/**
 * Records the refusal, and waits. The cause of this first refusal may be a version conflict that no read shows yet. A
 * search would then mark the wrong users as refused, or use up the calls of this hour. A search that has begun goes on.
 */
export async function retry(
  { after }: Extract<Decision, { kind: 'retry' }>,
  facts: PassFacts,
  context: ApplyContext,
): Promise<Performed> {
  const { refused } = await recordRefusal(facts, context);
  const searches = context.bisection.hasWritten || isKnownRefusal(refused.write.plan, facts.wanted);
  return (searches ? await search(refused, facts, context) : undefined) ?? { result: after };
}

async function recordRefusal(facts: PassFacts, context: ApplyContext) {
  const { state, refused, wanted } = facts;
  if (refused === undefined || wanted === undefined)
    throw new Error('expected a write that the platform has refused');
  const { intent, write } = refused;
  const result = {
    atMs: context.ports.clock(),
    versionAfter: intent.versionBefore ?? null,
    outcome: 'rejected',
  } as const;
  const explained = await explain(write.plan.changes, { ...facts, wanted }, write.consumes, context);
  return { refused, audited: await context.record(state, auditOf(intent, explained, result)) };
}

/** Returns the next part of the write to send; undefined if no part is left. */
async function search({ write, cause }: Refused, facts: PassFacts, context: ApplyContext) {
  const { state, wanted } = facts;
  const isKnown = isKnownRefusal(write.plan, wanted);
  const next = nextPart(write, facts, { ...context.bisection, isKnown });
  if (next === undefined || wanted === undefined) return undefined;
  if (next.refused === 'users') await markRefused(additionsIn(write.plan), state, wanted, context);
  if (next.refused === 'field') await markField(write.plan, cause, state, context);
  return { result: { kind: 'narrowed', bisection: next.bisection } } as const;
}

function isKnownRefusal(plan: Plan, wanted: Wanted | undefined): boolean {
  const additions = additionsIn(plan);
  const wasRefused = (user: PlatformUserId) => wanted?.membersByUser.get(user)?.some((one) => one.wasRefused);
  return additions.length > 0 && additions.every(wasRefused);
}

/**
 * Ends the search when no smaller write is left. Apply tries removals again in an hour. It tries any other write again
 * after the next change of the group, or after a day.
 */
async function endSearch(
  { write, cause }: Refused,
  audited: AuditLink,
  state: GroupState,
  context: ApplyContext,
): Promise<Performed> {
  const { plan } = write;
  const { action, removals } = plan;
  if (action !== 'delete' && removals.length > 0)
    return { result: removalsRefused(removals.length, cause.message) };
  const about = { plan, ports: context.ports, audited };
  const isGivenUp = await giveUp({ ...state, calledMs: context.calledMs() }, cause, about);
  return isGivenUp ? { result: { kind: 'failed', cause } } : SUPERSEDED;
}

/** The search that continues after a refusal, and the kind of part that is now known to be refused. */
interface Next {
  readonly bisection: Bisection;
  readonly refused?: 'users' | 'field';
}

/**
 * The order of the search; the first matching line counts:
 *
 *     the refused write                        | next
 *     -----------------------------------------|---------------------------------------------------------
 *     changes members, and a field or by PUT   | the members alone, by PATCH
 *     changes both fields, or one by PUT       | one field, by PATCH
 *     changes one field alone                  | its value is recorded as refused; the search tries the other parts
 *     has additions, and removes or creates    | the removals, or the new group without members
 *     has additions                            | halves of them, until the refused user is found
 *     has removals alone                       | nothing; the write is tried again in an hour
 *
 * The fields are the name and the external id. Hidden users may be in the group, and a write of users without them
 * would remove them. So every attempt that sends users includes the hidden users, and the search does not try them one
 * by one. The search omits them only if the platform has refused every attempt with them. If a refused write contains a
 * field, and no users except hidden users, the next attempt sends the field alone.
 */
function nextPart(write: Write, facts: PassFacts, { isKnown, ...before }: Known): Next | undefined {
  const { plan } = write;
  const withheld = [...new Set([...before.withheld, ...withheldLately(write, facts)])];
  const bisection = { ...before, withheld };
  const { refusals } = bisection;
  const fields = fieldsIn(plan);
  const hidden = hiddenWanted(facts);
  const all = additionsIn(plan);
  const additions = all.filter((user) => !hidden.includes(user));
  const hasRemovals = plan.changes.length > fields.length + all.length;
  const hasMembers = hasRemovals || additions.length > 0;
  const isSplit = plan.action === 'put' || (fields.length > 0 && plan.changes.length > 1);
  if (isSplit) {
    const later = [...(hasMembers ? fields : fields.slice(1)), ...withheld];
    return { bisection: { ...bisection, withheld: later, refusals: refusals + 1 } };
  }
  if (fields.length === 1)
    return {
      bisection: { ...bisection, withheld: withheld.slice(1), refusals: refusals + 1 },
      refused: 'field',
    };
  return nextMembers({ additions, hidden, hasRemovals }, { ...bisection, isKnown });
}

interface RefusedMembers {
  readonly additions: readonly PlatformUserId[];
  /** The hidden users. Each attempt sends them, because they may be in the group. */
  readonly hidden: readonly PlatformUserId[];
  readonly hasRemovals: boolean;
}

function nextMembers(
  { additions, hidden, hasRemovals }: RefusedMembers,
  { isKnown, ...bisection }: Known,
): Next | undefined {
  const { batches, refusals } = bisection;
  // Without hidden users, only one addition is left. The platform has accepted no write yet, so it may refuse the whole
  // group. So the user is not marked as refused.
  const isAlone = !(hasRemovals || bisection.hasWritten || isKnown) && additions.length === 1;
  if (isAlone && batches.length > 0 && batches.flat().every((user) => hidden.includes(user)))
    return undefined;
  const next =
    narrowed(additions, hasRemovals, { ...bisection, isKnown }) ?? withoutHidden(hidden, bisection);
  if (next === 'refused')
    return {
      bisection: { ...bisection, batches: batches.slice(1), refusals: refusals + 1 },
      refused: 'users',
    };
  return next && { bisection: next };
}

function withoutHidden(hidden: readonly PlatformUserId[], bisection: Bisection): Bisection | undefined {
  const waiting = new Set(bisection.batches.flat());
  if (bisection.hasWritten || hidden.length === 0 || hidden.some((user) => waiting.has(user)))
    return undefined;
  return { ...bisection, batches: [...bisection.batches, hidden], refusals: 0 };
}

/**
 * Returns the fields that the write omitted, although their values are not recorded as refused. An example is a name
 * that another group has. These fields are sent after the members.
 */
function withheldLately({ withheld = [] }: Write, { wanted, state }: PassFacts): readonly GroupField[] {
  const refused = wanted?.group ? refusedOf(wanted.group, state) : [];
  return withheld.filter((field) => !refused.includes(field));
}

type Known = Bisection & { readonly isKnown: boolean };

const additionsIn = ({ changes }: Plan): readonly PlatformUserId[] =>
  changes.flatMap((change) => (change.kind === 'add_member' ? [change.after] : []));

const fieldsIn = ({ changes }: Plan): readonly GroupField[] =>
  FIELD_NAMES.filter((field) => changes.some(({ kind }) => kind === GROUP_FIELDS[field].change));

async function markField(
  plan: Plan,
  { message }: PlatformFailure,
  state: GroupState,
  { ports }: ApplyContext,
): Promise<void> {
  const [field] = fieldsIn(plan);
  const value = field && plan.after?.[field];
  if (field === undefined || value == null) throw new Error('expected a write of one field');
  await ports.groups.noteRefusedField(state, field, { value, atMs: ports.clock(), message });
}

async function markRefused(
  users: readonly PlatformUserId[],
  { ref }: GroupState,
  { membersByUser }: Wanted,
  { ports }: ApplyContext,
): Promise<void> {
  for (const { member, revision } of users.flatMap((user) => membersByUser.get(user) ?? [])) {
    const mark = { cause: 'refused' as const, sinceMs: ports.clock(), personRevision: revision };
    await ports.groups.markPending(ref, member, mark);
  }
}

/**
 * Splits the additions of a refused write, and returns the search that continues.
 * @returns `refused` if a single addition is certainly the cause; undefined if the cause may be something else
 */
function narrowed(
  additions: readonly PlatformUserId[],
  hasRemovals: boolean,
  { isKnown, ...bisection }: Known,
): Bisection | 'refused' | undefined {
  const { batches, refusals, hasWritten } = bisection;
  const again = (waiting: Bisection['batches']): Bisection => ({
    ...bisection,
    batches: waiting,
    refusals: refusals + 1,
  });
  // In the second case, the platform has accepted no part. So it probably refuses the whole group.
  if (additions.length === 0 || (!hasWritten && refusals + 1 >= MAX_REFUSALS)) return undefined;
  if (hasRemovals) return again([additions, ...batches]);
  if (additions.length === 1 && (hasWritten || isKnown)) return 'refused';
  if (additions.length === 1 && batches.length === 0) return undefined;
  const middle = Math.ceil(additions.length / 2);
  const halves = [additions.slice(0, middle), additions.slice(middle)].filter(({ length }) => length > 0);
  const [next = [], ...rest] = batches;
  // Until the platform accepts a part, each attempt sends half of the next batch. No user is in two of these attempts,
  // so each refused user causes at most one refused attempt.
  if (!hasWritten && next.length > 1)
    return again([next.slice(Math.ceil(next.length / 2)), ...rest, ...halves]);
  return again([...batches, ...halves].slice(1));
}
