import pMap from 'p-map';
import { DirectoryError } from '../directory/ports.ts';
import { ListingError } from '../directory/reading/listing.ts';
import type { ConnectionName } from '../domain/ids.ts';
import type { ConnectionStore } from '../sync/ports/bundles.ts';
import type { Connection } from '../sync/ports/connections.ts';
import { PlatformFailure } from '../sync/ports/platform.ts';
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
}

/**
 * Runs a task for each connection. The failure of one connection does not stop the others. The order is random in each
 * run, so the connections for which a run has no time are not always the same.
 * @returns the results, the first connection, and a failure. The caller reports the results and then throws the failure.
 * In a run for all connections, an outage of a platform or directory is no failure, because it is reported with its
 * connection: by a closed gate, or by a reader that is late or has stopped
 */
export async function eachConnection<Report>(
  { connections, only, logger, random = systemRandom, atOnce = 1 }: Round,
  run: (connection: Connection) => Promise<Report>,
) {
  const reports: Report[] = [];
  let failure: { readonly error: unknown } | undefined;
  const failed = (connection: ConnectionName, error: unknown) => {
    logger.error('failed', { connection, ...errorFields(error) });
    if (only !== undefined || !isOutage(error)) failure = { error };
  };
  const chosen = only === undefined ? await connections.list(failed) : [await connections.find(only)];
  const order = new Map(chosen.map((connection) => [connection, random()]));
  const shuffled = chosen.toSorted((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0));
  const runOne = async (connection: Connection | undefined) => {
    if (connection === undefined) throw new Error(`there is no connection ${only}`);
    try {
      const report = await run(connection);
      reports.push(report);
      logger.info('ran', { connection: connection.name, report: report as object as never });
    } catch (error) {
      failed(connection.name, error);
    }
  };
  await pMap(shuffled, runOne, { concurrency: atOnce });
  return { reports, failure, first: chosen[0]?.name };
}

const isOutage = (error: unknown): boolean =>
  error instanceof PlatformFailure ||
  error instanceof DirectoryError ||
  error instanceof ListingError ||
  (error instanceof Error && error.cause !== error && isOutage(error.cause));
