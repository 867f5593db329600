import { ACTIVE_ATTRIBUTE, isActive } from '../../domain/active.ts';
import { groupExists, groupName, NO_GROUP } from '../../domain/group.ts';
import type { GroupState } from '../../domain/group-state.ts';
import type { ConnectionName, GroupId, GroupRef, MemberId } from '../../domain/ids.ts';
import type { Register } from '../../domain/register.ts';
import { READER_SOURCE, sourceOf } from '../../domain/source.ts';
import { makeStamp, readStamp, STAMP_ZERO, type Stamp, stampTimeMs } from '../../domain/stamp.ts';
import { foldName } from '../../plan/names.ts';
import type { Ports, ReaderStore } from '../../sync/ports/bundles.ts';
import type { Connection } from '../../sync/ports/connections.ts';
import type { UserState } from '../../sync/ports/desired.ts';
import type { Lease } from '../../sync/ports/reconcile.ts';
import { noteReceipt } from '../../sync/sources.ts';
import { collectPages } from '../../sync/tuning.ts';
import type { Directories, Directory, DirectoryGroup, DirectoryUser } from '../ports.ts';
import type { StoredGroup } from '../rules/read.ts';
import type { ReaderGroup } from '../rules/reader-group.ts';
import { firstSeen } from '../rules/schedule.ts';
import { attributesOfUser, type Origin } from './events.ts';
import type { MemberQuestions } from './member-questions.ts';

export type ReaderPorts = StoredPorts &
  SourcePorts &
  Pick<Ports, 'leases' | 'events' | 'sources' | 'clock' | 'newId'> & {
    readonly users: Pick<Ports['users'], 'read' | 'groupsOf'>;
    readonly groups: Pick<Ports['groups'], 'read' | 'endRelease' | 'restate'>;
    readonly reader: ReaderStore;
    readonly directories: Directories;
    /** The minutes between two scheduled reads; undefined if no schedule is known. */
    readonly everyMinutes?: number | undefined;
  };

export interface ReaderRun {
  readonly connection: Connection;
  readonly directory: Directory;
  readonly ports: ReaderPorts;
  readonly lease: Lease;
  /** The time in milliseconds since 1970 after which the run begins to read no further group. */
  readonly deadlineMs: number;
  /** The run reads each group that was last read before this time. */
  readonly fullMs: number | undefined;
  readonly scope: string;
  readonly acceptsDeletions: boolean;
  readonly users: KnownUsers;
  /** The groups that this run has listed. The run does not request them again. */
  readonly listed: Map<GroupId, GroupAsOf>;
  readonly questions: MemberQuestions;
  /** Every known group: as it is stored, or due earlier because of `fullMs`. */
  readonly groups: Map<GroupId, ReaderGroup>;
  /** Returns the groups whose source is SCIM or events. The first call of this run reads them. */
  readonly others: () => Promise<OtherGroups>;
  readonly report: DirectoryRunReport;
}

export interface GroupAsOf {
  readonly group: DirectoryGroup;
  readonly asOfMs: number;
}

export type DirectoryRunReport = ReturnType<typeof newReport>;

export const newReport = (connection: string) => ({
  connection,
  groups: 0,
  reported: 0,
  read: 0,
  sent: 0,
  /** The first thousand groups whose deletion was sent. */
  deleted: [] as GroupId[],
  /** The number of groups whose read failed. Incomplete and outdated lists are not counted here. */
  failed: 0,
  /** The number of due groups that this run did not read. */
  waiting: 0,
  /** The groups that an operator must check: no usable read for an hour, or three incomplete reads. */
  unreadable: [] as readonly GroupId[],
});

/** Thrown if this run was suspended for longer than its lease, and another run has taken over. */
export class LeaseEndedError extends Error {
  override readonly name = 'LeaseEndedError';

  constructor() {
    super('another run now reads the directory, because this run was suspended for too long');
  }
}

export const noteAnswer = ({ connection, ports }: ReaderRun): Promise<void> =>
  noteReceipt(connection.name, { source: 'directory', everyMinutes: ports.everyMinutes }, ports);

export async function storeGroup(run: ReaderRun, group: ReaderGroup): Promise<void> {
  const { connection, lease, ports, groups } = run;
  if (groups.get(group.group) === group) return;
  if (!(await ports.reader.putGroup(connection.name, group, lease))) throw new LeaseEndedError();
  groups.set(group.group, group);
}

export async function addGroup(run: ReaderRun, { id, name, address }: DirectoryGroup): Promise<void> {
  const other = (await run.others()).sameAs(id, name);
  const seen = { ...firstSeen(id, address, run.ports.clock()), name };
  await storeGroup(run, other === undefined ? seen : { ...seen, other });
}

export async function forgetGroup({ connection, lease, ports, groups }: ReaderRun, id: GroupId) {
  await ports.reader.removeGroup(connection.name, id, lease);
  groups.delete(id);
}

export const maySend = ({ connection }: ReaderRun, { group, other }: ReaderGroup): boolean =>
  other === undefined || (other === group && connection.settings.directory?.corrects === true);

export const originAt = ({ ports }: ReaderRun, stampMs: number): Origin => ({
  readId: ports.newId(),
  stampMs,
});

/** Returns the earliest stamp of the events of this read. A stored value with a later stamp is newer than the read. */
export const stampOf = ({ readId, stampMs }: Origin): Stamp =>
  makeStamp({ time: new Date(stampMs).toISOString(), id: readId, source: READER_SOURCE });

/**
 * Sends the messages in the given order.
 * @throws Error if a message was not accepted. A later run then reads the group again
 */
export async function send({ connection, ports }: ReaderRun, bodies: readonly string[]): Promise<void> {
  if (bodies.length === 0) return;
  const messages = bodies.map((body) => ({ body, connection: connection.name }));
  const outcomes = await ports.events.send(messages);
  const refused = outcomes.find(({ messageId }) => messageId === undefined);
  if (refused !== undefined) throw new Error(`the events queue did not accept a message: ${refused.refused}`);
}

type StoredPorts = { readonly groups: Pick<Ports['groups'], 'read' | 'members'> } & {
  readonly users: Pick<Ports['users'], 'read'>;
};

interface KnownUser extends Pick<UserState, 'floor' | 'attributes'> {
  readonly isActive: boolean;
}

/** The stored users of a connection. A run reads each user only once, because many groups share members. */
type KnownUsers = ReturnType<typeof createKnownUsers>;

export function createKnownUsers(connection: ConnectionName, users: StoredPorts['users'], lagMs: number) {
  const known = new Map<MemberId, KnownUser | undefined>();
  return {
    async read(members: Iterable<MemberId>) {
      const missing = [...new Set(members)].filter((member) => !known.has(member));
      if (missing.length === 0) return;
      const states = await users.read(connection, missing);
      for (const member of missing) {
        const state = states.get(member);
        known.set(member, state && knownOf(state));
      }
    },

    floorOf: (member: MemberId) => known.get(member)?.floor ?? STAMP_ZERO,

    /** Returns the stored address; undefined if no address is stored. */
    addressOf: (member: MemberId) => known.get(member)?.attributes.get('email')?.value ?? undefined,

    /**
     * Returns whether an event with this stamp would set a new attribute or change an attribute. An answer that shows the
     * user as active may be outdated. Such an answer does not count if the reader made the user inactive within the lag.
     */
    isNews(user: DirectoryUser, stamp: Stamp): boolean {
      const attributes = known.get(user.id)?.attributes;
      const endedMs = inactiveSinceMs(attributes?.get(ACTIVE_ATTRIBUTE));
      if (lagMs > 0 && user.isActive && stampTimeMs(stamp) - endedMs < lagMs) return false;
      return [...attributesOfUser(user)].some(([name, value]) => {
        const stored = attributes?.get(name);
        return stored === undefined || (stored.value !== value && stored.stamp < stamp);
      });
    },

    comesBack: (user: DirectoryUser) => user.isActive && known.get(user.id)?.isActive === false,

    /** Records that a message describes the user. The message is sent afterwards, or the run fails. */
    noteSent(user: DirectoryUser, stamp: Stamp): void {
      const before = known.get(user.id);
      const sent = [...attributesOfUser(user)].map(([name, value]) => [name, { value, stamp }] as const);
      const attributes = new Map([...(before?.attributes ?? []), ...sent]);
      known.set(user.id, { floor: before?.floor ?? STAMP_ZERO, attributes, isActive: user.isActive });
    },
  };
}

/** Returns the time at which the reader made the user inactive; -Infinity if the reader did not do this. */
function inactiveSinceMs(active: Register<string> | undefined): number {
  const isByReader = active?.value === 'false' && readStamp(active.stamp)?.source === READER_SOURCE;
  return isByReader ? stampTimeMs(active.stamp) : Number.NEGATIVE_INFINITY;
}

const knownOf = ({ floor, attributes }: UserState): KnownUser => ({
  floor,
  attributes,
  isActive: isActive(attributes),
});

/** Reads the desired state of a group with all its registers, consistently. */
export async function readStored(
  ref: GroupRef,
  { groups }: StoredPorts,
  users: KnownUsers,
): Promise<StoredGroup> {
  const state = await groups.read(ref);
  // Registers can exist before their group, because events about members can arrive first.
  const registers = await groups.members(ref);
  await users.read(registers.map(({ member }) => member));
  return {
    registers: state?.registers ?? NO_GROUP,
    members: registers.map(({ member, value, stamp }) => ({
      member,
      value,
      stamp,
      userFloor: users.floorOf(member),
    })),
  };
}

/*
 * A group has one source. If several sources of one connection wrote the same group, each source would undo the changes
 * of the other sources:
 *
 *   the source of the group is | the reader                          | SCIM and events
 *   ---------------------------|-------------------------------------|-----------------------------------
 *   the reader                 | sends what differs                  | make the reader read the group
 *   another source, same id    | compares; sends if `corrects` is on | change the group
 *   another source, same name  | leaves its own group out            | change the group
 */

interface SourcePorts {
  readonly index: Pick<Ports['index'], 'all'>;
  readonly groups: Pick<Ports['groups'], 'readMany'>;
  readonly reader: Pick<ReaderStore, 'owners'>;
}

/** Returns whether the source of the group is SCIM or events. A released group has no source. */
export const isOfAnotherSource = ({ registers, released }: Pick<GroupState, 'registers' | 'released'>) =>
  groupExists(registers) && !released && sourceOf(registers.upserted) !== 'directory';

export interface OtherGroups {
  readonly ids: ReadonlySet<GroupId>;
  /**
   * Finds the group of another source with the same id as a group of the directory, or else with the same name.
   * `foldName` compares the names, as it does for duplicates.
   */
  readonly sameAs: (group: GroupId, name: string) => GroupId | undefined;
  /** The groups whose source is the reader, although the reader does not know them. */
  readonly forgotten: readonly GroupState[];
}

export async function othersOf(connection: ConnectionName, ports: SourcePorts): Promise<OtherGroups> {
  const refs = (await collectPages(ports.index.all(connection))).map(({ ref }) => ref);
  const all = refs.map(({ group }) => group);
  const owners = await ports.reader.owners(connection, all);
  const unowned = refs.filter(({ group }) => owners.get(group)?.source !== 'directory');
  const states = await ports.groups.readMany(unowned);
  const others = states.filter(isOfAnotherSource);
  const ids = new Set(others.map(({ ref }) => ref.group));
  const byName = new Map(
    others.map(({ ref, registers }) => [foldName(groupName(registers) ?? ''), ref.group]),
  );
  const isForgotten = ({ ref: { group }, registers, released }: GroupState) =>
    groupExists(registers) && !released && !ids.has(group) && !owners.has(group);
  return {
    ids,
    sameAs: (group, name) => (ids.has(group) ? group : byName.get(foldName(name))),
    forgotten: states.filter(isForgotten),
  };
}
