import type { PlatformGroupId, PlatformUserId, VersionToken } from '../../domain/ids.ts';
import type { ObservedGroup } from '../../domain/view.ts';
import type { Plan } from '../../plan/plan.ts';
import type { Intent, WriteAction } from '../ports/groups.ts';
import type { GuardRecord, GuardReservation } from '../ports/guard.ts';
import { didNotHappen, isRefusal, PlatformFailure } from '../ports/platform.ts';
import { CREATE_DEADLINE_MS } from '../tuning.ts';
import { adoptExisting, type Found } from './adopt-existing.ts';
import { auditWritten } from './audit-entry.ts';
import { causeOf } from './cause.ts';
import { confirmWrite } from './confirm-write.ts';
import type { Execution } from './execution.ts';
import { giveUp } from './failure.ts';
import { missing } from './observe.ts';
import { settleIntent } from './settle-intent.ts';
import type { Step } from './step.ts';

/** Carries out a plan: chunks of the view, intent, call, audit, flip. */
export async function execute(plan: Plan, execution: Execution): Promise<Step> {
  const { state, lane } = execution;
  const before = plan.action === 'create' ? await adoptExisting(state, plan, lane) : NOTHING_FOUND;
  if (before.step !== undefined) return before.step;
  const intent = await openIntent(plan, before.known, execution);
  const { reservation, instead } = execution.guarded;
  const { connection } = state.ref;
  if (intent === undefined) {
    if (reservation !== undefined) await lane.ports.guard.cancel(reservation);
    return { kind: 'overtaken' };
  }
  if (instead !== undefined) await lane.ports.guard.cancel({ connection, ...instead });
  let observed: ObservedGroup | undefined;
  try {
    observed = await call(plan, intent, execution);
    const answered = observed?.id;
    if (before.listed.some(({ id }) => id === answered)) throw notCreated(answered);
  } catch (cause) {
    if (!(cause instanceof PlatformFailure)) throw cause;
    return afterFailure(cause, { plan, intent, execution });
  }
  // A look that fails from here on says nothing of the write: the intent stays, to be settled.
  return confirmWrite(plan, { intent, observed, execution });
}

const NOTHING_FOUND: Found = { known: [], listed: [] };

/** What was there before a POST is not what it made: the group that it made is looked for. */
const notCreated = (id: string | undefined): PlatformFailure =>
  new PlatformFailure('unavailable', `expected a new group, but the answer is about ${id}, an older one`, {});

async function openIntent(
  plan: Plan,
  known: readonly PlatformGroupId[],
  { state, lane: { ports }, intent: id, guarded }: Execution,
): Promise<Intent | undefined> {
  const view =
    plan.after === undefined ? undefined : await ports.groups.prepareView(state.ref, id, plan.after);
  const intent: Intent = {
    id,
    action: plan.action as WriteAction,
    atMs: ports.clock(),
    name: plan.after?.name ?? '',
    spokeId: plan.after?.spokeId ?? '',
    known,
    ...(guarded.reservation && { reserved: recordOf(guarded.reservation) }),
    ...(guarded.consumes === undefined ? {} : { consumes: guarded.consumes }),
    ...(view === undefined ? {} : { view }),
    ...(state.platformId === undefined ? {} : { platformId: state.platformId }),
    ...(state.version === undefined ? {} : { versionBefore: state.version }),
  };
  return (await ports.groups.openIntent(state, intent)) ? intent : undefined;
}

/** @returns the group as the platform answered it; undefined after a deletion */
async function call(
  plan: Plan,
  intent: Intent,
  { state, lane: { platform, ports } }: Execution,
): Promise<ObservedGroup | undefined> {
  const { groups } = platform;
  const id = state.platformId as PlatformGroupId;
  const version = state.version as VersionToken;
  if (plan.after === undefined) {
    await groups.delete(id);
    return undefined;
  }
  const { name, spokeId, users } = plan.after;
  const whole = { name, spokeId: spokeId ?? '', users: [...users.keys()] };
  switch (plan.action) {
    case 'create':
      if (ports.clock() - intent.atMs > CREATE_DEADLINE_MS) {
        throw new PlatformFailure(
          'unreached',
          'a creation was not sent: its look at the platform was too old',
          {},
        );
      }
      return groups.create(whole);
    case 'put':
      return groups.put(id, whole, version);
    default:
      return groups.patch(id, changedFields(plan, whole), version);
  }
}

function changedFields(plan: Plan, whole: { name: string; spokeId: string; users: PlatformUserId[] }) {
  const kinds = new Set(plan.changes.map(({ kind }) => kind));
  return {
    ...(kinds.has('rename') ? { name: whole.name } : {}),
    ...(kinds.has('set_spoke_id') ? { spokeId: whole.spokeId } : {}),
    ...(kinds.has('add_member') || kinds.has('remove_member') ? { users: whole.users } : {}),
  };
}

interface Attempt {
  readonly plan: Plan;
  readonly intent: Intent;
  readonly execution: Execution;
}

/** A write that certainly did not happen leaves no intent; any other leaves it, to be settled by a look. */
async function afterFailure(failure: PlatformFailure, attempt: Attempt): Promise<Step> {
  if (!didNotHappen(failure)) throw failure;
  const { intent, execution } = attempt;
  if (isRefusal(failure) && (intent.action === 'patch' || intent.action === 'put')) {
    return afterRejection(failure, attempt);
  }
  await execution.lane.ports.groups.dropIntent(execution.state.ref, intent, stillOwed(attempt));
  await unreserve(attempt);
  if (isRefusal(failure)) return rejected(failure, attempt);
  if (failure.kind === 'not_found' && execution.state.platformId !== undefined) {
    return missing(execution.state, execution.lane);
  }
  throw failure;
}

/** Whichever 4xx it was: if the version is not the one that we sent, it was a conflict, else a refusal. */
async function afterRejection(cause: PlatformFailure, attempt: Attempt): Promise<Step> {
  const { intent, execution } = attempt;
  const settlement = await settleIntent(execution.state, intent, execution.lane, {
    wasRejected: true,
    yet: stillOwed(attempt),
  });
  if (settlement.kind !== 'settled') return settlement;
  // The client repeats what a server declined to serve (503, Retry-After); should that have been done after all, the
  // repetition meets its own version, and the removals stay in the guard's book.
  if (settlement.happened === true) return { kind: 'conflict' };
  await unreserve(attempt);
  if (settlement.happened === 'conflict') return { kind: 'conflict' };
  // Where there is no group to be seen, its version tells nothing: it is not listed yet, or somebody has deleted it.
  if (settlement.happened === 'unseen') return missing(execution.state, execution.lane);
  return rejected(cause, attempt);
}

/** Removals that stand in the guard's book for an earlier write as well, which may yet happen: the next takes them over. */
const stillOwed = ({ intent, execution: { guarded } }: Attempt): GuardRecord | undefined =>
  guarded.instead === undefined ? undefined : intent.reserved;

async function unreserve({ execution: { guarded, lane } }: Attempt): Promise<void> {
  const { reservation, instead } = guarded;
  if (reservation !== undefined && instead === undefined) await lane.ports.guard.cancel(reservation);
}

async function rejected(cause: PlatformFailure, { plan, intent, execution }: Attempt): Promise<Step> {
  const { state, lane } = execution;
  const entry = { nowMs: lane.ports.clock(), version: intent.versionBefore ?? null };
  await lane.ports.audit.record(
    state.ref,
    auditWritten(intent, plan, { ...entry, cause: causeOf(execution), outcome: 'rejected' }),
  );
  await giveUp(state, cause, lane.ports);
  return { kind: 'failed', cause };
}

const recordOf = ({ intent, atMs, removals }: GuardReservation): GuardRecord => ({ intent, atMs, removals });
