import { createHash } from 'node:crypto';
import { eachField, fieldsOf, type GroupField } from '../../domain/group-fields.ts';
import type { GroupError, GroupState } from '../../domain/group-state.ts';
import type { IntentId, PlatformUserId } from '../../domain/ids.ts';
import { ONCE_REFUSED } from '../../plan/decide/refusal.ts';
import type { Plan } from '../../plan/plan.ts';
import { countFailing, reportToGate } from '../gate.ts';
import type { ApplyPorts } from '../ports/bundles.ts';
import type { Connection } from '../ports/connections.ts';
import type { ReportedError } from '../ports/groups.ts';
import type { AuditLink } from '../ports/logs.ts';
import type { PlatformFailure } from '../ports/platform.ts';
import { affordableAtMs, OWN_MESSAGE_MS, tryAgainMs } from '../tuning.ts';
import type { ApplyContext, NewGroupError } from './context.ts';

/**
 * Handles a failed call. A failure that concerns all groups closes the gate. Any other failure makes only this group
 * wait, for at most an hour. The gate also closes if five groups fail in a row. The message is always deleted, so a
 * failure does not move it to the dead-letter queue. The group stays dirty (invariant 9).
 */
export async function handleFailure(
  state: GroupState,
  failure: PlatformFailure,
  { connection, ...how }: Attempt & { readonly connection: Connection },
): Promise<'gate_closed' | 'postponed'> {
  const { ports } = how;
  const { ref, lastError, attempts } = state;
  // A failed call does not replace a stored refusal. Otherwise the next refusal would count as the first refusal.
  const isKept = lastError !== undefined && ONCE_REFUSED.has(lastError.code);
  const error = (isKept && lastError) || { code: failure.kind, message: failure.message };
  if (!isUnsent(failure) && (await reportToGate(connection, failure, ports, ref.group))) {
    const nowMs = ports.clock();
    const { calledMs, mine } = how;
    const retryAtMs = affordableAtMs(nowMs, calledMs);
    const again = {
      retryAtMs,
      isRetrySent: false,
      soonerMs: nowMs + ports.coalesceMs,
      error: { atMs: nowMs, ...error },
    };
    // A failure that closes the gate does not count as an attempt of the group. The group's calls do count, because the
    // gate may open and close many times.
    await ports.groups.postpone(state, { ...again, attempts, calledMs, mine });
    return 'gate_closed';
  }
  await postpone(state, error, how);
  return !isUnsent(failure) && (await countFailing(ref, failure, ports)) ? 'gate_closed' : 'postponed';
}

/** Whether groupsync itself decided not to send the request. Such a failure shows no fault of the platform. */
const isUnsent = ({ kind, call }: PlatformFailure): boolean => kind === 'unreached' && call === undefined;

export const UNACCEPTABLE = {
  code: 'platform_rejected',
  message: 'the platform refuses a part of the change: groupsync will continue to search for this part',
};

interface Attempt {
  readonly ports: ApplyPorts;
  /** The times of the calls to the platform about the group. */
  readonly calledMs: readonly number[];
  readonly mine: IntentId | undefined;
}

/**
 * Stores the time at which apply reads the group again. The group stays dirty. If the group has changed since `state`
 * was read, it waits only for the coalescing window. This function sends the message for a wake-up within the next ten
 * minutes. The requeue job sends the message for a later wake-up.
 */
export async function postpone(
  state: GroupState,
  error: NewGroupError & { readonly atMs?: number },
  {
    ports,
    calledMs,
    mine,
    waitMs = tryAgainMs(state.attempts, ports.random()),
  }: Attempt & { readonly waitMs?: number | undefined },
): Promise<void> {
  const { ref, attempts } = state;
  const nowMs = ports.clock();
  const retryAtMs = affordableAtMs(nowMs + waitMs, calledMs);
  const soonerMs = Math.min(retryAtMs, nowMs + ports.coalesceMs);
  const tries = { attempts: attempts + 1, calledMs, error: { atMs: nowMs, ...error } };
  const isRetrySent = retryAtMs - nowMs <= OWN_MESSAGE_MS;
  const wakeAtMs = await ports.groups.postpone(state, { ...tries, retryAtMs, isRetrySent, soonerMs, mine });
  if (wakeAtMs === undefined || wakeAtMs - nowMs > OWN_MESSAGE_MS) return;
  await ports.applyQueue.wake([{ ...ref, afterMs: wakeAtMs - nowMs }]);
}

/** A write that failed for good. For a deletion that had no effect, `plan` is undefined. */
interface Refusal {
  readonly plan?: Plan;
}

/**
 * Stops the attempts for the group until its next change, or for a day, and reports the failure. The report is sent
 * before the state is stored. So a crash between the two writes can repeat the report, but cannot lose it.
 * @returns false if the group has changed since `state` was read
 */
export async function giveUp(
  state: GroupState,
  cause: PlatformFailure,
  { plan, ports, audited }: Refusal & { readonly ports: ApplyPorts; readonly audited: AuditLink },
): Promise<boolean> {
  const { message } = cause;
  const fields = plan?.after && fieldsOf(plan.after);
  const about = { message, fields, removals: plan?.removals ?? [] };
  const reported = await report(state, about, ports);
  const error = { code: REJECTED, message, atMs: ports.clock(), reported };
  return ports.groups.fail(state, error, audited);
}

/** Reports a field that the platform refuses, and returns the failure with the digest of the report. */
export async function reportFieldFailure(
  failing: GroupError,
  state: GroupState,
  { ports }: Pick<ApplyContext, 'ports'>,
): Promise<ReportedError> {
  const { code, message } = failing;
  const fields = eachField((field) => state.refusedFields?.[field]?.value);
  const about = { message, code, fields, removals: [] };
  return { ...failing, reported: await report(state, about, ports) };
}

const REJECTED = 'platform_rejected';

/**
 * The parts that identify a failure: its text and code, the fields, and the removals that were not made. A failure with
 * the same parts as the last reported failure is not reported again.
 */
interface Failure {
  readonly message: string;
  readonly code?: string;
  readonly fields: Readonly<Partial<Record<GroupField, string | null | undefined>>> | undefined;
  readonly removals: readonly PlatformUserId[];
}

/**
 * Sends a message about the group to the dead-letter queue, except if the last report was about the same failure. After
 * an operator has replayed the message, the same failure is reported again.
 * @returns the digest of the failure
 */
async function report({ ref, rev, failureReport }: GroupState, failure: Failure, ports: ApplyPorts) {
  const digest = createHash('sha256').update(JSON.stringify(failure)).digest('hex').slice(0, 32);
  if (failureReport?.digest === digest) return digest;
  const { connection, group } = ref;
  const unaccepted = await ports.deadLetters.send([
    {
      messageId: `${connection}/${group}/${rev}`,
      body: JSON.stringify(ref),
      code: REJECTED,
      message: failure.message,
      failedBefore: failureReport?.failedBefore,
      connection,
      group: ref,
    },
  ]);
  if (unaccepted.length > 0) throw new Error('the dead-letter queue did not accept a message');
  return digest;
}
