import '../shared/runtime/cold-start.ts';
import type { Context } from 'aws-lambda';
import { DirectoryInvocation } from '../shared/contract/invocation.ts';
import { DEFAULT_CONNECTION } from '../shared/contract/names.ts';
import { answerQuestion } from '../shared/directory/operate/answer.ts';
import { examineDirectory, tryDirectory } from '../shared/directory/operate/preview.ts';
import { deliveryOfRun } from '../shared/directory/reading/delivery.ts';
import { readDirectory } from '../shared/directory/reading/run.ts';
import { requireConnection } from '../shared/operate/settings.ts';
import { eachConnection } from '../shared/runtime/each-connection.ts';
import { loggable } from '../shared/runtime/logger.ts';
import { recording } from '../shared/runtime/recorder.ts';
import { reportDeliveries } from '../shared/runtime/report.ts';
import { wireDirectory } from '../shared/runtime/wire-directory.ts';
import type { Connection } from '../shared/sync/ports/connections.ts';
import { occupied } from '../shared/sync/under-lease.ts';
import { once } from './frame/once.ts';
import { requireOwnConnection } from './frame/own-connection.ts';

const wired = once(wireDirectory);
/** Time that is reserved at the end of a run to complete the reads that have begun. */
const RESERVE_MS = 120_000;

/** After this time, the answer to an operator's question starts to read no further group. */
const ANSWER_MS = 30_000;

/** The maximum number of groups that a message names. */
const NAMED = 10;

const unreadable = (groups: readonly string[]): Error =>
  new Error(
    `${groups.length} groups of the directory cannot be read: ${groups.slice(0, NAMED).join(', ')}. See groupsync directory groups`,
  );

/**
 * Reads the directories of connections and sends events for differences. Connections without a directory are skipped.
 * For operators, the function also examines or previews one directory, or answers a question about it.
 */
export async function handler(
  event: unknown,
  context: Pick<Context, 'getRemainingTimeInMillis' | 'invokedFunctionArn'>,
): Promise<{ readonly reports: readonly unknown[] }> {
  const { ports, ...base } = wired();
  const {
    connection,
    full = false,
    acceptDeletions = false,
    examine = false,
    record,
    preview,
    ask,
  } = DirectoryInvocation.parse(event ?? {});
  requireOwnConnection(context, connection);
  if (ask !== undefined) {
    const found = await requireConnection(connection ?? DEFAULT_CONNECTION, ports);
    const untilMs = ports.clock() + ANSWER_MS;
    const isTimeUp = () => ports.clock() >= untilMs;
    return { reports: [await answerQuestion(found, ask, { directories: ports.directories, isTimeUp })] };
  }
  if (preview !== undefined || examine) {
    const found = await requireConnection(connection ?? DEFAULT_CONNECTION, ports);
    return recording(record, async () => {
      const report =
        preview === undefined
          ? await examineDirectory(found, ports)
          : await tryDirectory(found, preview, ports);
      return { reports: [{ connection: found.name, ...report }] };
    });
  }
  const deadlineMs = ports.clock() + Math.max(1_000, context.getRemainingTimeInMillis() - RESERVE_MS);
  const read = async (each: Connection): Promise<object> => {
    const startedMs = ports.clock();
    const record = (ended: Pick<Parameters<typeof deliveryOfRun>[0], 'report' | 'error'>) => {
      const delivery = deliveryOfRun({ ...ended, startedMs, nowMs: ports.clock() });
      return reportDeliveries(delivery ? [{ connection: each.name, delivery }] : [], ports, base.logger);
    };
    const report = await readDirectory(each, ports, {
      deadlineMs,
      isFull: full,
      acceptsDeletions: acceptDeletions && connection !== undefined,
    }).catch(async (error: unknown) => {
      await record({ report: undefined, error });
      throw error;
    });
    await record({ report });
    if (report === undefined) return occupied({ connection: each.name, task: 'directory' }, ports);
    // A scheduled run reports these groups by a notification.
    if (report.unreadable.length === 0 || connection === undefined) return report;
    base.logger.info('read', { ...report, unreadable: report.unreadable.length });
    throw unreadable(report.unreadable);
  };
  const { reports, failure } = await eachConnection(
    { ...base, connections: ports.connections, only: connection, sleep: ports.sleep },
    async (each) => {
      const { name, settings } = each;
      if (settings.directory === null) return { connection: name, skipped: 'no directory is read' };
      return { connection: name, ...(await read(each)) };
    },
  );
  if (failure !== undefined) throw loggable(failure.error);
  return { reports };
}
