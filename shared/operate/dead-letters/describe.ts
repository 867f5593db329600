import type { ShownDeadLetter } from '../../contract/answers/dead-letters.ts';
import type { DirectoryChange, DirectoryEvent, Member } from '../../domain/event.ts';
import { groupFloor } from '../../domain/group.ts';
import type { GroupState } from '../../domain/group-state.ts';
import { type ConnectionName, type GroupRef, groupId, type MemberId } from '../../domain/ids.ts';
import { readStamp, STAMP_ZERO, type Stamp } from '../../domain/stamp.ts';
import type { ToolPorts } from '../../sync/ports/bundles.ts';
import { stateName } from '../report.ts';
import type { DeadLetter } from './dead-letter.ts';

export type StateReadPorts = Pick<ToolPorts, 'groups' | 'users'>;

export async function describeDeadLetter(
  deadLetter: DeadLetter,
  ports: StateReadPorts & Pick<ToolPorts, 'connections'>,
) {
  const { message, queue, events } = deadLetter;
  const { problems, missing } = await refusalsOf(deadLetter, ports);
  const decoded = events.map(({ connection, source, stamp, id: eventId, change }) => ({
    id: eventId,
    source,
    connection,
    time: readStamp(stamp)?.time ?? null,
    kind: change.kind,
    group: 'group' in change ? change.group : null,
    members: 'members' in change ? change.members.map(({ id: member }) => member) : [],
  }));
  const document: ShownDeadLetter = {
    id: message.id,
    queue,
    code: message.code,
    message: message.message,
    failedAt: new Date(message.failedAtMs).toISOString(),
    firstFailedAt: new Date(message.firstFailedAtMs).toISOString(),
    failures: message.failures,
    connection: deadLetter.connection ?? null,
    superseded: await isSuperseded(deadLetter, ports),
    problems,
    events: decoded,
    now: await currentStates(deadLetter, ports),
    body: message.body,
  };
  return { document, missing };
}

async function currentStates(deadLetter: DeadLetter, { groups }: Pick<ToolPorts, 'groups'>) {
  const refs = new Map<string, GroupRef>();
  if (deadLetter.ref !== undefined) refs.set(deadLetter.ref.group, deadLetter.ref);
  for (const { connection, change } of deadLetter.events) {
    if ('group' in change) refs.set(change.group, { connection, group: groupId(change.group) });
  }
  return (await groups.readMany([...refs.values()])).map((state) => ({
    group: state.ref.group,
    state: stateName(state),
    wanted: state.counts?.wanted ?? 0,
    platformId: state.link?.id ?? null,
    version: state.link?.version ?? null,
    users: state.link?.view.size ?? 0,
    lastError: state.lastError?.message ?? null,
  }));
}

export async function refusalsOf(
  { events, problems }: Pick<DeadLetter, 'events' | 'problems'>,
  { connections }: Pick<ToolPorts, 'connections'>,
) {
  const missing: ConnectionName[] = [];
  for (const name of new Set(events.map(({ connection }) => connection))) {
    if ((await connections.find(name)) === undefined) missing.push(name);
  }
  const unknown = missing.map((name) => `unknown_connection: there is no connection ${name}`);
  return { missing, problems: [...problems, ...unknown] };
}

/**
 * Returns whether newer values supersede a dead-lettered message, so that a replay would change nothing. Only values
 * with a later stamp count. A value with the stamp of the event comes from the event itself, whose other parts may
 * still be missing.
 *
 *     message          | superseded if, with a later stamp,
 *     -----------------|-------------------------------------------------------------------
 *     group.upserted   | the group was deleted, or was upserted and named
 *     group.deleted    | the group was deleted again, or was upserted and named, and has a snapshot
 *     group.snapshot   | the group was deleted, or a snapshot was stored
 *     member.*         | each member has a value, or the group was deleted or has a snapshot
 *     with attributes  | for group.snapshot and member.*: also each attribute has a value
 *     user.upserted    | each attribute has a value
 *     user.deleted     | the user was deleted
 *     from apply       | the group is no longer failed (whatever the stamp)
 *
 * A dead-lettered message that cannot be read is never superseded.
 */
export async function isSuperseded(deadLetter: DeadLetter, ports: StateReadPorts): Promise<boolean> {
  if (deadLetter.ref !== undefined) {
    const state = await ports.groups.read(deadLetter.ref);
    return state !== undefined && state.failedAtMs === undefined;
  }
  if (deadLetter.events.length === 0 || deadLetter.problems.length > 0) return false;
  for (const event of deadLetter.events) if (!(await isMoot(event, ports))) return false;
  return true;
}

async function isMoot({ connection, change, stamp }: DirectoryEvent, ports: StateReadPorts) {
  if (change.kind === 'user.deleted') {
    const user = (await ports.users.read(connection, [change.user])).get(change.user);
    return user !== undefined && user.floor > stamp;
  }
  if (!(await areAttributesGiven(connection, describedBy(change), stamp, ports))) return false;
  if (change.kind === 'user.upserted') return true;
  const ref = { connection, group: change.group };
  const state = await ports.groups.read(ref);
  if (state === undefined) return false;
  if (change.kind === 'member.added' || change.kind === 'member.removed') {
    return groupFloor(state.registers) > stamp || haveLaterValues(ref, change.members, stamp, ports);
  }
  return isGroupMoot(change.kind, stamp, state);
}

function describedBy(change: DirectoryChange): readonly Member[] {
  if (change.kind === 'user.upserted') return [change.user];
  return 'members' in change ? change.members : [];
}

async function areAttributesGiven(
  connection: ConnectionName,
  members: readonly Member[],
  stamp: Stamp,
  { users }: StateReadPorts,
): Promise<boolean> {
  const described = members.filter(({ attributes }) => attributes.size > 0);
  const ids = described.map(({ id }) => id);
  const known = await users.read(connection, ids);
  return described.every(({ id, attributes }) => {
    const given = known.get(id)?.attributes;
    return [...attributes.keys()].every((name) => (given?.get(name)?.stamp ?? STAMP_ZERO) > stamp);
  });
}

function isGroupMoot(
  kind: 'group.upserted' | 'group.deleted' | 'group.snapshot',
  stamp: Stamp,
  { registers }: GroupState,
): boolean {
  const { deleted, snapshot, upserted, name } = registers;
  const isNamed = (name?.stamp ?? STAMP_ZERO) > stamp;
  if (deleted > stamp) return true;
  switch (kind) {
    case 'group.upserted':
      return upserted > stamp && isNamed;
    case 'group.deleted':
      return snapshot > stamp && upserted > stamp && isNamed;
    case 'group.snapshot':
      return snapshot > stamp;
  }
}

async function haveLaterValues(
  ref: GroupRef,
  members: readonly { readonly id: MemberId }[],
  stamp: Stamp,
  ports: StateReadPorts,
): Promise<boolean> {
  const ids = members.map(({ id }) => id);
  const stored = await ports.groups.registers(ref, ids);
  const known = new Map(stored.map((register) => [register.member, register.stamp]));
  return members.every(({ id }) => (known.get(id) ?? STAMP_ZERO) > stamp);
}
