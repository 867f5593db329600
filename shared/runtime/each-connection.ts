import pMap from 'p-map';
import { DirectoryError } from '../directory/ports.ts';
import { ListingError } from '../directory/reading/listing.ts';
import type { ConnectionName } from '../domain/ids.ts';
import type { ConnectionStore } from '../sync/ports/bundles.ts';
import type { Connection } from '../sync/ports/connections.ts';
import { PlatformFailure } from '../sync/ports/platform.ts';
import { ThrottledError } from '../sync/ports/store-errors.ts';
import { isOccupied } from '../sync/under-lease.ts';
import { systemRandom } from './clock.ts';
import { errorFields, type Logger } from './logger.ts';

/** The number of connections at once, so that large ones fit into the memory together (bench/results.md). */
export const AT_ONCE = { pump: 16, health: 16, people: 4, feed: 6, sweep: 2, notify: 1 };

interface Round {
  readonly connections: Pick<ConnectionStore, 'find' | 'list'>;
  /** Runs the task for this connection only; undefined: for all connections. */
  readonly only: ConnectionName | undefined;
  readonly logger: Logger;
  readonly random?: () => number;
  /** The number of connections at once. Default: 1. */
  readonly atOnce?: number;
  /** With it, an operator's run for one connection waits for another run of the task. */
  readonly sleep?: (ms: number) => Promise<void>;
}

/** An operator's run tries this often to begin, so it waits for at most 30 s. */
const TRIES = 15;
const BETWEEN_TRIES_MS = 2_000;

/**
 * Runs a task for each connection. The failure of one connection does not stop the others. `run` returns undefined for
 * a connection that is not due. The order is random in each run, so the connections for which a run has no time are not always the same.
 * @returns the results, the first connection, and a failure. The caller reports the results and then throws the failure.
 * In a run for all connections, an outage of a platform or directory is no failure, because it is reported with its
 * connection: by a closed gate, or by a reader that is late or has stopped
 */
export async function eachConnection<Report>(
  { connections, only, logger, random = systemRandom, atOnce = 1, sleep }: Round,
  run: (connection: Connection) => Promise<Report | undefined>,
) {
  const reports: Report[] = [];
  let failure: { readonly error: unknown } | undefined;
  const failed = (connection: ConnectionName, error: unknown, isLast = true) => {
    logger.error('failed', { connection, ...errorFields(error) });
    if (isLast && (only !== undefined || !isOutage(error))) failure = { error };
  };
  const chosen = only === undefined ? await connections.list(failed) : [await connections.find(only)];
  const order = new Map(chosen.map((connection) => [connection, random()]));
  const shuffled = chosen.toSorted((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0));
  const throttled = new Set<Connection>();
  const isTriedAgain = (connection: Connection, error: unknown) =>
    error instanceof ThrottledError && only === undefined && !throttled.has(connection);
  const waiting = only === undefined ? undefined : sleep;
  const runOne = async (connection: Connection | undefined) => {
    if (connection === undefined) throw new Error(`there is no connection ${only}`);
    try {
      const report = await untilFree(() => run(connection), waiting);
      if (report === undefined) return;
      reports.push(report);
      logger.info('ran', { connection: connection.name, report: report as object as never });
    } catch (error) {
      const isLast = !isTriedAgain(connection, error);
      if (!isLast) throttled.add(connection);
      failed(connection.name, error, isLast);
    }
  };
  await pMap(shuffled, runOne, { concurrency: atOnce });
  // The table throttles single requests, so these connections are tried again when all others have ended.
  await pMap([...throttled], runOne, { concurrency: atOnce });
  return { reports, failure, first: chosen[0]?.name };
}

async function untilFree<Report>(begin: () => Promise<Report>, sleep: Round['sleep']) {
  let report = await begin();
  for (let tries = 0; sleep !== undefined && isOccupied(report) && tries < TRIES; tries += 1) {
    await sleep(BETWEEN_TRIES_MS);
    report = await begin();
  }
  return report;
}

const isOutage = (error: unknown): boolean =>
  error instanceof PlatformFailure ||
  error instanceof DirectoryError ||
  error instanceof ListingError ||
  (error instanceof Error && error.cause !== error && isOutage(error.cause));
