import '../shared/runtime/cold-start.ts';
import type { Context } from 'aws-lambda';
import type { PeopleReport } from '../shared/contract/answers/reconcile.ts';
import { PeopleInvocation } from '../shared/contract/invocation.ts';
import { AT_ONCE, eachConnection } from '../shared/runtime/each-connection.ts';
import { loggable } from '../shared/runtime/logger.ts';
import { wirePeople } from '../shared/runtime/wire-platform.ts';
import { refreshPeople } from '../shared/sync/people.ts';
import { once } from './frame/once.ts';
import { requireOwnConnection } from './frame/own-connection.ts';

const wired = once(wirePeople);

/** Refreshes the people index. The failure of one connection does not stop the others. */
export async function handler(
  event: unknown,
  context: Pick<Context, 'invokedFunctionArn'>,
): Promise<{ readonly reports: readonly PeopleReport[] }> {
  const { ports, ...base } = wired();
  const { connection } = PeopleInvocation.parse(event ?? {});
  requireOwnConnection(context, connection);
  const { reports, failure } = await eachConnection(
    { ...base, connections: ports.connections, only: connection, atOnce: AT_ONCE.people },
    (each) => refreshPeople(each, ports),
  );
  await ports.recordCalls();
  base.metrics.count('PeopleRefreshed');
  if (failure !== undefined) throw loggable(failure.error);
  return { reports };
}
