import type { DirectoryEvent, Member, SnapshotPart } from './event.ts';
import type { Author } from './group.ts';
import { EVENT_FIELDS, type EventField, type GivenFields } from './group-fields.ts';
import type { ConnectionName, GroupId, MemberId } from './ids.ts';
import { join, type Presence, type Register } from './register.ts';
import { laterStamp, STAMP_ZERO, type Stamp, stampTimeMs } from './stamp.ts';

/** A snapshot part that has arrived. Parts with the same source, `snapshotId` and `count` belong to one snapshot. */
export interface PartMarker extends SnapshotPart {
  readonly source: string;
  readonly stamp: Stamp;
}

/** The latest register of a member, with the stamp of its last membership, if that membership has ended. */
export interface MemberFold extends Register<Presence> {
  readonly presentAt?: Stamp;
}

/** The latest value of each register of one group in a batch. The store joins it with the stored value. */
export interface GroupFold extends Partial<Record<EventField, Register<string>>> {
  readonly group: GroupId;
  upserted: Stamp;
  deleted: Stamp;
  snapshot: Stamp;
  author?: Author;
  readonly members: Map<MemberId, MemberFold>;
  readonly parts: Map<string, PartMarker>;
}

export interface UserFold {
  readonly user: MemberId;
  /**
   * The attributes of the first event that has any. They share one stamp, `attributesStamp`. Registers per attribute
   * would be slow for a hundred thousand users, and most users appear only once in a batch.
   */
  attributes: ReadonlyMap<string, string>;
  attributesStamp: Stamp;
  /** The attributes of all later events about the user, each with its own stamp. */
  more: Map<string, Register<string>> | undefined;
  deleted: Stamp;
  /** The actor of the latest deletion that has an actor. */
  author?: Author;
}

/** Returns the latest value of each attribute of a user in the batch. */
export function attributesOf({ attributes, attributesStamp, more }: UserFold) {
  const registers = new Map(more);
  for (const [name, value] of attributes)
    registers.set(name, join(registers.get(name), { value, stamp: attributesStamp }));
  return registers;
}

export interface ConnectionFold {
  readonly connection: ConnectionName;
  readonly groups: Map<GroupId, GroupFold>;
  readonly users: Map<MemberId, UserFold>;
}

/**
 * Folds events to the latest value of every register that the events change. The order of the events does not matter,
 * and an event that arrives twice has the same effect as one (invariant 1). The time is linear in events plus members.
 */
export function foldEvents(events: Iterable<DirectoryEvent>): Map<ConnectionName, ConnectionFold> {
  const folds = new Map<ConnectionName, ConnectionFold>();
  for (const event of events) {
    const found = folds.get(event.connection);
    const fold = found ?? { connection: event.connection, groups: new Map(), users: new Map() };
    if (found === undefined) folds.set(event.connection, fold);
    foldEvent(fold, event);
  }
  return folds;
}

function foldEvent(fold: ConnectionFold, event: DirectoryEvent): void {
  const { change, stamp, actor } = event;
  const by = actor && { actor };
  switch (change.kind) {
    case 'group.upserted': {
      const group = groupOf(fold, change.group);
      group.upserted = laterStamp(group.upserted, stamp);
      foldFields(group, change, stamp);
      noteActor(group, event);
      return;
    }
    case 'group.deleted': {
      const group = groupOf(fold, change.group);
      group.deleted = laterStamp(group.deleted, stamp);
      noteActor(group, event);
      return;
    }
    case 'group.snapshot': {
      const group = groupOf(fold, change.group);
      group.upserted = laterStamp(group.upserted, stamp);
      foldFields(group, change, stamp);
      if (change.part === undefined) group.snapshot = laterStamp(group.snapshot, stamp);
      else foldPart(group, { ...change.part, source: event.source, stamp });
      foldMembers(fold, group, change.members, { value: 'present', stamp, ...by });
      noteActor(group, event);
      return;
    }
    case 'member.added':
    case 'member.removed': {
      const value = change.kind === 'member.added' ? 'present' : 'absent';
      foldMembers(fold, groupOf(fold, change.group), change.members, { value, stamp, ...by });
      return;
    }
    case 'user.upserted':
      foldAttributes(userOf(fold, change.user.id), change.user, stamp);
      return;
    case 'user.deleted': {
      const user = userOf(fold, change.user);
      user.deleted = laterStamp(user.deleted, stamp);
      noteActor(user, event);
    }
  }
}

function foldFields(group: GroupFold, given: GivenFields, stamp: Stamp): void {
  for (const field of EVENT_FIELDS) {
    const value = given[field];
    if (value !== undefined) group[field] = join(group[field], { value, stamp });
  }
}

function noteActor(of: GroupFold | UserFold, { stamp, actor }: DirectoryEvent): void {
  if (actor !== undefined && stamp > (of.author?.stamp ?? STAMP_ZERO)) of.author = { stamp, actor };
}

function foldMembers(
  fold: ConnectionFold,
  group: GroupFold,
  members: readonly Member[],
  register: Register<Presence>,
): void {
  for (const member of members) {
    group.members.set(member.id, joinMember(group.members.get(member.id), register));
    if (member.attributes.size > 0) foldAttributes(userOf(fold, member.id), member, register.stamp);
  }
}

/** Joins two registers of a member. An ended membership keeps the latest stamp with which the member was present. */
function joinMember(a: MemberFold | undefined, b: MemberFold): MemberFold {
  const joined = join(a, b);
  if (a === undefined || joined.value === 'present') return joined;
  const presentAt = laterStamp(presentAtOf(a), presentAtOf(b));
  return presentAt === STAMP_ZERO ? joined : { ...joined, presentAt };
}

const presentAtOf = ({ value, stamp, presentAt = STAMP_ZERO }: MemberFold): Stamp =>
  value === 'present' ? stamp : presentAt;

const NOTHING: ReadonlyMap<string, string> = new Map();

function foldAttributes(user: UserFold, member: Member, stamp: Stamp): void {
  if (user.attributes.size === 0) {
    user.attributes = member.attributes;
    user.attributesStamp = stamp;
    return;
  }
  user.more ??= new Map();
  for (const [name, value] of member.attributes) {
    user.more.set(name, join(user.more.get(name), { value, stamp }));
  }
}

/** Adds a part and keeps an earlier copy of the same part. `completeSnapshotFloor` explains why. */
function foldPart(group: GroupFold, part: PartMarker): void {
  group.parts.set(JSON.stringify([part.source, part.snapshotId, part.count, part.index, part.stamp]), part);
}

function groupOf(fold: ConnectionFold, group: GroupId): GroupFold {
  const found = fold.groups.get(group);
  if (found !== undefined) return found;
  const fresh: GroupFold = {
    group,
    upserted: STAMP_ZERO,
    deleted: STAMP_ZERO,
    snapshot: STAMP_ZERO,
    members: new Map(),
    parts: new Map(),
  };
  fold.groups.set(group, fresh);
  return fresh;
}

function userOf(fold: ConnectionFold, user: MemberId): UserFold {
  const found = fold.users.get(user);
  if (found !== undefined) return found;
  const fresh: UserFold = {
    user,
    attributes: NOTHING,
    attributesStamp: STAMP_ZERO,
    more: undefined,
    deleted: STAMP_ZERO,
  };
  fold.users.set(user, fresh);
  return fresh;
}

/**
 * The maximum time between the stamps of two parts of one snapshot. Parts with a longer time between them come from two
 * exports, and together they make no complete snapshot.
 */
export const MAX_PART_SPREAD_MS = 3_600_000;

export interface ArrivedPart {
  readonly index: number;
  readonly stamp: Stamp;
}

/**
 * Returns the floor that the parts of one snapshot set: the greatest stamp `s` for which every part has arrived with a
 * stamp between `s` and one hour after `s`. If no such stamp exists, the floor is STAMP_ZERO. Memberships with an
 * earlier stamp than the floor have no effect.
 *
 * A producer may send a part again with a later stamp. If the later copy replaced the earlier copy, a complete snapshot
 * could become incomplete, and the floor would depend on the order of arrival. So the store keeps every copy. The floor
 * is a function of all copies, and a further copy never lowers the floor (invariant 1).
 */
export function completeSnapshotFloor(count: number, parts: Iterable<ArrivedPart>): Stamp {
  const newestFirst = [...parts].sort((a, b) => Number(a.stamp < b.stamp) - Number(a.stamp > b.stamp));
  const inWindow = new Map<number, number>();
  let end = 0;
  for (const oldest of newestFirst) {
    inWindow.set(oldest.index, (inWindow.get(oldest.index) ?? 0) + 1);
    const isTooNew = ({ stamp }: ArrivedPart) =>
      stampTimeMs(stamp) - stampTimeMs(oldest.stamp) > MAX_PART_SPREAD_MS;
    // The loop ends at `oldest` at the latest, because `oldest` is not too new.
    for (let newest = newestFirst[end]; newest && isTooNew(newest); newest = newestFirst[end]) {
      const left = (inWindow.get(newest.index) ?? 0) - 1;
      if (left > 0) inWindow.set(newest.index, left);
      else inWindow.delete(newest.index);
      end += 1;
    }
    if (inWindow.size === count) return oldest.stamp;
  }
  return STAMP_ZERO;
}
