import { createTimeline, type Timeline } from './timeline.ts';

/** Properties that only one vendor has, by the vendor's property name. The dialect decides their meaning. */
type VendorFields = Readonly<Record<string, unknown>>;

/** A person of the customer. Each dialect has a form of its own for suspended, archived and deleted people. */
export interface User {
  readonly id: string;
  readonly primaryEmail: string;
  readonly aliases: readonly string[];
  readonly givenName: string;
  readonly familyName: string;
  readonly orgUnitPath: string;
  readonly isAdmin: boolean;
  readonly suspended: boolean;
  readonly archived: boolean;
  readonly createdAtMs: number;
  readonly deletedAtMs: number | null;
  /**
   * The time at which an administrator made the deletion permanent; null if the user can be restored or is not deleted.
   */
  readonly purgedAtMs: number | null;
  readonly vendorFields: VendorFields;
}

export interface Group {
  readonly id: string;
  readonly email: string;
  readonly aliases: readonly string[];
  readonly name: string;
  readonly description: string;
  readonly createdAtMs: number;
  readonly deletedAtMs: number | null;
  readonly vendorFields: VendorFields;
}

/**
 * `everyone` is one member that represents all users of the customer. Only some vendors have devices and service
 * principals as members.
 */
export type MemberKind =
  | 'user'
  | 'group'
  | 'externalUser'
  | 'externalGroup'
  | 'everyone'
  | 'device'
  | 'servicePrincipal';

export interface Membership {
  readonly memberId: string;
  readonly kind: MemberKind;
  readonly role: string;
  /** The address of an external member; null for other members, whose user or group has the address. */
  readonly externalEmail: string | null;
}

/** One entry of the directory's audit log, with the addresses at the time of the change. */
export interface LogEntry {
  readonly seq: number;
  readonly atMs: number;
  readonly change: string;
  readonly via: 'console' | 'groups';
  readonly actorEmail: string;
  readonly user?: User;
  readonly group?: Group;
  readonly member?: { readonly id: string; readonly email: string | null; readonly kind: MemberKind };
  readonly role?: string;
  readonly oldValue?: string;
  readonly newValue?: string;
  /** The vendor fields that the change sets. */
  readonly vendorFields?: VendorFields;
}

/** The latest change of one membership: its start, a change of its role, or its end. */
interface MembershipChange {
  readonly memberId: string;
  /** Milliseconds since 1970; -Infinity if the membership existed when the simulator started. */
  readonly atMs: number;
}

/** The directory at one time. A key is an id, a primary address or an alias. */
export interface View {
  /** Milliseconds since 1970. */
  readonly atMs: number;
  /** Returns all users, including deleted users. */
  users(): readonly User[];
  /** Returns all groups, including deleted groups. */
  groups(): readonly Group[];
  /** Returns a user by id, even if the user is deleted. */
  storedUser(id: string): User | undefined;
  /** Returns a group by id, even if the group is deleted. */
  storedGroup(id: string): Group | undefined;
  /** Returns a user that is not deleted. */
  user(key: string): User | undefined;
  /** Returns a group that is not deleted. */
  group(key: string): Group | undefined;
  members(groupId: string): readonly Membership[];
  membership(groupId: string, memberId: string): Membership | undefined;
  /**
   * Returns the time of the latest change of a user; -Infinity if the user has not changed since the simulator started.
   */
  userChangedAt(userId: string): number;
  /** Returns the time of the latest change of a group. Changes of its memberships do not count. */
  groupChangedAt(groupId: string): number;
  /** Returns the latest change of each present and former membership of a group. */
  membershipChanges(groupId: string): readonly MembershipChange[];
}

/** Users, groups, memberships and log, with the times of all changes. Times are milliseconds since 1970. */
export interface Directory {
  readonly customerId: string;
  readonly domain: string;
  readonly log: readonly LogEntry[];
  viewAt(atMs: number): View;
  putUser(atMs: number, user: User): void;
  putGroup(atMs: number, group: Group): void;
  putMembership(atMs: number, groupId: string, membership: Membership): void;
  endMembership(atMs: number, groupId: string, memberId: string): void;
  record(entry: Omit<LogEntry, 'seq'>): void;
}

type Memberships = Map<string, Timeline<Membership | null>>;

interface Stored {
  readonly users: Map<string, Timeline<User>>;
  readonly groups: Map<string, Timeline<Group>>;
  readonly memberships: Map<string, Memberships>;
  /** For each address, the ids of all users and groups that ever had the address. */
  readonly idsByAddress: Map<string, Set<string>>;
}

export function createDirectory(customerId: string, domain: string): Directory {
  const stored: Stored = {
    users: new Map(),
    groups: new Map(),
    memberships: new Map(),
    idsByAddress: new Map(),
  };
  const log: LogEntry[] = [];
  const membershipOf = (groupId: string, memberId: string) =>
    entryOf(
      entryOf(stored.memberships, groupId, (): Memberships => new Map()),
      memberId,
      () => createTimeline<Membership | null>(),
    );
  return {
    customerId,
    domain,
    log,
    viewAt: (atMs) => viewOf(stored, atMs),
    putUser(atMs, user) {
      entryOf(stored.users, user.id, () => createTimeline<User>()).set(atMs, user);
      noteAddresses(stored, user.id, [user.primaryEmail, ...user.aliases]);
    },
    putGroup(atMs, group) {
      entryOf(stored.groups, group.id, () => createTimeline<Group>()).set(atMs, group);
      noteAddresses(stored, group.id, [group.email, ...group.aliases]);
    },
    putMembership(atMs, groupId, membership) {
      membershipOf(groupId, membership.memberId).set(atMs, membership);
    },
    endMembership(atMs, groupId, memberId) {
      membershipOf(groupId, memberId).set(atMs, null);
    },
    record(entry) {
      log.push({ seq: log.length + 1, ...entry });
    },
  };
}

function entryOf<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const created = create();
  map.set(key, created);
  return created;
}

function noteAddresses({ idsByAddress }: Stored, id: string, addresses: readonly string[]): void {
  for (const address of addresses) entryOf(idsByAddress, address.toLowerCase(), () => new Set()).add(id);
}

function viewOf(stored: Stored, atMs: number): View {
  const valuesOf = <T>(timelines: Map<string, Timeline<T>>) =>
    [...timelines.values()].flatMap((timeline) => timeline.at(atMs) ?? []);
  const candidatesOf = <T>(timelines: Map<string, Timeline<T>>, key: string) => {
    const ids = [key, ...(stored.idsByAddress.get(key.toLowerCase()) ?? [])];
    return ids.flatMap((id) => timelines.get(id)?.at(atMs) ?? []);
  };
  const isNamed = (key: string, id: string, addresses: readonly string[]) =>
    id === key || addresses.some((address) => address.toLowerCase() === key.toLowerCase());
  return {
    atMs,
    users: () => valuesOf(stored.users),
    groups: () => valuesOf(stored.groups),
    storedUser: (id) => stored.users.get(id)?.at(atMs),
    storedGroup: (id) => stored.groups.get(id)?.at(atMs),
    user: (key) =>
      candidatesOf(stored.users, key).find(
        (user) => user.deletedAtMs === null && isNamed(key, user.id, [user.primaryEmail, ...user.aliases]),
      ),
    group: (key) =>
      candidatesOf(stored.groups, key).find(
        (group) => group.deletedAtMs === null && isNamed(key, group.id, [group.email, ...group.aliases]),
      ),
    members: (groupId) => valuesOf(stored.memberships.get(groupId) ?? new Map()),
    userChangedAt: (id) => stored.users.get(id)?.changedAt(atMs) ?? Number.NEGATIVE_INFINITY,
    groupChangedAt: (id) => stored.groups.get(id)?.changedAt(atMs) ?? Number.NEGATIVE_INFINITY,
    membershipChanges: (groupId) =>
      [...(stored.memberships.get(groupId) ?? [])].flatMap(([memberId, timeline]) => {
        const changedAtMs = timeline.changedAt(atMs);
        return changedAtMs === undefined ? [] : [{ memberId, atMs: changedAtMs }];
      }),
    membership: (groupId, memberId) => stored.memberships.get(groupId)?.get(memberId)?.at(atMs) ?? undefined,
  };
}
