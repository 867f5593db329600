import { type PlatformGroupId, platformGroupId } from '../../../../shared/domain/ids.ts';
import {
  claimKey,
  dueText,
  groupIndexSort,
  groupKey,
  indexPartition,
  NOT_DUE,
  shardOf,
} from '../../../../shared/store/keys.ts';
import type { Attributes } from '../../../../shared/store/table.ts';
import type { Connection } from '../../../../shared/sync/ports/connections.ts';
import { type Platform, PlatformFailure } from '../../../../shared/sync/ports/platform.ts';
import { seededRandom } from '../../../../simulate/random.ts';
import type { Worker } from '../../../../simulate/worker.ts';
import { allOf } from '../../../support/engine/test-engine.ts';
import * as engine from '../../../support/engine/world.ts';

export const { CONNECTION, START_MS } = engine;

type WorldOptions = Pick<engine.WorldOptions, 'settings' | 'platform'> & {
  /** The pages of the feed. If undefined, the world uses the feed of the simulated platform. */
  readonly activity?: Platform['activity'];
};

/** Creates the engine's world for reconcile and for people. Tests link the groups. */
export async function createWorld({ activity, ...options }: WorldOptions = {}) {
  const world = await engine.createWorld({ random: seededRandom(1), ...options });
  const { platform, table, toolPorts } = world;
  const ref = (group: string) => ({ connection: CONNECTION, group: group as never });
  const woken: string[] = [];
  const ids = new Map<string, PlatformGroupId>();
  const idOf = (group: string) => ids.get(group) ?? platformGroupId('unlinked');
  const portsOf = (worker?: Worker) => {
    const ports = world.portsFor(worker);
    const open: typeof ports.platforms.open = async (connection) => ({
      ...(await ports.platforms.open(connection)),
      ...(activity && { activity }),
    });
    const wake: typeof ports.applyQueue.wake = async (refs) => {
      const unwoken = await ports.applyQueue.wake(refs);
      woken.push(...refs.map(({ group }) => group));
      return unwoken;
    };
    return { ...ports, random: () => 0.5, platforms: { open }, applyQueue: { wake } };
  };
  return {
    connection: (await toolPorts.connections.find(CONNECTION)) as Connection,
    table,
    platform,
    woken,
    portsOf,
    ports: portsOf(),
    advance: world.advance,
    ref,
    idOf,
    calls: () =>
      platform.calls
        .filter(({ route }) => /groups|employees\//.test(route))
        .map(({ id, route }) =>
          id === undefined ? 'list' : `${route.includes('emp') ? 'employee' : 'get'} ${id}`,
        ),
    /** `change` and `lose` act on a linked group as another client, and `stranger` adds a group of that client. */
    change: (group: string, name = 'Theirs') => platform.changeAsOther(idOf(group), { name }),
    lose: (group: string) => platform.deleteAsOther(idOf(group)),
    stranger: (spokeId: string) => platform.addForeign({ name: `Like ${spokeId}`, spokeId, users: [] }),
    /** Links a directory group to a new platform group. The group is in sync. `extra` replaces values of its item. */
    async link(group: string, extra: Attributes = {}, dueMs?: number): Promise<PlatformGroupId> {
      const id = platformGroupId(platform.addOurs({ name: group, spokeId: group, users: [] }));
      ids.set(group, id);
      await table.put({
        ...groupKey(ref(group)),
        connection: CONNECTION,
        group,
        gpk: indexPartition('groups', CONNECTION, shardOf(group)),
        gsk: groupIndexSort(dueMs === undefined ? NOT_DUE : dueText(dueMs), ref(group).group),
        rev: 1,
        ...extra,
        link: {
          id,
          version: platform.groups.get(id)?.version ?? '',
          view: { id: 'v0', size: 0 },
          ...(extra['link'] as Attributes | undefined),
        },
      });
      await table.put({ ...claimKey(engine.COMPANY, id), platformId: id, connection: CONNECTION, group });
      return id;
    },
    async state(group: string) {
      const state = await toolPorts.groups.read(ref(group));
      if (state === undefined) throw new Error(`there is no group ${group}`);
      return state;
    },
    drift: () => allOf(toolPorts.drift.list(CONNECTION)),
  };
}

export type World = Awaited<ReturnType<typeof createWorld>>;

export const failure = (kind: PlatformFailure['kind'], status?: number): PlatformFailure =>
  new PlatformFailure(kind, `the platform failed: ${kind}`, { status });
