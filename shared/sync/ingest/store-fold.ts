import { createHash } from 'node:crypto';
import { attributesOf, type ConnectionFold, type GroupFold, type UserFold } from '../../domain/fold.ts';
import type { ChangedMember } from '../../domain/group-state.ts';
import type { ConnectionName, GroupId, GroupRef, MemberId } from '../../domain/ids.ts';
import type { Presence, Register } from '../../domain/register.ts';
import { laterStamp, STAMP_ZERO } from '../../domain/stamp.ts';
import { whyUncounted } from '../../plan/removal-cause.ts';
import { boundToOf, resolveUsers, soughtBy } from '../match/resolve.ts';
import type { ConnectionStore, PeopleStore, Ports, WakePorts } from '../ports/bundles.ts';
import { type GroupUpdate, type JoinedUser, type UserState, undescribed } from '../ports/desired.ts';
import type { BoundTo } from '../ports/people.ts';
import { mapConcurrently, WRITES_IN_FLIGHT } from '../tuning.ts';
import { fanOutUser, type UnwokenGroup, type UpdatedGroup, wakeGroups } from '../wake.ts';
import { type Failures, type IncomingMessage, TIME_IS_UP } from './accept.ts';
import type { Origins } from './origins.ts';

export interface StorePorts extends WakePorts, Pick<Ports, 'users' | 'people'> {
  readonly desired: Ports['desired'];
  readonly connections: Pick<ConnectionStore, 'find' | 'list' | 'current'>;
}

interface Batch {
  readonly ports: StorePorts;
  readonly origins: Origins;
  readonly failures: Failures;
  /** After this time, no request starts. The messages of changes that are not stored yet are then received again. */
  readonly stopAtMs?: number;
  readonly oversized?: IncomingMessage | undefined;
  /** Runs while the groups are woken, if all members and users were stored. */
  readonly whenStored?: (() => Promise<void>) | undefined;
}

type Recalled = Pick<Awaited<ReturnType<typeof recall>>, 'known' | 'now'>;

/** The number of users that are stored together. For an oversized message, also the number of groups and members. */
const SLICE_SIZE = 500;

/**
 * Stores the changes of one connection in a batch: groups in parallel, then users, then fan-outs, then wake-ups. If a
 * change fails, its messages are received again, and all other changes are stored. The memberships of groups come
 * before users, so that a fan-out finds every group of the batch. The groups of an oversized message, or of many users,
 * are woken slice by slice. So if the run has no time left, some slices are already complete.
 * @returns the changed groups
 */
export async function storeFold(fold: ConnectionFold, batch: Batch): Promise<readonly GroupRef[]> {
  const { connection } = fold;
  const all = [...fold.groups.values()];
  const named = [...fold.users.values()].filter(isChange);
  const slices = batch.oversized === undefined ? [all] : slicesOf(all, ({ members }) => 1 + members.size);
  const woken: UpdatedGroup[] = [];
  let slice = await storeGroups(connection, slices.shift() ?? [], named, batch);
  for (const next of slices) {
    await wake(slice.refs, batch);
    woken.push(...slice.refs);
    slice = await storeGroups(connection, next, named, batch);
  }
  const users = await storeUsers(fold, named, batch, slice);
  const [refs] = await Promise.all([
    fanOutAndWakeAll(connection, users, slice.refs, batch),
    batch.failures.causes.length === 0 && batch.whenStored?.(),
  ]);
  return [...woken, ...refs];
}

async function fanOutAndWakeAll(
  connection: ConnectionName,
  users: readonly UserState[],
  named: readonly UpdatedGroup[],
  batch: Batch,
): Promise<readonly UpdatedGroup[]> {
  const { ports, origins } = batch;
  const ofUser = ({ member }: UserState) => origins.ofUser(member);
  const roles = new Map(users.map(({ member, role }) => [member as string, role]));
  const updates = new Map(named.map((ref) => [ref.group, ref.update]));
  const fannedOut = new Map<GroupId, UserState[]>(named.map(({ group }) => [group, []]));
  const [fanningOut = [], ...others] = slicesOf(users.filter(({ fanOut }) => fanOut !== undefined));
  const failed = await attempt(fanningOut, batch, ofUser, async (user) => {
    for (const group of await fanOutUser(ports.users, connection, user)) {
      fannedOut.set(group, [...(fannedOut.get(group) ?? []), user]);
    }
  });

  const refs: UpdatedGroup[] = [...fannedOut].map(([group, users]) => {
    const update = updates.get(group);
    // After a fan-out to this group, members that `update` does not name may have changed too.
    const changedMembers = users.length > 0 ? undefined : update?.changedMembers;
    const hinted = changedMembers?.map((one) => ({ ...one, role: roles.get(one.member) }));
    return { connection, group, update: update && { ...update, changedMembers: hinted } };
  });
  for (const { ref, cause } of await wake(refs, batch)) {
    for (const user of fannedOut.get(ref.group) ?? []) {
      batch.failures.add(cause, ofUser(user));
      failed.add(user);
    }
  }
  // A fan-out ends only after all its groups were woken. Otherwise it stays open, and the requeue job resumes it.
  const reached = fanningOut.filter((user) => !failed.has(user));
  await attempt(reached, batch, ofUser, ({ member, revision }) =>
    ports.users.endFanOut(connection, member, revision),
  );
  for (const some of others) refs.push(...(await fanOutAndWakeAll(connection, some, [], batch)));
  return refs;
}

/** @returns the groups that could not be woken. Their messages are received again */
async function wake(refs: readonly UpdatedGroup[], batch: Batch): Promise<readonly UnwokenGroup[]> {
  const unwoken: UnwokenGroup[] = [];
  for (const some of slicesOf(refs)) {
    const late = isOver(batch) && some.map((ref) => ({ ref, cause: TIME_IS_UP }));
    unwoken.push(...(late || (await wakeGroups(some, batch.ports))));
  }
  for (const { ref, cause } of unwoken) batch.failures.add(cause, batch.origins.ofGroup(ref.group));
  return unwoken;
}

/** BatchGetItem reads at most 100 items. */
const RECALLED = 100;

/**
 * Reads the users and, in the same request, finds the groups that have already stored exactly this change. So a
 * repeated event costs only this request. The function does this only for a small batch with data of users, or if an
 * oversized message is received again. If the read fails, all changes count as new. A group that was already marked
 * dirty for the oversized message counts as done. If the group's wake-up message was lost, the requeue job finds the
 * group.
 */
async function recall(
  connection: ConnectionName,
  groups: readonly GroupFold[],
  named: readonly UserFold[],
  { oversized, ports: { users, desired, connections } }: Batch,
) {
  const isAgain = (oversized?.receives ?? 1) > 1;
  const isFew = named.length > 0 && named.length + groups.length <= RECALLED;
  const nothing = { known: undefined, now: undefined, groups };
  if (!isFew && !isAgain) return nothing;
  const ids = named.map(({ user }) => user);
  const isRepeated = (fold: GroupFold) =>
    desired.isRepeated({ connection, group: fold.group }, digestOf(fold), isAgain);
  const asked = Promise.all([
    isFew ? users.read(connection, ids) : undefined,
    isFew ? connections.current(connection) : undefined,
    Promise.all(groups.map(isRepeated)),
  ]);
  return asked.then(
    ([known, now, isDone]) => ({ known, now, groups: groups.filter((_, at) => isDone[at] !== true) }),
    () => nothing,
  );
}

function digestOf({ members, parts, ...registers }: GroupFold): string {
  const content = JSON.stringify([registers, [...members], [...parts]]);
  return createHash('sha256').update(content).digest('base64url').slice(0, 12);
}

/**
 * Stores the members first, then the parts of snapshots, then the floor. If the floor were stored before the
 * members, it would hide the members whose registers are not written yet. Before the registers, a note about each new
 * membership is written. These writes have no conditions, so they are sent together.
 * @returns the updates of groups that have not stored this change yet. The write of the dirty mark must store these
 * updates
 */
async function storeGroups(
  connection: ConnectionName,
  folds: readonly GroupFold[],
  named: readonly UserFold[],
  batch: Batch,
) {
  const { groups, ...recalled } = await recall(connection, folds, named, batch);
  const { desired, clock } = batch.ports;
  const nowMs = clock();
  // New members are matched here if `recall` has read the users. Otherwise `storeUsers` matches them. The members of an
  // oversized message are always matched later, because its groups are stored slice by slice.
  const matchesNow = batch.oversized === undefined && !isOver(batch);
  const match = matchesNow ? await firstBindings(named, presentIn(folds), recalled, batch.ports) : undefined;
  const updates = new Map<GroupId, GroupUpdate>();
  const changes = new Map<GroupId, (ChangedMember | undefined)[]>(groups.map(({ group }) => [group, []]));
  const broken = new Set<GroupId>();
  const refOf = ({ group }: Pick<GroupFold, 'group'>) => ({ connection, group });
  const charged = ({ group }: Pick<GroupFold, 'group'>) => {
    broken.add(group);
    return batch.origins.ofGroup(group);
  };
  const isWhole = ({ group }: Pick<GroupFold, 'group'>) => !broken.has(group);
  const notes = attempt(groups, batch, charged, async (fold) => {
    const present = [...fold.members].filter(isPresent);
    await Promise.all(present.map(([member]) => desired.noteMembership(refOf(fold), member)));
  });
  const [bindings] = await Promise.all([match?.(), notes]);
  const entries = groups
    .filter(isWhole)
    .flatMap(({ group, members }) => [...members].map(([member, register]) => ({ group, member, register })));
  await attempt(entries, batch, charged, async ({ group, ...entry }) => {
    if (isWhole({ group }))
      changes.get(group)?.push(await desired.joinMember({ connection, group }, entry, nowMs));
  });
  await attempt(groups.filter(isWhole), batch, charged, async (fold) => {
    const floor = await desired.recordParts(refOf(fold), [...fold.parts.values()], nowMs);
    updates.set(fold.group, {
      ...fold,
      snapshot: laterStamp(fold.snapshot, floor),
      digest: digestOf(fold),
      changedMembers: changedMembersOf(fold, changes.get(fold.group), batch),
    });
  });
  const refs = groups.map((fold): UpdatedGroup => ({ ...refOf(fold), update: updates.get(fold.group) }));
  return { ...recalled, bindings, refs };
}

/** A longer list would make each write of the group item more expensive. */
const MAX_CHANGED_MEMBERS = 10;

/**
 * Returns the members that a batch changed in a group. The result is undefined if the batch may change too many
 * members, if a part of the batch was stored before, or if no message contains the change, because after a crash only
 * messages are received again. Apply then reads all members.
 */
function changedMembersOf(
  fold: GroupFold,
  changes: readonly (ChangedMember | undefined)[] = [],
  { origins }: Batch,
) {
  const { group, deleted, snapshot, parts } = fold;
  const mayBeAll = deleted !== STAMP_ZERO || snapshot !== STAMP_ZERO || parts.size > 0;
  const named = changes.filter((one) => one !== undefined);
  const isKnown = named.length === changes.length && [...origins.ofGroup(group)].length > 0;
  return isKnown && !mayBeAll && named.length <= MAX_CHANGED_MEMBERS ? named : undefined;
}

async function storeUsers(
  { connection, groups }: ConnectionFold,
  named: readonly UserFold[],
  batch: Batch,
  { known, now, bindings }: Awaited<ReturnType<typeof storeGroups>>,
): Promise<readonly UserState[]> {
  const { ports, origins, failures } = batch;
  if (named.length === 0) return [];
  const current = now ?? (await ports.connections.current(connection));
  const present = presentIn(groups.values());
  const stored: UserState[] = [];
  for (const some of slicesOf(named)) {
    const ids = some.map(({ user }) => user);
    const store = async () => {
      const before = known ?? (await ports.users.read(connection, ids));
      const matchNow = async () =>
        (await firstBindings(some, present, { known: before, now: current }, ports))?.();
      const found = bindings ?? (await matchNow());
      const changes = some.map((fold) => {
        return { ...fold, attributes: attributesOf(fold), boundTo: found?.get(fold.user) };
      });
      return ports.users.join(connection, changes, current?.settings, before);
    };
    const joined: readonly JoinedUser[] = isOver(batch)
      ? ids.map((user) => ({ user, cause: TIME_IS_UP }))
      : await store();
    for (const one of joined) {
      if ('state' in one) stored.push(one.state);
      else failures.add(one.cause, origins.ofUser(one.user));
    }
  }
  return stored;
}

/**
 * Matches new members before they are stored. So the first write of a member contains the binding, and two workers of
 * apply cannot create different bindings. The match uses the current settings, because a binding by earlier match rules
 * would stay. Apply later matches the members without a result here.
 * @returns a function that first records each member at the persons that match it, and then matches the members;
 * undefined if the users were not read, or the connection only observes
 */
async function firstBindings(
  named: readonly UserFold[],
  present: ReadonlySet<MemberId>,
  { known, now }: Recalled,
  { people }: StorePorts,
) {
  if (known === undefined || now === undefined || now.observing) return undefined;
  const users = named
    .filter(({ user }) => !known.has(user) && present.has(user))
    .map((fold) => ({ ...undescribed(fold.user), attributes: attributesOf(fold) }))
    .filter(({ attributes }) => whyUncounted(attributes, now.settings) === undefined);
  const sought = users.flatMap((user) => soughtBy(user, now).slice(0, 1));
  const ahead = await people.ahead(now.name, sought).catch(() => ({}));
  const bindings = new Map<MemberId, BoundTo>();
  const bind: PeopleStore['bind'] = async (_, member, found) => {
    const boundTo = boundToOf(found);
    bindings.set(member, boundTo);
    return boundTo;
  };
  const none = () => new Map<MemberId, BoundTo>();
  return () => resolveUsers(users, now, { ...people, ...ahead, bind }).then(() => bindings, none);
}

const presentIn = (groups: Iterable<GroupFold>): ReadonlySet<MemberId> =>
  new Set([...groups].flatMap(({ members }) => [...members].filter(isPresent).map(([member]) => member)));
const isPresent = ([, { value }]: readonly [MemberId, Register<Presence>]) => value === 'present';
const isChange = ({ attributes, deleted }: UserFold): boolean =>
  attributes.size > 0 || deleted !== STAMP_ZERO;

const isOver = ({ ports, stopAtMs }: Batch): boolean => stopAtMs !== undefined && ports.clock() > stopAtMs;

function slicesOf<Item>(items: readonly Item[], weightOf = (_: Item) => 1): Item[][] {
  const slices: Item[][] = [];
  let weight = SLICE_SIZE;
  for (const item of items) {
    if (weight >= SLICE_SIZE) {
      slices.push([]);
      weight = 0;
    }
    slices.at(-1)?.push(item);
    weight += weightOf(item);
  }
  return slices;
}

/**
 * Runs `run` for all items in parallel, until the run has no time left.
 * @returns the items that failed. Their messages are received again
 */
async function attempt<Item>(
  items: Iterable<Item>,
  batch: Batch,
  charged: (item: Item) => Iterable<string>,
  run: (item: Item) => Promise<void>,
): Promise<Set<Item>> {
  const failed = new Set<Item>();
  const tryOne = async (item: Item) => {
    try {
      if (isOver(batch)) throw TIME_IS_UP;
      await run(item);
    } catch (cause) {
      batch.failures.add(cause, charged(item));
      failed.add(item);
    }
  };
  await mapConcurrently(WRITES_IN_FLIGHT, items, tryOne);
  return failed;
}
