import type { ConnectionName } from '../domain/ids.ts';
import type { Connection, Connections } from '../sync/ports/connections.ts';
import { systemRandom } from './clock.ts';
import { errorFields, type Logger } from './logger.ts';

interface Round {
  readonly connections: Connections;
  /** Only this connection; undefined: all connections. */
  readonly only: ConnectionName | undefined;
  readonly logger: Logger;
  /** A number from 0 up to 1. */
  readonly random?: () => number;
}

/**
 * Runs a task for each connection. The failure of one connection does not stop the others. Each run has another order.
 * So if a connection uses up the time of a run, it is not always the same other connections that wait.
 * @returns the results, the first connection, and the last failure, which the caller throws after it has reported
 */
export async function eachConnection<Report>(
  { connections, only, logger, random = systemRandom }: Round,
  run: (connection: Connection) => Promise<Report>,
) {
  const reports: Report[] = [];
  let failure: { readonly error: unknown } | undefined;
  const failed = (connection: ConnectionName, error: unknown) => {
    logger.error('failed', { connection, ...errorFields(error) });
    failure = { error };
  };
  const chosen = only === undefined ? await connections.list(failed) : [await connections.find(only)];
  const order = new Map(chosen.map((connection) => [connection, random()]));
  for (const connection of chosen.toSorted((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0))) {
    if (connection === undefined) throw new Error(`there is no connection ${only}`);
    try {
      const report = await run(connection);
      reports.push(report);
      logger.info('ran', { connection: connection.name, report: report as object as never });
    } catch (error) {
      failed(connection.name, error);
    }
  }
  return { reports, failure, first: chosen[0]?.name };
}
