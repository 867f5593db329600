import { EVENT_FIELDS, GROUP_FIELDS } from '../../domain/group-fields.ts';
import type { GroupState, Intent } from '../../domain/group-state.ts';
import { type Step, stepUserOf } from '../../domain/history.ts';
import { holdsOf } from '../../domain/hold.ts';
import type { PlatformUserId, VersionToken } from '../../domain/ids.ts';
import { readStamp, STAMP_ZERO, type Stamp, stampTimeMs } from '../../domain/stamp.ts';
import { newestStampOf } from '../../plan/decide/damping.ts';
import { removalFacts } from '../../plan/decide/holds.ts';
import { added, removed, whyRemoved } from '../../plan/draft.ts';
import type { Facts, Wanted } from '../../plan/facts.ts';
import { compareText, type PlanChange } from '../../plan/plan.ts';
import { type RemovalEvent, removalEvent } from '../../plan/removal-cause.ts';
import { type AuditCause, type AuditEntry, OURSELVES } from '../ports/logs.ts';
import type { ApplyContext, PassFacts } from './context.ts';
import { ALL_MEMBERS, learn } from './load.ts';

type Origin = Pick<AuditEntry, 'cause' | 'actor' | 'eventMs' | 'reason' | 'dirtySinceMs'>;
/** Changes, each with the number of its cause if the causes differ. */
type Caused = Pick<AuditEntry, 'changes' | 'causes'>;

const FETCHED_LATER: Origin = { cause: 'a later fetch showed the outcome of the write', actor: OURSELVES };

/** Returns the audit entry of a write whose outcome is known, from its answer or from a later fetch. */
export const auditOf = (
  { id, action, versionBefore }: Intent,
  explained: Origin & Caused,
  result: Pick<AuditEntry, 'atMs' | 'versionAfter' | 'outcome' | 'step'>,
): AuditEntry => ({
  ...result,
  intent: id,
  action,
  changeCount: explained.changes.length,
  versionBefore: versionBefore ?? null,
  ...explained,
});

/** Returns the audit entry of a write whose answer was lost. A later fetch showed its outcome. */
export function foundOf(
  intent: Intent,
  atMs: number,
  versionAfter: VersionToken | null,
  found: Caused | undefined,
  step?: Step,
): AuditEntry {
  const outcome = found ? 'found_written' : 'found_changed';
  const explained = { changes: [], ...found, ...FETCHED_LATER };
  return auditOf(intent, explained, { atMs, versionAfter, outcome, ...(step && { step }) });
}

/** Returns the audit entry of a write whose answer was lost, and whose change a later fetch did not show. */
export const unfoundOf = (
  intent: Intent,
  atMs: number,
  untilMs: number,
  step: Step | undefined,
): AuditEntry => ({
  ...foundOf(intent, atMs, null, undefined, step && { ...step, untilMs }),
  reason: `no answer came, and a fetch did not show the write; it may take effect until ${new Date(untilMs).toISOString()}`,
});

/**
 * Returns the changes of a write with their causes. The entry itself names the approval of its removals, or else the
 * latest event among the causes.
 */
export async function explain(
  changes: readonly PlanChange[],
  facts: KnownFacts,
  consumes: readonly string[],
  context: ApplyContext,
): Promise<Origin & Caused> {
  const { state, wanted } = facts;
  const found = await causesOf(changes, facts, consumes, context);
  const [latest] = found.toSorted((a, b) => compareText(b.stamp, a.stamp));
  const { decision } = holdsOf(state).find(({ digest }) => consumes.includes(digest)) ?? {};
  const origin: Origin = {
    ...originOf(state, wanted),
    ...(latest && originFrom(latest)),
  };
  if (decision?.kind !== 'approved') return { ...origin, ...numbered(changes, found, origin) };
  const { by, reason } = decision;
  const approved = {
    cause: `approved by ${by}: ${reason}`,
    actor: { kind: 'operator', id: by } as const,
    reason,
  };
  return { ...origin, ...approved, ...numbered(changes, found, approved) };
}

/** Returns the cause of an action without changes: drift, the latest event of the directory, or rev if none is known. */
export function originOf(state: GroupState, wanted?: Wanted): Origin {
  const { openDrift, rev, dirtySinceMs } = state;
  const stamp = openDrift.length === 0 && wanted ? newestStampOf(state, wanted) : STAMP_ZERO;
  const senders = [state.registers.author, ...(wanted?.registers ?? [])];
  const author = senders.find((one) => one?.actor !== undefined && one.stamp === stamp);
  const otherwise = openDrift.length > 0 ? `drift ${openDrift.join(', ')}` : `rev ${rev}`;
  const cause = causeBy({ stamp, author: author as RemovalEvent['author'] }, otherwise);
  return { ...originFrom(cause), ...(dirtySinceMs !== undefined && { dirtySinceMs }) };
}

const originFrom = ({ cause, actor, eventMs }: AuditCause): Origin => ({
  cause,
  actor,
  ...(eventMs !== undefined && { eventMs }),
});

type KnownFacts = Facts & { readonly wanted: Wanted };

/** A cause with the stamp of its event. Without an event, the stamp is empty. */
type DatedCause = AuditCause & { readonly stamp: Stamp };

/**
 * Returns the cause of each change of a write: the record of an external change that it undoes, or else (or if it is
 * later) the event of the register, or else its reason, such as a block or the state of the person.
 * @param consumes the digests of the approvals that permit the write. A permitted change also names the approval
 */
async function causesOf(
  changes: readonly PlanChange[],
  facts: KnownFacts,
  consumes: readonly string[],
  { ports }: ApplyContext,
): Promise<readonly DatedCause[]> {
  const { ref, openDrift } = facts.state;
  const records = openDrift.length === 0 ? [] : await ports.drift.read(ref, openDrift);
  const lost = records.find(({ kind }) => kind === 'deleted' || kind === 'recreated');
  const undone = new Map(
    records.flatMap((one) => [one.before, one.after].flat().map((value) => [value, one] as const)),
  );
  const approvals = (facts.held?.sets ?? []).filter(({ hold }) => consumes.includes(hold.digest));
  const eventOf = eventFinder(facts);
  return changes.map((change) => {
    const value = change.before ?? change.after;
    const event = eventOf(change);
    const drift = lost ?? undone.get(value);
    const isLater = stampTimeMs(event?.stamp ?? STAMP_ZERO) > (drift?.detectedAtMs ?? 0);
    const set = approvals.find(({ hold, users }) => hold.deletes || users?.has(value as PlatformUserId));
    return {
      ...(drift === undefined || isLater
        ? causeBy(event, change.reason)
        : causeBy(undefined, `drift ${drift.id}`)),
      ...(set?.hold.decision.kind === 'approved' && { approved: set.hold.decision }),
    };
  });
}

/** @param otherwise the cause if there is no event */
function causeBy(found: RemovalEvent | undefined, otherwise: string): DatedCause {
  const { stamp = STAMP_ZERO, author } = found ?? {};
  const event = readStamp(stamp);
  if (event === undefined) return { stamp, cause: otherwise, actor: OURSELVES };
  const { id, source } = event;
  const actor = author?.stamp === stamp ? author.actor : ({ kind: 'directory', id: source } as const);
  return { stamp, cause: `event ${id} of ${source}`, actor, eventMs: stampTimeMs(stamp) };
}

function eventFinder(facts: KnownFacts): (change: PlanChange) => RemovalEvent | undefined {
  const { registers } = facts.state;
  const members = new Map(facts.wanted.registers.map((one) => [one.member as string | null, one]));
  const given = removalFacts(facts);
  return (change) => {
    if (change.kind === 'add_member') return removalEvent('removed', registers, members.get(change.member));
    if (change.kind === 'delete_group') return removalEvent('group_deleted', registers);
    if (change.kind === 'remove_member') {
      const { cause, event } = whyRemoved(change.before, given);
      return event ?? removalEvent(cause, registers);
    }
    const field = EVENT_FIELDS.find((one) => GROUP_FIELDS[one].change === change.kind);
    const { stamp = registers.upserted } = (field && registers[field]) ?? {};
    return { stamp, author: registers.author };
  };
}

/** Numbers the causes, unless each change has the cause of the entry. */
function numbered(
  changes: readonly PlanChange[],
  found: readonly DatedCause[],
  { cause, actor, eventMs }: Origin,
): Caused {
  const keys = found.map(({ stamp: _, ...one }) => JSON.stringify(one));
  const distinct = [...new Set(keys)];
  if (distinct.every((one) => one === JSON.stringify({ cause, actor, eventMs }))) return { changes };
  const numbers = new Map(distinct.map((one, at) => [one, at]));
  return {
    changes: changes.map((change, at) => ({ ...change, cause: numbers.get(keys[at] ?? '') ?? 0 })),
    causes: distinct.map((one) => JSON.parse(one)),
  };
}

/**
 * Returns the changes of users by a write that a fetch showed. The registers may have changed since the call. So an event
 * after the call is no cause, and if the directory now wants the opposite, the reason is not known.
 */
export async function foundChanges(
  { atMs, consumes = [] }: Intent,
  { users = [] }: Step,
  facts: PassFacts,
  context: ApplyContext,
): Promise<Caused> {
  const what = facts.state.removals === undefined ? (['ended'] as const) : (['ended', 'held'] as const);
  const known = await learn({ kind: 'read', what }, await learn(ALL_MEMBERS, facts, context), context);
  const { wanted, views } = known;
  if (wanted === undefined) return { changes: [] };
  const given = removalFacts(known);
  const { added: sent, removed: unsent } = views?.uncertain ?? {};
  const changes = users.map(stepUserOf).flatMap(({ user, was, is, isOwn }) => {
    const member = given.wanted?.users.get(user);
    const isWrong = (member === undefined) === (is === '+');
    const change = is === '+' ? added(user, member ?? null) : removed(user, whyRemoved(user, given));
    const isOfWrite =
      (isOwn || sent?.has(user) || unsent?.has(user)) && [was, is].every((one) => one !== '?');
    return isOfWrite ? { ...change, ...(isWrong && { reason: FETCHED_LATER.cause }) } : [];
  });
  const found = await causesOf(changes, { ...known, wanted }, consumes, context);
  const proven = found.map((one) => {
    const { eventMs = 0, ...others } = one;
    return eventMs > atMs ? { ...others, ...FETCHED_LATER } : one;
  });
  return numbered(changes, proven, FETCHED_LATER);
}
