import type { Check } from '../../contract/answers.ts';
import type { ConnectionName } from '../../domain/ids.ts';
import { type DoctorPorts, fault, guarded } from './check.ts';
import { checkConnection } from './connection.ts';
import { checkDeployment } from './deployment.ts';
import { checkScim } from './scim.ts';

export interface DoctorReport {
  readonly checks: readonly Check[];
}

/**
 * Looks at every part, from the queues to the last group of each connection, and says how to mend each fault. Nothing
 * is changed, and one part that cannot be asked does not keep the others from it.
 */
export async function examine(
  { prefix, connection }: { readonly prefix: string; readonly connection: ConnectionName | undefined },
  ports: DoctorPorts,
): Promise<DoctorReport> {
  const deployed = await checkDeployment({ prefix, deployment: ports.deployment });
  const connected = await guarded('connections', async () => {
    const all = await ports.connections.list();
    const chosen = connection === undefined ? all : all.filter(({ name }) => name === connection);
    if (chosen.length === 0) {
      const name = connection ?? 'default';
      return [
        fault(
          'connections',
          `there is no connection${connection === undefined ? '' : ` ${name}`}`,
          `groupsync connect ${name}`,
        ),
      ];
    }
    const rounds: Check[] = [];
    for (const one of chosen) rounds.push(...(await checkConnection(one, ports)));
    const names = { all: all.map(({ name }) => name), chosen: chosen.map(({ name }) => name) };
    for (const name of [undefined, ...names.chosen]) {
      const { lastFailure: failed } = await ports.notices.read(name);
      const at = failed && new Date(failed.atMs).toISOString();
      const detail = `the latest message of ${name ?? 'this stage'} was not told, at ${at}: ${failed?.message}`;
      if (failed !== undefined) rounds.push(fault('notify', detail, 'groupsync notify test'));
    }
    rounds.push(...(await guarded('scim', () => checkScim(names, ports))));
    return rounds;
  });
  return { checks: [...deployed, ...connected] };
}
