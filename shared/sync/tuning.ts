/**
 * Concurrent writes of one batch. The number is high enough that the latency of the writes hardly matters, and low
 * enough for one partition of the table.
 */
export const WRITES_IN_FLIGHT = 32;
export const READS_IN_FLIGHT = 32;

/** The maximum number of conflicts in one attempt. After that, the group waits for its next wake-up. */
export const MAX_CONFLICTS = 5;
/** The maximum number of refusals in one search, which cost a dozen calls. A later attempt continues the search. */
export const MAX_REFUSALS = 6;
/** The time after which a refused group or member is tried again. */
export const REFUSED_AGAIN_MS = 24 * 3_600_000;
/** The shortest time between two writes that are sent only because of users which a successful write did not show. */
export const UNSHOWN_AGAIN_MS = 3_600_000;
/** How long a write of unknown outcome may take effect. The group stays dirty until then, and is fetched once more. */
export const UNCERTAIN_MS = 900_000;

/** From this size on, a group's registers carry copies of their users' roles. */
export const LARGE_GROUP = 1_000;

/**
 * How long the end of a role waits before it is saved, because a later page may have the user's next role. This is
 * short, compared with the hour between two refreshes.
 */
export const ROLE_END_WAIT_MS = 60_000;

/** The maximum number of missing people that one refresh requests by id. */
export const ASKED_BY_ID = 100;
export const ASKED_IN_FLIGHT = 4;

/** A retry within this time sends its own delayed message. A longer delay would make the queue look stuck. */
export const OWN_MESSAGE_MS = 600_000;

/** The maximum number of groups of a connection that one run of the requeue job wakes. It runs once a minute. */
export const REQUEUE_BATCH = 600;
/**
 * The maximum number of fan-outs of a connection that one run of the requeue job resumes. Each fan-out may reach
 * thousands of groups.
 */
export const MAX_RESUMED_FAN_OUTS = 100;

/** The number of failing groups in a row that closes the gate, even if the connection itself answers. */
export const FAILING_GROUPS = 5;
/** The time between two probes of a refused credential, and of groups that closed the gate. */
export const REFUSED_WAIT_MS = 600_000;

const SHORTEST_ASKED_MS = 1_000;
const LONGEST_ASKED_MS = 900_000;
/**
 * Returns the wait that the platform requested, within limits. The wait doubles with each request to wait that came
 * directly before.
 */
export const boundedWaitMs = (ms: number, before = 0): number =>
  Math.min(LONGEST_BACKOFF_MS, Math.min(LONGEST_ASKED_MS, Math.max(SHORTEST_ASKED_MS, ms)) * 2 ** before);

const FIRST_BACKOFF_MS = 2_000;
export const LONGEST_BACKOFF_MS = 3_600_000;

/**
 * The number of calls per hour that apply may make about one group. With one call of the feed reader and one call of
 * the sweep, a group costs at most twelve calls.
 */
export const CALLS_AN_HOUR = 10;
const CALLS_OF_A_TRY = 4;
const HOUR_MS = 3_600_000;

/** Returns the calls of the last hour. */
export const calledOf = (callsMs: readonly number[], nowMs: number): readonly number[] =>
  callsMs.filter((atMs) => nowMs - atMs < HOUR_MS).slice(-CALLS_AN_HOUR);

/** Returns the time of the next attempt. The attempt waits until its calls fit into the calls per hour. */
export const affordableAtMs = (dueMs: number, callsMs: readonly number[]): number =>
  Math.max(dueMs, (callsMs.at(-(CALLS_AN_HOUR - CALLS_OF_A_TRY + 1)) ?? dueMs - HOUR_MS) + HOUR_MS);

const FIRST_UNDONE_BACKOFF_MS = 600_000;

/**
 * Returns an exponential backoff. Half of it is random, so that groups that failed together retry at different times.
 */
export function backoffMs(attempts: number, random: number, firstMs = FIRST_BACKOFF_MS, factor = 2): number {
  const full = Math.min(LONGEST_BACKOFF_MS, firstMs * factor ** Math.min(attempts, 20));
  return Math.round(full / 2 + (full / 2) * random);
}

/** Returns the backoff of a failing group. With this backoff, the attempts fit into the calls per hour. */
export const tryAgainMs = (attempts: number, random: number): number =>
  backoffMs(attempts, random, FIRST_BACKOFF_MS, 4);

/** Returns the longer backoff after a write that the platform accepted without effect. A retry rarely helps. */
export const undoneBackoffMs = (attempts: number, random: number): number =>
  backoffMs(attempts, random, FIRST_UNDONE_BACKOFF_MS);
