import type { GroupState } from '../../domain/group-state.ts';
import type { IntentId } from '../../domain/ids.ts';
import { REFUSED } from '../../plan/decide.ts';
import { countFailing, tellGate } from '../gate.ts';
import type { ApplyPorts } from '../ports/bundles.ts';
import type { Connection } from '../ports/connections.ts';
import type { AuditLink } from '../ports/logs.ts';
import type { PlatformFailure } from '../ports/platform.ts';
import { affordableAtMs, OWN_MESSAGE_MS, tryAgainMs } from '../tuning.ts';
import type { Trouble } from './turn.ts';

/**
 * What is everybody's trouble closes the gate; else this group alone waits, an hour at most however often it fails, and
 * the fifth group in a row without a success closes the gate all the same. Nothing here burns a receive: the message is
 * done with, and the dirty mark is what remains (invariant 9).
 */
export async function handleFailure(
  state: GroupState,
  failure: PlatformFailure,
  { connection, ...how }: Attempt & { readonly connection: Connection },
): Promise<'gate_closed' | 'postponed'> {
  const { ports } = how;
  const { ref, lastError, attempts } = state;
  // A search for unacceptable users goes on where it was: what comes between is neither a try of it nor its end. Nor does
  // it make the next refusal the first.
  const isSearching = searchedBefore(state) > 0;
  const isKept = isSearching || lastError?.code === REFUSED.why.code;
  const error = (isKept && lastError) || { code: failure.kind, message: failure.message };
  if (!isUnsent(failure) && (await tellGate(connection, failure, ports, ref.group))) {
    const nowMs = ports.clock();
    const { calledMs, mine } = how;
    const retryAtMs = affordableAtMs(nowMs, calledMs);
    const again = { retryAtMs, soonerMs: nowMs + ports.coalesceMs, error: { atMs: nowMs, ...error } };
    // It is no try of the group's, but its calls count: a gate may open and close again and again.
    await ports.groups.postpone(state, { ...again, attempts, calledMs, mine });
    return 'gate_closed';
  }
  await postpone({ ...state, attempts: attempts - Number(isSearching) }, error, how);
  return !isUnsent(failure) && (await countFailing(ref, failure, ports)) ? 'gate_closed' : 'postponed';
}

/** A call that we held back ourselves, of which the client knows nothing: it says nothing of the platform. */
const isUnsent = ({ kind, call }: PlatformFailure): boolean => kind === 'unreached' && call === undefined;

/** What the search for unacceptable users leaves behind until it goes on. */
export const UNACCEPTABLE = {
  code: 'platform_rejected',
  message:
    'the platform refuses some of the users to be added: the others are in, and these are tried again in an hour',
};

/** Tries that the search has had: those before it were of another trouble. */
export const searchedBefore = ({ attempts, lastError }: GroupState): number =>
  lastError?.code === UNACCEPTABLE.code ? attempts : 0;

/** What an apply has done about its group so far. */
interface Attempt {
  readonly ports: ApplyPorts;
  /** When the platform was called about it. */
  readonly calledMs: readonly number[];
  /** The intent that it opened last. */
  readonly mine: IntentId | undefined;
}

/**
 * Writes when to look at the group again; it stays dirty. What has changed since `state` was read does not wait so long.
 * A message is sent for what is soon, and the pump wakes the others.
 */
export async function postpone(
  state: GroupState,
  error: Trouble & { readonly atMs?: number },
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
  const wakeAtMs = await ports.groups.postpone(state, { ...tries, retryAtMs, soonerMs, mine });
  if (wakeAtMs === undefined || wakeAtMs - nowMs > OWN_MESSAGE_MS) return;
  await ports.applyQueue.wake([{ ...ref, afterMs: wakeAtMs - nowMs }]);
}

/**
 * Leaves the group until its next change, or for a day, and tells a person through the dead-letter queue, once while the
 * reason is the same and nobody replayed it. The letter goes first: a crash in between repeats it, where the reverse
 * would lose it.
 * @returns false where something has changed meanwhile
 */
export async function giveUp(
  state: GroupState,
  cause: PlatformFailure,
  { ports, audited }: { readonly ports: ApplyPorts; readonly audited: AuditLink },
): Promise<boolean> {
  const { ref, rev, lastError, failedBefore } = state;
  const { connection } = ref;
  const { message } = cause;
  const code = 'platform_rejected';
  const letter = {
    messageId: `${connection}/${ref.group}/${rev}`,
    body: JSON.stringify(ref),
    code,
    message,
    failedBefore,
  } as const;
  const isTold = failedBefore === undefined && lastError?.code === code && lastError.message === message;
  const unburied = isTold ? [] : await ports.deadLetters.bury([{ ...letter, connection, group: ref }]);
  if (unburied.length > 0) throw new Error('the dead-letter queue did not accept a message', { cause });
  return ports.groups.fail(state, { code, message, atMs: ports.clock() }, audited);
}
