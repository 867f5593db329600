/** Concurrent writes of one batch: enough to hide the round trip, few enough to share a partition. */
export const WRITES_IN_FLIGHT = 32;
export const READS_IN_FLIGHT = 32;

/** Conflicts of one apply, after which the group waits for another message. */
export const MAX_CONFLICTS = 5;
/** The most refusals of one write and its parts; they cost a dozen calls. The rest is tried an hour later. */
export const MAX_REFUSALS = 6;
/** A group or a member whose content the platform refused is tried again after this time. */
export const REFUSED_AGAIN_MS = 24 * 3_600_000;
/** Shortest time between two writes whose only reason is a user that a successful write did not show. */
export const UNSHOWN_AGAIN_MS = 3_600_000;
/** A write of unknown outcome may take effect for this long; the group stays dirty until then, and is fetched once more. */
export const UNCERTAIN_MS = 900_000;

/** From this size on a group's registers carry copies of their users' roles. */
export const LARGE_GROUP = 1_000;

/** The end of a role waits this long for a later page to show the user's next role. An hourly listing is not faster anyway. */
export const ROLE_END_WAIT_MS = 60_000;

/** The number of missing people that one refresh requests by id, and the number of concurrent requests. */
export const ASKED_BY_ID = 100;
export const ASKED_IN_FLIGHT = 4;

/** A retry this far ahead sends its own message; one that SQS keeps for longer would look like a queue that is stuck. */
export const OWN_MESSAGE_MS = 600_000;

/** Groups of a connection that one run of the requeue job wakes. A deployed backlog drains at this rate per minute. */
export const REQUEUE_BATCH = 600;
/** Fan-outs of a connection that one run of the requeue job resumes. Each may reach thousands of groups. */
export const MAX_RESUMED_FAN_OUTS = 100;

/** This many failing groups in a row close the gate, even if the connection itself answers well. */
export const FAILING_GROUPS = 5;
/** Time between two probes of a refused credential, and of groups that closed the gate. */
export const REFUSED_WAIT_MS = 600_000;

const SHORTEST_ASKED_MS = 1_000;
const LONGEST_ASKED_MS = 900_000;
/** The wait that the platform asked for, within limits. It doubles for each earlier request in a row. */
export const boundedWaitMs = (ms: number, before = 0): number =>
  Math.min(LONGEST_BACKOFF_MS, Math.min(LONGEST_ASKED_MS, Math.max(SHORTEST_ASKED_MS, ms)) * 2 ** before);

const FIRST_BACKOFF_MS = 2_000;
export const LONGEST_BACKOFF_MS = 3_600_000;

/** Calls per hour that applies of one group may make; with one read of the feed and one of the sweep it is twelve. */
export const CALLS_AN_HOUR = 10;
const CALLS_OF_A_TRY = 4;
const HOUR_MS = 3_600_000;

/** Returns the calls of the last hour. */
export const calledOf = (callsMs: readonly number[], nowMs: number): readonly number[] =>
  callsMs.filter((atMs) => nowMs - atMs < HOUR_MS).slice(-CALLS_AN_HOUR);

/** Returns when the next attempt is due: not before its calls fit into the calls per hour. */
export const affordableAtMs = (dueMs: number, callsMs: readonly number[]): number =>
  Math.max(dueMs, (callsMs.at(-(CALLS_AN_HOUR - CALLS_OF_A_TRY + 1)) ?? dueMs - HOUR_MS) + HOUR_MS);

const FIRST_UNDONE_BACKOFF_MS = 600_000;

/** Exponential, with half of it at random, so that groups which failed together do not return together. */
export function backoffMs(attempts: number, random: number, firstMs = FIRST_BACKOFF_MS, factor = 2): number {
  const full = Math.min(LONGEST_BACKOFF_MS, firstMs * factor ** Math.min(attempts, 20));
  return Math.round(full / 2 + (full / 2) * random);
}

/** The backoff of a failing group. It is long enough for the calls per hour. */
export const tryAgainMs = (attempts: number, random: number): number =>
  backoffMs(attempts, random, FIRST_BACKOFF_MS, 4);

/** The backoff of a write that the platform accepts without effect. It is longer, because retries rarely help. */
export const undoneBackoffMs = (attempts: number, random: number): number =>
  backoffMs(attempts, random, FIRST_UNDONE_BACKOFF_MS);
