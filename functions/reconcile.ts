import { ReconcileInvocation } from '../shared/contract/invocation.ts';
import { eachConnection } from '../shared/runtime/each-connection.ts';
import { wireReconcile } from '../shared/runtime/wire-platform.ts';
import { pump } from '../shared/sync/pump.ts';
import { once } from './frame/once.ts';

const wired = once(wireReconcile);

/** Schedules, or by hand → one task over one connection or all. */
export async function handler(event: unknown): Promise<{ readonly reports: readonly unknown[] }> {
  const { ports, ...base } = wired();
  const { task, connection, all = false } = ReconcileInvocation.parse(event);
  const reports = await eachConnection(
    { ...base, connections: ports.connections, only: connection },
    (each) => (task === 'pump' ? pump(each.name, ports, { everything: all }) : Promise.resolve({})),
  );
  if (task === 'pump') base.metrics.emit('PumpCompleted', 1);
  return { reports };
}
