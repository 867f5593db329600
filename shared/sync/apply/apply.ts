import type { DriftKind } from '../../domain/drift.ts';
import { HOUR_MS } from '../../domain/duration.ts';
import type { Gate } from '../../domain/gate.ts';
import type { GroupState } from '../../domain/group-state.ts';
import type { ConnectionName, GroupRef } from '../../domain/ids.ts';
import { isAtWork, isEarly } from '../../domain/wake-up.ts';
import { stopNow } from '../../plan/stop.ts';
import { countSuccess } from '../gate.ts';
import type { ApplyPorts } from '../ports/bundles.ts';
import type { Connection } from '../ports/connections.ts';
import { endClaim } from '../retire-claim.ts';
import { MAX_CONFLICTS, MAX_REFUSALS, OWN_MESSAGE_MS, undoneBackoffMs } from '../tuning.ts';
import type { NewGroupError, PassResult, WriteMade } from './context.ts';
import { afterWrite, isUnfinished, NO_BISECTION } from './context.ts';
import { handleFailure, postpone, UNACCEPTABLE } from './failure.ts';
import { type Attempt, calledBy, runPass, SPENT } from './pass.ts';

export interface ApplyReport {
  readonly ref: GroupRef;
  readonly outcome:
    | 'written'
    | 'in_sync'
    | 'postponed'
    | 'failed'
    | 'gate_closed'
    | 'paused'
    | 'observing'
    | 'moving'
    | 'nothing_to_do';
  readonly writes: readonly WriteMade[];
  readonly conflicts: number;
  readonly drift: readonly DriftKind[];
  /** The time from the first change to the confirmed write, if that write made the group clean. */
  readonly lagMs?: number;
  readonly cause?: unknown;
}

type PartialReport = Pick<ApplyReport, 'outcome' | 'lagMs' | 'cause'>;

/** The maximum number of passes of one attempt. After them, the group waits for its next wake-up. */
const MAX_PASSES = 3 * MAX_CONFLICTS;

/**
 * Makes one platform group equal to the desired state. The message only names the group. Apply reads all facts itself.
 * Its reads of the table are strongly consistent.
 *
 *     group item ──▶ open intent settled ──▶ registers ──▶ resolve, plan, guard ──▶ change, intent
 *       ──▶ platform call ──▶ view ──▶ audit ──▶ commit (view pointer, version, intent cleared, dirty cleared if rev is unchanged)
 *
 * The process may die at any arrow. If it has stored the intent, the next apply settles the intent (invariant 2).
 * @throws StoreError or another error if the table or the queue fails. SQS then delivers the message again
 */
export async function applyGroup(ref: GroupRef, ports: ApplyPorts): Promise<ApplyReport> {
  const attempt: Attempt = {
    writes: [],
    conflicts: 0,
    drift: [],
    bisection: NO_BISECTION,
    isSuperseded: false,
    hasFetched: false,
    hasRefused: false,
  };
  const report = await runPasses(ref, ports, attempt);
  if (attempt.unnamed !== undefined) await ports.audit.keep(ref, attempt.unnamed);
  const { writes, conflicts, drift } = attempt;
  return { ref, ...report, writes, conflicts, drift };
}

async function runPasses(ref: GroupRef, ports: ApplyPorts, attempt: Attempt): Promise<PartialReport> {
  for (let pass = 0; pass < MAX_PASSES && attempt.conflicts <= MAX_CONFLICTS; pass += 1) {
    const [state, gate, connection] = await Promise.all([
      ports.groups.read(ref),
      ports.gates.read(ref.connection),
      connectionOf(ref.connection, ports),
    ]);
    if (!mayRunPass(state, pass, ports, attempt) || connection === undefined)
      return endWithoutPass(state, ports, attempt);
    const outcome = stopNow(state, connection, gate);
    if (outcome !== undefined) return { outcome };
    attempt.callsMs ??= state.calledMs;
    const report = await applyOnce(state, { gate, connection }, ports, attempt);
    if (report === 'conflicts') break;
    if (report !== undefined) return report;
  }
  const message = 'the group changed several times in a row during the attempt';
  const state = await ports.groups.read(ref);
  if (state !== undefined) await postpone(state, { code: 'conflicts', message }, attemptOf(attempt, ports));
  return { outcome: 'postponed' };
}

/**
 * Runs one pass.
 * @returns undefined if another pass follows immediately; `conflicts` if conflicts have used up the calls of this hour
 */
async function applyOnce(
  state: GroupState,
  { gate, connection }: { readonly gate: Gate; readonly connection: Connection },
  ports: ApplyPorts,
  attempt: Attempt,
): Promise<PartialReport | 'conflicts' | undefined> {
  await endClaim(state, connection.company, ports);
  // A pass with an open intent or a suspected change reads the group from the platform.
  attempt.hasFetched ||= (state.intent ?? state.suspectedChange) !== undefined;
  const result = await runPass(state, connection, ports, attempt);
  if (result.kind === 'broken') {
    const outcome = await handleFailure(state, result.cause, { ...attemptOf(attempt, ports), connection });
    return { outcome, cause: result.cause };
  }
  if (result.kind === 'spent' && attempt.conflicts > 0) return 'conflicts';
  if (hasAnswered(result, attempt)) await countSuccess(state.ref.connection, gate, ports);
  return prepareNextPass(result, attempt) ? undefined : endWith(result, state, ports, attempt);
}

/**
 * Ends an attempt that may run no further pass. If the group's item was changed during the last pass, the function first
 * sends the message for the stored wake-up. Another worker may have made the change, and then sends the same message.
 * But the change may also be this worker's own commit: if the answer was lost, the SDK repeats the commit, and the
 * condition of the repeated commit fails.
 */
async function endWithoutPass(
  state: GroupState | undefined,
  ports: ApplyPorts,
  { mine, isSuperseded }: Attempt,
): Promise<PartialReport> {
  const nowMs = ports.clock();
  const mayBeOwn = state !== undefined && isSuperseded && needsApply(state) && !isAtWork(state, nowMs, mine);
  if (mayBeOwn && state.wakeAtMs !== undefined) {
    const afterMs = Math.max(0, state.wakeAtMs - nowMs);
    if (afterMs <= OWN_MESSAGE_MS) await ports.applyQueue.wake([{ ...state.ref, afterMs }]);
  }
  return { outcome: 'nothing_to_do' };
}

/**
 * Whether this worker may run a pass: the group needs work, no other worker is active, and the wake-up is not early.
 * After the first pass, the wake-up is checked only if another worker changed the group during the last pass.
 */
function mayRunPass(
  state: GroupState | undefined,
  pass: number,
  { clock, coalesceMs }: ApplyPorts,
  { mine, isSuperseded }: Attempt,
): state is GroupState {
  if (state === undefined || !needsApply(state)) return false;
  const nowMs = clock();
  return (
    !isAtWork(state, nowMs, mine) && ((pass > 0 && !isSuperseded) || !isEarly(state, { nowMs, coalesceMs }))
  );
}

const attemptOf = (attempt: Attempt, ports: ApplyPorts) => ({
  calledMs: calledBy(attempt, ports),
  mine: attempt.mine,
  ports,
});

/** Whether another pass follows immediately. The function also stores the data for the next pass in the attempt. */
function prepareNextPass(
  result: PassResult,
  attempt: Attempt,
): result is Extract<PassResult, { kind: 'again' | 'conflict' | 'superseded' }> {
  const { bisection } = attempt;
  if (result.kind === 'conflict') attempt.conflicts += 1;
  attempt.isSuperseded = result.kind === 'superseded';
  if (attempt.isSuperseded) return true;
  if (result.kind === 'narrowed') {
    attempt.bisection = result.bisection;
    return result.bisection.refusals < MAX_REFUSALS;
  }
  if (result.kind === 'written' && isUnfinished(bisection)) {
    attempt.writes.push(result.write);
    attempt.bisection = afterWrite(bisection);
    return true;
  }
  return result.kind === 'again' || result.kind === 'conflict';
}

/**
 * Whether this attempt shows that the platform is available. The platform is available if it accepted a write, answered
 * the fetch of an attempt that ends in sync (`hasFetched`), or refused a write because of its content or its version.
 */
const hasAnswered = ({ kind }: PassResult, { hasFetched, hasRefused }: Attempt): boolean =>
  kind === 'written' || (kind === 'in_sync' && hasFetched) || hasRefused;

/** Returns the cached connection, if it is present and may write. Otherwise reads the connection again. */
async function connectionOf(name: ConnectionName, { connections }: ApplyPorts) {
  const known = await connections.find(name);
  return known?.observing === false ? known : connections.current(name);
}

const needsApply = (state: GroupState): boolean =>
  state.dirtySinceMs !== undefined || state.intent !== undefined || state.suspectedChange !== undefined;

/**
 * The reason of a wait after an external change. The first wait is one coalescing window. Further waits grow
 * exponentially.
 */
const CHANGED_DURING_WRITE = {
  code: 'conflicts',
  message: 'another client changed the group while it was written',
};

async function endWith(
  result: Exclude<PassResult, { kind: 'again' | 'conflict' | 'superseded' | 'broken' }>,
  state: GroupState,
  ports: ApplyPorts,
  attempt: Attempt,
): Promise<PartialReport> {
  const putOff = async (why: NewGroupError, waitMs?: number): Promise<PartialReport> => {
    await postpone(state, why, { ...attemptOf(attempt, ports), waitMs });
    return { outcome: 'postponed' };
  };
  switch (result.kind) {
    case 'wait': {
      const { why, waitMs = undoneBackoffMs(state.attempts, ports.random()) } = result;
      return putOff(why, waitMs);
    }
    case 'narrowed':
      // If the platform accepted a part of the write, the next search begins immediately.
      return putOff(UNACCEPTABLE, attempt.bisection.hasWritten ? 0 : HOUR_MS);
    case 'spent':
      return putOff(state.lastError ?? SPENT, 0);
    case 'failed':
      return { outcome: 'failed', cause: result.cause };
    case 'in_sync':
      return { outcome: attempt.writes.length > 0 ? 'written' : 'in_sync' };
    case 'written':
      attempt.writes.push(result.write);
      return endWritten(result, state, ports, putOff);
  }
}

async function endWritten(
  { undone, isExternallyChanged, clean }: Extract<PassResult, { kind: 'written' }>,
  { ref, attempts, dirtySinceMs: since }: GroupState,
  ports: ApplyPorts,
  putOff: (why: NewGroupError, waitMs?: number) => Promise<PartialReport>,
): Promise<PartialReport> {
  if (undone !== undefined) return putOff(undone, undoneBackoffMs(attempts, ports.random()));
  if (isExternallyChanged && attempts > 0) return putOff(CHANGED_DURING_WRITE);
  if (isExternallyChanged) await putOff(CHANGED_DURING_WRITE, ports.coalesceMs);
  else if (!clean) await ports.applyQueue.wake([{ ...ref, afterMs: ports.coalesceMs }]);
  else if (since !== undefined) return { outcome: 'written', lagMs: Math.max(0, ports.clock() - since) };
  return { outcome: 'written' };
}
