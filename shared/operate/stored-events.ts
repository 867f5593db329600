import type { LogEntry } from '../contract/answers/explain.ts';
import type { EventActor } from '../domain/event.ts';
import type { GroupRegisters } from '../domain/group.ts';
import type { ConnectionName, GroupId, GroupRef, MemberId } from '../domain/ids.ts';
import { readStamp, STAMP_ZERO, type Stamp, stampTimeMs } from '../domain/stamp.ts';
import { collectPages } from '../sync/async-collections.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';
import type { UserState } from '../sync/ports/desired.ts';

/*
 * Whole events are not stored. The log of events is derived from the registers. A register contains its value, the
 * event that set it and, if known, the actor. So an event is not in the log if later events have replaced all its
 * values.
 */

export type StoredEventPorts = Pick<ToolPorts, 'groups' | 'users'>;

export interface StoredEvent {
  readonly register: string;
  readonly summary: string;
  readonly stamp: Stamp;
  readonly actor?: EventActor | undefined;
  readonly group?: GroupId;
  readonly member?: MemberId;
}

export function eventsOfGroup({
  upserted,
  snapshot,
  deleted,
  name,
  author,
}: GroupRegisters): readonly StoredEvent[] {
  const stored = [
    { register: 'group.upserted', summary: 'the group exists', stamp: upserted },
    { register: 'group.snapshot', summary: 'all members were listed', stamp: snapshot },
    { register: 'group.deleted', summary: 'the group was deleted', stamp: deleted },
    ...(name === undefined ? [] : [{ register: 'group.name', summary: name.value, stamp: name.stamp }]),
  ];
  return stored.map((event) => ({
    ...event,
    actor: author?.stamp === event.stamp ? author.actor : undefined,
  }));
}

const eventsOfUser = ({ member, attributes, floor }: UserState): readonly StoredEvent[] => [
  { register: 'user.deleted', summary: 'the user was deleted', stamp: floor, member },
  ...[...attributes].map(([name, { value, stamp }]) => ({
    register: `user.${name}`,
    summary: value,
    stamp,
    member,
  })),
];

/** Selects a group with its members, a member in all groups, or a member in one group. */
export interface StoredEventFilter {
  readonly group?: GroupRef | undefined;
  readonly member?: MemberId | undefined;
}

const MAX_GROUPS = 200;
const MAX_CHANGES = 1_000;

/** Returns an entry for each event that set a current register of the selected group or member, in no order. */
export async function readStoredEvents(
  connection: ConnectionName,
  { group, member }: StoredEventFilter,
  ports: StoredEventPorts,
) {
  const isEverywhere = group === undefined && member !== undefined;
  const others = isEverywhere ? await collectPages(ports.users.groupsOf(connection, member)) : [];
  const refs = group === undefined ? others.map((one) => ({ connection, group: one })) : [group];
  const readRefs = refs.slice(0, MAX_GROUPS);
  const [states, users, registers] = await Promise.all([
    ports.groups.readMany(readRefs, () => {}),
    ports.users.read(connection, member === undefined ? [] : [member]),
    Promise.all(
      readRefs.map(async (ref) => {
        const found = await (member === undefined
          ? ports.groups.members(ref)
          : ports.groups.registers(ref, [member]));
        return found.map((one) => ({ ...one, register: 'member', summary: one.value, group: ref.group }));
      }),
    ),
  ]);
  const ofGroups = states.flatMap(({ ref, registers: of }) =>
    eventsOfGroup(of).map((event) => ({ ...event, group: ref.group })),
  );
  return entriesOf(connection, [
    ...(group === undefined ? [] : ofGroups),
    ...registers.flat(),
    ...[...users.values()].flatMap(eventsOfUser),
  ]);
}

/** The default values of an entry. Names are added later. */
export const EMPTY_ENTRY = {
  group: null,
  groupName: null,
  member: null,
  memberName: null,
  reason: null,
  before: null,
  after: null,
  versionBefore: null,
  versionAfter: null,
  waitedMs: null,
} as const;

function entriesOf(connection: ConnectionName, stored: readonly StoredEvent[]): readonly LogEntry[] {
  const events = new Map<string, StoredEvent[]>();
  for (const event of stored) {
    const key = `${event.stamp} ${event.group ?? ''}`;
    if (event.stamp !== STAMP_ZERO) events.set(key, [...(events.get(key) ?? []), event]);
  }
  return [...events.values()].flatMap((ofOneEvent) => entryOf(connection, ofOneEvent) ?? []);
}

function entryOf(connection: ConnectionName, stored: readonly StoredEvent[]): LogEntry | undefined {
  const [first] = stored;
  const event = first && readStamp(first.stamp);
  if (!event) return undefined;
  const { id, source } = event;
  const time = new Date(stampTimeMs(first.stamp)).toISOString();
  const unsigned: EventActor = { kind: 'directory', id: source };
  const { name = null, ...actor } = stored.find((event) => event.actor)?.actor ?? unsigned;
  const cause = `event ${id} of ${source}`;
  const changes = stored.map(({ register, summary, member = null }) => ({
    kind: register,
    member,
    before: null,
    after: summary,
    reason: cause,
  }));
  return {
    ...EMPTY_ENTRY,
    id: `${time}#${first.group ?? ''}#${id}`,
    at: time,
    connection,
    actor: { ...actor, name, arn: null },
    action: 'event',
    group: first.group ?? null,
    ...(stored.length === 1 && { member: first.member ?? null, after: first.summary }),
    changes: changes.slice(0, MAX_CHANGES),
    changeCount: changes.length,
    cause,
    outcome: 'taken',
  };
}
