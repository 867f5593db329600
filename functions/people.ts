import '../shared/runtime/cold-start.ts';
import type { Context } from 'aws-lambda';
import { PeopleInvocation } from '../shared/contract/invocation.ts';
import { AT_ONCE, eachConnection } from '../shared/runtime/each-connection.ts';
import { loggable } from '../shared/runtime/logger.ts';
import { runPeople } from '../shared/runtime/run-reconcile.ts';
import { wirePeople } from '../shared/runtime/wire-platform.ts';
import { once } from './frame/once.ts';
import { requireOwnConnection } from './frame/own-connection.ts';

const wired = once(wirePeople);

/** Refreshes the people index. The failure of one connection does not stop the others. */
export async function handler(
  event: unknown,
  context: Pick<Context, 'invokedFunctionArn'>,
): Promise<{ readonly reports: readonly object[] }> {
  const { ports, ...base } = wired();
  const invocation = PeopleInvocation.parse(event ?? {});
  const { connection } = invocation;
  requireOwnConnection(context, connection);
  const { reports, failure } = await eachConnection(
    { ...base, connections: ports.connections, only: connection, atOnce: AT_ONCE.people, sleep: ports.sleep },
    (each) => runPeople(each, invocation, ports),
  );
  await ports.recordCalls();
  base.metrics.count('PeopleRefreshed');
  if (failure !== undefined) throw loggable(failure.error);
  return { reports };
}
