import { intentId } from '../../domain/ids.ts';
import type { GroupState } from '../ports/groups.ts';
import type { Lane } from './lane.ts';
import type { Step } from './step.ts';

/** The platform's group stays as it is, without an owner from now on: nothing is sent. */
export async function letGo(state: GroupState, reason: string, { ports, connection }: Lane): Promise<Step> {
  const { platformId, version = null } = state;
  await ports.audit.record(state.ref, {
    atMs: ports.clock(),
    intent: intentId(ports.newId()),
    action: 'release',
    changes: [{ kind: 'release_group', before: platformId ?? null, after: null, reason }],
    changeCount: 1,
    versionBefore: version,
    versionAfter: version,
    cause: `rev ${state.rev}`,
    outcome: 'written',
  });
  if (!(await ports.groups.absorb(state, undefined))) return { kind: 'overtaken' };
  if (platformId !== undefined) await ports.claims.drop(connection.company, platformId, state.ref);
  return { kind: 'again' };
}
