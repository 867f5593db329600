import pMap from 'p-map';
import { HOUR_MS } from '../domain/duration.ts';

/**
 * The number of concurrent writes of one batch. It is high enough to hide the latency of the writes, and low enough for
 * one partition of the table.
 */
export const WRITES_IN_FLIGHT = 32;
export const READS_IN_FLIGHT = 32;

/** The maximum number of conflicts in one attempt. After one more conflict, the group waits for its next wake-up. */
export const MAX_CONFLICTS = 5;
/**
 * The maximum number of refused writes in one search for the refused part. A later attempt searches again, without the
 * users and fields that are already recorded as refused.
 */
export const MAX_REFUSALS = 6;
/** The time after which apply tries a refused group or member again. */
export const REFUSED_AGAIN_MS = 24 * 3_600_000;
/** The minimum time between two writes whose only purpose is to add hidden users again. */
export const HIDDEN_AGAIN_MS = 3_600_000;
/** How long an uncertain write may still take effect. The group stays dirty for this time, and is then fetched. */
export const UNCERTAIN_MS = 900_000;

/** In groups with at least this number of members, the member registers have copies of their users' roles. */
export const LARGE_GROUP = 1_000;

/** How long the end of a role waits before it is saved, because a later page may have the user's next role. */
export const ROLE_END_WAIT_MS = 60_000;

/** The maximum number of missing people that one refresh requests by id. */
export const ASKED_BY_ID = 100;
export const ASKED_IN_FLIGHT = 4;

/** Apply sends a delayed message for a retry within this time. A longer delay would make the queue look stuck. */
export const OWN_MESSAGE_MS = 600_000;

/** The maximum number of groups of a connection that one run of the requeue job wakes. The job runs once a minute. */
export const REQUEUE_BATCH = 600;
/** The maximum number of fan-outs of a connection that one run of the requeue job resumes. */
export const MAX_RESUMED_FAN_OUTS = 100;

/** The number of failing groups in a row that closes the gate, even if `/me` succeeds. */
export const FAILING_GROUPS = 5;
/** The time between two probes of a refused credential, and the maximum wait after failing groups closed the gate. */
export const REFUSED_WAIT_MS = 600_000;

const SHORTEST_ASKED_MS = 1_000;
const LONGEST_ASKED_MS = 900_000;
/**
 * Returns the wait that the platform requested, within limits.
 * @param before the number of requests to wait directly before this request. Each of them doubles the wait
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

/** Returns the calls of the last hour, at most the latest `CALLS_AN_HOUR`. */
export const calledOf = (callsMs: readonly number[], nowMs: number): readonly number[] =>
  callsMs.filter((atMs) => nowMs - atMs < HOUR_MS).slice(-CALLS_AN_HOUR);

/** Returns `dueMs`, or a later time at which the next attempt fits into the calls per hour. */
export const affordableAtMs = (dueMs: number, callsMs: readonly number[]): number =>
  Math.max(dueMs, (callsMs.at(-(CALLS_AN_HOUR - CALLS_OF_A_TRY + 1)) ?? dueMs - HOUR_MS) + HOUR_MS);

const FIRST_UNDONE_BACKOFF_MS = 600_000;

/** Returns an exponential backoff. Half of it is random, so that groups do not retry at the same time. */
export function backoffMs(attempts: number, random: number, firstMs = FIRST_BACKOFF_MS, factor = 2): number {
  const full = Math.min(LONGEST_BACKOFF_MS, firstMs * factor ** Math.min(attempts, 20));
  return Math.round(full / 2 + (full / 2) * random);
}

/** Returns the backoff of a failing group. With this backoff, the attempts fit into the calls per hour. */
export const tryAgainMs = (attempts: number, random: number): number =>
  backoffMs(attempts, random, FIRST_BACKOFF_MS, 4);

/** Returns the backoff after an accepted write without effect. It is long, because a retry rarely helps. */
export const undoneBackoffMs = (attempts: number, random: number): number =>
  backoffMs(attempts, random, FIRST_UNDONE_BACKOFF_MS);

export async function collectPages<Item>(pages: AsyncIterable<readonly Item[]>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const page of pages) all.push(...page);
  return all;
}

/** Calls `make` for each item, at most `most` calls at a time. Returns the results in the order of the items. */
export const mapConcurrently = <Item, Made>(
  most: number,
  items: Iterable<Item>,
  make: (item: Item) => Promise<Made> | Made,
): Promise<Made[]> => pMap(items, make, { concurrency: most });
