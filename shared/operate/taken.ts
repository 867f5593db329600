import type { LogEntry } from '../contract/answers.ts';
import type { EventActor } from '../domain/event.ts';
import type { GroupRegisters } from '../domain/group.ts';
import type { ConnectionName, GroupId, GroupRef, MemberId } from '../domain/ids.ts';
import { readStamp, STAMP_ZERO, type Stamp, stampTimeMs } from '../domain/stamp.ts';
import { collectPages } from '../sync/async-collections.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';
import type { UserState } from '../sync/ports/desired.ts';

/*
 * Events are not kept one by one. What can be told of them is what the registers keep: the last word on each thing,
 * with the event that it came by and who caused it. An event on which later ones have had the last word is not told.
 */

export type TakenPorts = Pick<ToolPorts, 'groups' | 'users'>;

/** What one register says. */
export interface Word {
  readonly register: string;
  readonly summary: string;
  readonly stamp: Stamp;
  readonly actor?: EventActor | undefined;
  readonly group?: GroupId;
  readonly member?: MemberId;
}

export function wordsOfGroup({ upserted, snapshot, deleted, name, author }: GroupRegisters): readonly Word[] {
  const words = [
    { register: 'group.upserted', summary: 'the group exists', stamp: upserted },
    { register: 'group.snapshot', summary: 'all members were stated', stamp: snapshot },
    { register: 'group.deleted', summary: 'the group was deleted', stamp: deleted },
    ...(name === undefined ? [] : [{ register: 'group.name', summary: name.value, stamp: name.stamp }]),
  ];
  return words.map((word) => ({ ...word, actor: author?.stamp === word.stamp ? author.actor : undefined }));
}

const wordsOfUser = ({ member, attributes, floor }: UserState): readonly Word[] => [
  { register: 'user.deleted', summary: 'the user was deleted', stamp: floor, member },
  ...[...attributes].map(([name, { value, stamp }]) => ({
    ...{ register: `user.${name}`, summary: value, stamp, member },
  })),
];

/** Of a group with its members, of a member in all groups, or of a member in one group. */
export interface Taken {
  readonly group?: GroupRef | undefined;
  readonly member?: MemberId | undefined;
}

const MOST_GROUPS = 200;
const MOST_CHANGES = 1_000;

/** An entry for each event that still has a word, in no order. */
export async function readTaken(connection: ConnectionName, { group, member }: Taken, ports: TakenPorts) {
  const isEverywhere = group === undefined && member !== undefined;
  const others = isEverywhere ? await collectPages(ports.users.groupsOf(connection, member)) : [];
  const refs = group === undefined ? others.map((one) => ({ connection, group: one })) : [group];
  const looked = refs.slice(0, MOST_GROUPS);
  const [states, users, registers] = await Promise.all([
    ports.groups.readMany(looked, () => {}),
    ports.users.read(connection, member === undefined ? [] : [member]),
    Promise.all(
      looked.map(async (ref) => {
        const found = await (member === undefined
          ? ports.groups.members(ref)
          : ports.groups.registers(ref, [member]));
        return found.map((one) => ({ ...one, register: 'member', summary: one.value, group: ref.group }));
      }),
    ),
  ]);
  const ofGroups = states.flatMap(({ ref, registers: of }) =>
    wordsOfGroup(of).map((word) => ({ ...word, group: ref.group })),
  );
  return entriesOf(connection, [
    ...(group === undefined ? [] : ofGroups),
    ...registers.flat(),
    ...[...users.values()].flatMap(wordsOfUser),
  ]);
}

/** What few entries have; names are looked up at the end. */
export const BARE = {
  ...{ group: null, groupName: null, member: null, memberName: null },
  ...{ reason: null, before: null, after: null, versionBefore: null, versionAfter: null },
  waitedMs: null,
} as const;

/** The words of one event about one group stand in one entry. */
function entriesOf(connection: ConnectionName, words: readonly Word[]): readonly LogEntry[] {
  const events = new Map<string, Word[]>();
  for (const word of words) {
    const key = `${word.stamp} ${word.group ?? ''}`;
    if (word.stamp !== STAMP_ZERO) events.set(key, [...(events.get(key) ?? []), word]);
  }
  return [...events.values()].flatMap((said) => entryOf(connection, said) ?? []);
}

function entryOf(connection: ConnectionName, words: readonly Word[]): LogEntry | undefined {
  const [first] = words;
  const event = first && readStamp(first.stamp);
  if (!event) return undefined;
  const { id, source } = event;
  const time = new Date(stampTimeMs(first.stamp)).toISOString();
  const unsigned: EventActor = { kind: 'directory', id: source };
  const { name = null, ...actor } = words.find((word) => word.actor)?.actor ?? unsigned;
  const cause = `event ${id} of ${source}`;
  const changes = words.map(({ register, summary, member = null }) => ({
    ...{ kind: register, member, before: null, after: summary, reason: cause },
  }));
  return {
    ...BARE,
    id: `${time}#${first.group ?? ''}#${id}`,
    at: time,
    connection,
    actor: { ...actor, name, arn: null },
    action: 'event',
    group: first.group ?? null,
    ...(words.length === 1 && { member: first.member ?? null, after: first.summary }),
    changes: changes.slice(0, MOST_CHANGES),
    changeCount: changes.length,
    cause,
    outcome: 'taken',
  };
}
