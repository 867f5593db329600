import { createHash } from 'node:crypto';
import type { ConnectionName, GroupId, GroupRef, IntentId, MemberId, RoleId } from '../domain/ids.ts';
import type { Source } from '../domain/source.ts';
import type { Item, Key } from './table.ts';

/*
 * The keys of all items in the table. The sign '#' separates the parts of a key and cannot occur within a part. Ids
 * come from producers, so `keyPart` encodes them. A hash replaces an id that is longer than 400 bytes, because a sort
 * key has at most 1,024 bytes. Items also have the ids as attributes, so no code decodes an encoded id.
 */

const MAX_PART_BYTES = 400;

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

export function keyPart(text: string): string {
  const encoded = text.replace(/[%#~]/g, (character) => encodeURIComponent(character).replace('~', '%7E'));
  if (Buffer.byteLength(encoded) <= MAX_PART_BYTES) return encoded;
  return `~${sha256(text)}`;
}

const userPartition = (connection: ConnectionName, member: MemberId) => `U#${connection}#${keyPart(member)}`;
const personPartition = (connection: ConnectionName, role: RoleId) => `R#${connection}#${keyPart(role)}`;

const ofGroup = ({ connection, group }: GroupRef, sk: string): Key => ({
  pk: `G#${connection}#${keyPart(group)}`,
  sk,
});
const ofConnection = (connection: ConnectionName, sk: string): Key => ({ pk: `C#${connection}`, sk });

export const groupKey = (ref: GroupRef): Key => ofGroup(ref, 'GROUP');
export const MEMBER_PREFIX = 'M#';
export const memberKey = (ref: GroupRef, member: MemberId): Key =>
  ofGroup(ref, `${MEMBER_PREFIX}${keyPart(member)}`);
export const viewChunkKey = (ref: GroupRef, view: IntentId, index: number): Key =>
  ofGroup(ref, `VIEW#${view}#${String(index).padStart(4, '0')}`);
/** The sign `~` distinguishes a bucket from the head of a view, because no view id begins with `~`. */
export const viewBucketKey = (ref: GroupRef, name: string): Key => ofGroup(ref, `VIEW#~${name.slice(1)}`);
export const VIEW_PREFIX = 'VIEW#';
const HELD_PREFIX = 'HELD#';
export const heldChunkKey = (ref: GroupRef, digest: string, index: number): Key =>
  ofGroup(ref, `${HELD_PREFIX}${digest}#${String(index).padStart(4, '0')}`);

/** The prefixes of the items that belong to the platform group of a group. A takeover copies these items. */
export const PLATFORM_PREFIXES = [VIEW_PREFIX, HELD_PREFIX] as const;

export const partPrefix = (source: string, snapshotId: string, count: number): string =>
  `PART#${sha256(JSON.stringify([source, snapshotId, count]))}#`;
export const partKey = (ref: GroupRef, prefix: string, part: { index: number; stamp: string }): Key =>
  ofGroup(ref, `${prefix}${part.index}#${sha256(part.stamp).slice(0, 32)}`);

export const AUDIT_PREFIX = 'A#';
/** The prefix of actions that may cause removals. So a search for a cause does not read other entries. */
export const ACTION_PREFIX = 'ACT#';
export const auditKey = (
  ref: GroupRef,
  at: string,
  intent: IntentId,
  prefix: typeof AUDIT_PREFIX | typeof ACTION_PREFIX = AUDIT_PREFIX,
): Key => ofGroup(ref, `${prefix}${at}#${intent}`);
export const STEP_PREFIX = 'STEP#';
/** The key of a chunk with the users of an audit entry. */
export const stepKey = (ref: GroupRef, { atMs, intent }: { atMs: number; intent: IntentId }, n: number) =>
  ofGroup(ref, `${STEP_PREFIX}${new Date(atMs).toISOString()}#${intent}#${n}`);
export const isAuditKey = ({ sk }: Key): boolean =>
  [AUDIT_PREFIX, ACTION_PREFIX, STEP_PREFIX].some((prefix) => sk.startsWith(prefix));

/** The key of the item that names the newest action in a connection's journal. */
export const journalKey = (ref: GroupRef): Key => ofGroup(ref, 'JOURNAL');

export const userKey = (connection: ConnectionName, member: MemberId): Key => ({
  pk: userPartition(connection, member),
  sk: 'USER',
});
export const IN_PREFIX = 'IN#';
export const inGroupKey = (ref: GroupRef, member: MemberId): Key => ({
  pk: userPartition(ref.connection, member),
  sk: `${IN_PREFIX}${keyPart(ref.group)}`,
});

export const personKey = (connection: ConnectionName, role: RoleId): Key => ({
  pk: personPartition(connection, role),
  sk: 'PERSON',
});
/** The prefix of a first binding that no refresh of people has confirmed yet. `keyPart` never writes this character. */
export const UNPROVEN_PREFIX = '#';
/** The item of a binding of a member to a person. These items are listed in the index. */
export const boundMemberItem = (
  connection: ConnectionName,
  role: RoleId,
  member: MemberId,
  isProven = true,
): Item => ({
  pk: personPartition(connection, role),
  sk: `${MEMBER_PREFIX}${keyPart(member)}`,
  role,
  member,
  gpk: indexPartition('bound', connection, shardOf(role)),
  gsk: `${isProven ? '' : UNPROVEN_PREFIX}${keyPart(role)}#${keyPart(member)}`,
});
export const pointerPartition = (connection: ConnectionName, field: string, value: string): string =>
  `P#${connection}#${keyPart(field)}#${keyPart(value)}`;
export const userRolesPartition = (connection: ConnectionName, userId: string): string =>
  `PU#${connection}#${keyPart(userId)}`;
export const pointerKey = (partition: string, role: RoleId): Key => ({ pk: partition, sk: keyPart(role) });

export const connectionKey = (connection: ConnectionName): Key => ofConnection(connection, 'CONNECTION');
export const tombstoneKey = (connection: ConnectionName): Key => ofConnection(connection, 'REMOVED');
export const gateKey = (connection: ConnectionName): Key => ofConnection(connection, 'GATE');
export const feedKey = (connection: ConnectionName): Key => ofConnection(connection, 'FEED');
export const readerKey = (connection: ConnectionName): Key => ofConnection(connection, 'READER');
export const READER_GROUP_PREFIX = 'READER#';
export const readerGroupKey = (connection: ConnectionName, group: GroupId): Key =>
  ofConnection(connection, `${READER_GROUP_PREFIX}${keyPart(group)}`);
export const READER_MOVE_PREFIX = 'READERMOVE#';
export const readerMoveKey = (connection: ConnectionName, group: GroupId): Key =>
  ofConnection(connection, `${READER_MOVE_PREFIX}${keyPart(group)}`);
/** The prefix for groups of the reader about which another source has sent an event. */
export const READER_PUSHED_PREFIX = 'READERPUSHED#';
export const readerPushedKey = (connection: ConnectionName, group: GroupId): Key =>
  ofConnection(connection, `${READER_PUSHED_PREFIX}${keyPart(group)}`);
export const SOURCE_PREFIX = 'SOURCE#';
export const sourceKey = (connection: ConnectionName, source: Source): Key =>
  ofConnection(connection, `${SOURCE_PREFIX}${source}`);
export const leaseKey = (connection: ConnectionName, name: string): Key =>
  ofConnection(connection, `LEASE#${name}`);
export const GUARD_PREFIX = 'GUARD#';
/** Minutes since 1970, zero-padded, so that a range of sort keys is a period of time. */
export const guardMinute = (atMs: number): string => String(Math.floor(atMs / 60_000)).padStart(10, '0');
export const guardKey = (connection: ConnectionName, atMs: number, intent: IntentId): Key =>
  ofConnection(connection, `${GUARD_PREFIX}${guardMinute(atMs)}#${intent}`);
export const UNLINK_PREFIX = 'UNLINK#';
export const unlinkKey = (connection: ConnectionName, platformId: string): Key =>
  ofConnection(connection, `${UNLINK_PREFIX}${keyPart(platformId)}`);
export const DRIFT_PREFIX = 'DRIFT#';
export const driftPrefix = (group: GroupId): string => `${DRIFT_PREFIX}${sha256(group).slice(0, 16)}#`;
export const driftKey = ({ connection, group }: GroupRef, id: string): Key =>
  ofConnection(connection, `${driftPrefix(group)}${id}`);

/**
 * The claims of a company's platform groups are in several partitions, because a single partition would get too many
 * requests.
 */
export const claimPartition = (company: string, shard: number): string => `L#${keyPart(company)}#${shard}`;
export const claimKey = (company: string, platformId: string): Key => ({
  pk: claimPartition(company, shardOf(platformId)),
  sk: keyPart(platformId),
});

export const SHARDS = 4;
export function shardOf(text: string, shards = SHARDS): number {
  return createHash('sha256').update(text).digest().readUInt8(0) % shards;
}

/** A search by name reads the shards of the names at the same time, so there are more of them. */
export const NAME_SHARDS = 16;
export const namesPartition = (connection: ConnectionName, shard: number): string =>
  `N#${connection}#${shard}`;
export const namesKey = (connection: ConnectionName, member: MemberId): Key => ({
  pk: namesPartition(connection, shardOf(member, NAME_SHARDS)),
  sk: keyPart(member),
});

export const indexPartition = (
  kind: 'groups' | 'pending' | 'fanOuts' | 'bound',
  connection: ConnectionName,
  shard: number,
): string => `${kind}#${connection}#${shard}`;
/** The index partition of audit entries, sorted by the time of the entry. */
export const logPartition = (connection: ConnectionName): string => `log#${connection}`;
/** The index partition of drift records, sorted by the time of settling or, for open drift, of detection. */
export const driftPartition = (connection: ConnectionName): string => `drift#${connection}`;
/**
 * The value for a group that is not in sync and needs no wake-up, such as a paused group. It sorts after every time.
 */
export const NOT_DUE = '~';
/** The value for a group in sync. It sorts after every `NOT_DUE` entry, whatever the id. */
export const IN_SYNC = `${NOT_DUE}$`;
export const dueText = (atMs: number): string => String(Math.max(0, Math.floor(atMs))).padStart(14, '0');
export const groupIndexSort = (due: string, group: GroupId): string => `${due}#${keyPart(group)}`;
export const placed = (ref: GroupRef, due: string) => ({
  gpk: indexPartition('groups', ref.connection, shardOf(ref.group)),
  gsk: groupIndexSort(due, ref.group),
});
export const trendKey = (connection: ConnectionName): Key => ofConnection(connection, 'TREND');
/** The partition of a connection's deliveries on one day (UTC). */
export const deliveryKey = (connection: ConnectionName, atMs: number, id: string): Key => {
  const at = new Date(atMs).toISOString();
  return { pk: `D#${connection}#${at.slice(0, 10)}`, sk: `${at}#${keyPart(id)}` };
};
export const healthKey = (connection: ConnectionName): Key => ofConnection(connection, 'HEALTH');
/** The key of a connection's notices, or of the stage's notices if no connection is given. */
export const noticesKey = (connection: ConnectionName | undefined): Key =>
  connection === undefined ? { pk: 'STAGE', sk: 'NOTICES' } : ofConnection(connection, 'NOTICES');

/** The key of a SCIM resource. The eraser also needs it. */
export const resourceKey = (connection: ConnectionName, type: 'User' | 'Group', id: string): Key => ({
  pk: resourcePartition(connection, type),
  sk: keyPart(id),
});
export const resourcePartition = (connection: ConnectionName, type: 'User' | 'Group'): string =>
  `S#${connection}#${type}`;
