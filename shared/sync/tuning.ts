/**
 * Concurrent writes of one batch. The number is high enough to hide the round trip, and low enough for one partition of
 * the table.
 */
export const WRITES_IN_FLIGHT = 32;
export const READS_IN_FLIGHT = 32;

/** The maximum number of conflicts of one apply. After that, the group waits for another message. */
export const MAX_CONFLICTS = 5;
/**
 * The maximum number of refusals of one write and its parts. Six refusals cost about a dozen calls. A later attempt
 * tries the other parts.
 */
export const MAX_REFUSALS = 6;
/** The time after which a refused group or member is tried again. */
export const REFUSED_AGAIN_MS = 24 * 3_600_000;
/** The shortest time between two writes whose only reason is a user that a successful write did not show. */
export const UNSHOWN_AGAIN_MS = 3_600_000;
/**
 * The time in which a write of unknown outcome may take effect. The group stays dirty for this time, and is fetched
 * once more after it.
 */
export const UNCERTAIN_MS = 900_000;

/** From this size on, a group's registers carry copies of their users' roles. */
export const LARGE_GROUP = 1_000;

/**
 * The end of a role is saved after this wait, because a later page may have the user's next role. Compared with the
 * hour between two listings, this wait is short.
 */
export const ROLE_END_WAIT_MS = 60_000;

/** The number of missing people that one refresh requests by id, and the number of concurrent requests. */
export const ASKED_BY_ID = 100;
export const ASKED_IN_FLIGHT = 4;

/** A retry within this time sends its own message. A message with a longer delay would make the queue look stuck. */
export const OWN_MESSAGE_MS = 600_000;

/**
 * The maximum number of groups of a connection that one run of the requeue job wakes. A deployed backlog drains at this
 * rate per minute.
 */
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
/** Returns the wait that the platform requested, within limits. The wait doubles for each earlier request in a row. */
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
 * Returns an exponential backoff. Half of the backoff is random: groups that failed together then retry at different
 * times.
 */
export function backoffMs(attempts: number, random: number, firstMs = FIRST_BACKOFF_MS, factor = 2): number {
  const full = Math.min(LONGEST_BACKOFF_MS, firstMs * factor ** Math.min(attempts, 20));
  return Math.round(full / 2 + (full / 2) * random);
}

/** Returns the backoff of a failing group. With this backoff, the attempts fit into the calls per hour. */
export const tryAgainMs = (attempts: number, random: number): number =>
  backoffMs(attempts, random, FIRST_BACKOFF_MS, 4);

/**
 * Returns the backoff of a write that the platform accepts without effect. This backoff is longer, because retries
 * rarely help.
 */
export const undoneBackoffMs = (attempts: number, random: number): number =>
  backoffMs(attempts, random, FIRST_UNDONE_BACKOFF_MS);
