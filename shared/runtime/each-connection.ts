import type { ConnectionName } from '../domain/ids.ts';
import type { Connection, Connections } from '../sync/ports/connections.ts';
import { errorFields, type Logger } from './logger.ts';

interface Round {
  readonly connections: Connections;
  /** Only this one; all where undefined. */
  readonly only: ConnectionName | undefined;
  readonly logger: Logger;
}

/**
 * Runs a task for each connection, one company's failure keeping no other from its turn.
 * @throws the last failure when all have had their turn, so that the invocation shows as failed
 */
export async function eachConnection<Report>(
  { connections, only, logger }: Round,
  run: (connection: Connection) => Promise<Report>,
): Promise<readonly Report[]> {
  const chosen = only === undefined ? await connections.list() : [await connections.find(only)];
  const reports: Report[] = [];
  let failure: { readonly error: unknown } | undefined;
  for (const connection of chosen) {
    if (connection === undefined) throw new Error(`there is no connection ${only}`);
    try {
      const report = await run(connection);
      reports.push(report);
      logger.info('ran', { connection: connection.name, report: report as object as never });
    } catch (error) {
      logger.error('failed', { connection: connection.name, ...errorFields(error) });
      failure = { error };
    }
  }
  if (failure !== undefined) throw failure.error;
  return reports;
}
