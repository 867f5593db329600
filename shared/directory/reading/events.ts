import { ACTIVE_ATTRIBUTE } from '../../domain/active.ts';
import type { GroupId, MemberId } from '../../domain/ids.ts';
import { READER_SOURCE } from '../../domain/source.ts';
import type { DirectoryUser } from '../ports.ts';

/** The limits of one change event and one message of users. With them, one run of `ingest` can store 100 messages. */
const MEMBERS_PER_EVENT = 300;
const USERS_PER_MESSAGE = 100;

export interface Origin {
  /** A unique id. The id is greater than the id of every earlier read. */
  readonly readId: string;
  /** The time of the stamp, in milliseconds since 1970. */
  readonly stampMs: number;
}

type Draft = readonly [type: string, data: object];

/** Creates events with consecutive ids, in the order of `drafts`. */
const eventsOf = (drafts: readonly Draft[], { readId, stampMs }: Origin, part: string) =>
  drafts.map(([type, data], index) => ({
    specversion: '1.0',
    id: `${readId}.${part}${index}`,
    source: READER_SOURCE,
    type: `directory.${type}`,
    time: new Date(stampMs).toISOString(),
    data,
  }));

/** Returns the attributes of a user in the form of events. They always include `active`. */
export const attributesOfUser = ({ attributes, isActive }: DirectoryUser): ReadonlyMap<string, string> =>
  new Map([...attributes, [ACTIVE_ATTRIBUTE, String(isActive)]]);

export function userMessages(users: readonly DirectoryUser[], origin: Origin): readonly string[] {
  const drafts = users.map((user): Draft => {
    const attributes = Object.fromEntries(attributesOfUser(user));
    return ['user.upserted', { user: { ...attributes, id: user.id } }];
  });
  return chunksOf(eventsOf(drafts, origin, 'u'), USERS_PER_MESSAGE).map((some) => JSON.stringify(some));
}

export function snapshotMessage(group: GroupRefName, members: readonly MemberId[], origin: Origin): string {
  const data = { group, members: members.map((id) => ({ id })) };
  return JSON.stringify(eventsOf([['group.snapshot', data]], origin, 's')[0]);
}

interface GroupRefName {
  readonly id: GroupId;
  readonly name: string;
}

interface Changes {
  readonly isNamed: boolean;
  readonly added: readonly MemberId[];
  readonly removed: readonly MemberId[];
}

export function changeMessages(group: GroupRefName, changes: Changes, origin: Origin): readonly string[] {
  const membership = (type: string, members: readonly MemberId[]) =>
    chunksOf(members, MEMBERS_PER_EVENT).map((some): Draft => {
      const data = { group: { id: group.id }, members: some.map((id) => ({ id })) };
      return [`group.member.${type}`, data];
    });
  const drafts: readonly Draft[] = [
    ...(changes.isNamed ? [['group.upserted', { group }] as const] : []),
    ...membership('added', changes.added),
    ...membership('removed', changes.removed),
  ];
  return eventsOf(drafts, origin, 'c').map((event) => JSON.stringify(event));
}

export const userDeletionMessage = (user: MemberId, origin: Origin): string =>
  JSON.stringify(eventsOf([['user.deleted', { user: { id: user } }]], origin, 'd')[0]);

export function deletionMessage(group: GroupId, origin: Origin): string {
  return JSON.stringify(eventsOf([['group.deleted', { group: { id: group } }]], origin, 'd')[0]);
}

function chunksOf<Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, index) => items.slice(index * size, (index + 1) * size));
}
