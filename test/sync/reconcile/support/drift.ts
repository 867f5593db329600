import { ConnectionSettings } from '../../../../shared/contract/settings.ts';
import type { ActivityEvent } from '../../../../shared/domain/drift.ts';
import { READS_BEHIND_MS } from '../../../../shared/domain/group-state.ts';
import { groupId, platformGroupId } from '../../../../shared/domain/ids.ts';
import { applyGroup } from '../../../../shared/sync/apply/apply.ts';
import { ingest } from '../../../../shared/sync/ingest/ingest.ts';
import { checkGroups } from '../../../../shared/sync/reconcile/check-groups.ts';
import { dirtyNow } from '../../../../shared/sync/wake.ts';
import { seededRandom } from '../../../../simulate/random.ts';
import { allOf } from '../../../support/engine/test-engine.ts';
import { COMPANY, CONNECTION, createWorld, START_MS, type World } from '../../../support/engine/world.ts';
import type { RawEvent } from '../../../support/reading.ts';

export const REF = { connection: CONNECTION, group: groupId('g') };
const MEMBERS = ['m0', 'm1', 'm2', 'm3', 'm4', 'm5'];
export const USERS = MEMBERS.map((id) => `u-${id}`);
export const HOUR_MS = 3_600_000;

let sequence = 0;
export function event(type: string, data: RawEvent['data'], second = 0): RawEvent {
  sequence += 1;
  const time = new Date(START_MS - 60_000 + second * 1_000).toISOString();
  return { specversion: '1.0', id: `e${sequence}`, source: 'test', type: `directory.${type}`, time, data };
}
const member = (id: string) => ({ id, email: `${id}@acme.test` });
const memberIs =
  (how: 'added' | 'removed') =>
  (id: string, second = 1) =>
    event(`group.member.${how}`, { group: { id: 'g' }, members: [member(id)] }, second);
export const [joins, leaves] = [memberIs('added'), memberIs('removed')];

/** Creates a linked group of six members that is in sync. An hour passes after its creation. */
export async function settled(settings: Readonly<Record<string, unknown>> = {}, options = {}) {
  const people = [...MEMBERS, 'late'].map((role) => ({ role, email: `${role}@acme.test` }));
  const world = await createWorld({ random: seededRandom(1), people, settings, platform: options });
  await deliver(
    world,
    event('group.snapshot', { group: { id: 'g', name: 'Ours' }, members: MEMBERS.map(member) }),
  );
  await applyGroup(REF, world.toolPorts);
  world.advance(HOUR_MS);
  return { world, id: [...world.platform.groups.keys()][0] as string };
}

export const deliver = (world: World, ...events: RawEvent[]) =>
  ingest(
    events.map((each) => ({ messageId: each.id, body: JSON.stringify(each), sentAtMs: START_MS })),
    world.toolPorts,
  );
export const shown = ({ platform }: World, id: string) => {
  const group = platform.groups.get(id);
  return group && { name: group.name, users: [...group.users].sort() };
};
export const records = ({ toolPorts }: World) => allOf(toolPorts.drift.list(CONNECTION));
export const activityEvent = (over: Partial<ActivityEvent> = {}): ActivityEvent => ({
  id: 'event-1',
  initiator: 'ROLE',
  type: 'EXTERNAL_GROUP_UPDATE',
  at: new Date(START_MS + HOUR_MS).toISOString(),
  ...over,
});

/** Marks a group as suspected. A run of the feed does the same after it has read these events. */
export const follow = (world: World, id: string, ...activityEvents: ActivityEvent[]) =>
  followAll(world, { [id]: activityEvents });
export async function followAll(world: World, engine: Readonly<Record<string, readonly ActivityEvent[]>>) {
  const [ports, connection] = [world.toolPorts, await world.connection()];
  const platform = await ports.platforms.open(connection);
  const touched = new Map(
    Object.entries(engine).map(([id, activityEvents]) => [id as never, activityEvents]),
  );
  await checkGroups(connection, touched, { platform, ports: ports as never });
}
export async function change(world: World, settings: Readonly<Record<string, unknown>>) {
  const known = await world.connection();
  const changed = ConnectionSettings.parse({ ...known.settings, ...settings });
  await world.toolPorts.connections.save({ ...known, settings: changed });
  await world.toolPorts.desired.markDirty(REF, dirtyNow(world.toolPorts));
}
export const apply = (world: World) => applyGroup(REF, world.toolPorts);

/** Sends directory events and applies the group. Then waits until no read can show an earlier state. */
export async function tellThenApply(world: World, ...events: RawEvent[]) {
  await deliver(world, ...events);
  const ending = await apply(world);
  world.advance(READS_BEHIND_MS);
  return ending;
}

/** Marks the group as suspected by these feed events, and applies the group. */
export async function followThenApply(world: World, id: string, ...activityEvents: ActivityEvent[]) {
  await follow(world, id, ...activityEvents);
  return apply(world);
}

/**
 * Applies a group that is gone. The group answers two 404s a minute apart, and the list shows another managed group.
 */
export async function applyGone(world: World) {
  const id = world.platform.addForeign({ name: 'Managed', spokeId: 'managed', users: [] });
  const owner = { connection: CONNECTION, group: groupId('managed') };
  await world.toolPorts.claims.claim(COMPANY, platformGroupId(id), owner);
  await apply(world);
  world.advance(60_000);
  return apply(world);
}
