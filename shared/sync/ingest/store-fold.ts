import { createHash } from 'node:crypto';
import pMap from 'p-map';
import { matchRules } from '../../contract/settings.ts';
import { ACTIVE_ATTRIBUTE } from '../../domain/active.ts';
import { attributesOf, type ConnectionFold, type GroupFold, type UserFold } from '../../domain/fold.ts';
import type { Touched } from '../../domain/group-state.ts';
import type { ConnectionName, GroupId, GroupRef, MemberId } from '../../domain/ids.ts';
import { laterStamp, STAMP_ZERO } from '../../domain/stamp.ts';
import type { WakePorts } from '../ports/bundles.ts';
import type { Connections } from '../ports/connections.ts';
import type { DesiredStore, JoinedUser, Said, UserState, UserStore } from '../ports/desired.ts';
import { WRITES_IN_FLIGHT } from '../tuning.ts';
import { wakeGroups } from '../wake.ts';
import { walkUser } from '../walk.ts';
import type { Failures } from './accept.ts';
import type { Origins } from './origins.ts';

export interface StorePorts extends WakePorts {
  readonly desired: DesiredStore;
  readonly users: UserStore;
  readonly connections: Connections;
}

interface Batch {
  readonly ports: StorePorts;
  readonly origins: Origins;
  readonly failures: Failures;
  /** After that nothing is begun: what is left comes again by itself, and what is done need not. */
  readonly stopAtMs?: number;
}

const TIME_IS_UP = new Error('not stored within the time of this run');
/** So many users, or groups to wake, are begun together while there is time. */
const AT_ONCE = 500;

/**
 * Everything that one batch says of one connection: groups side by side, then users, then walks, then wake-ups. What
 * fails is charged to the messages that said it; the rest goes on. Registers come before users: a user that is walked
 * from here on finds every group of this batch.
 * @returns the groups that were touched
 */
export async function storeFold(fold: ConnectionFold, batch: Batch): Promise<readonly GroupRef[]> {
  const { connection } = fold;
  const { ports, origins, failures } = batch;
  const ofUser = ({ member }: UserState) => origins.ofUser(member);
  const { known, done } = await recall(fold, ports);
  const groups = [...fold.groups.values()].filter(({ group }) => !done.has(group));
  const said = await storeGroups(connection, groups, batch);
  const users = await storeUsers(fold, batch, known);

  const walkers = new Map<GroupId, UserState[]>(groups.map(({ group }) => [group, []]));
  const walking = users.filter(({ walk }) => walk !== undefined);
  const lost = await attempt(walking, batch, ofUser, async (user) => {
    for (const group of await walkUser(ports.users, connection, user)) {
      walkers.set(group, [...(walkers.get(group) ?? []), user]);
    }
  });

  for (const [group, users] of walkers) {
    const heard = said.get(group);
    // A walk may be another's, of which more is to be said than that its member is touched.
    if (heard !== undefined && users.length > 0) said.set(group, { ...heard, touched: undefined });
  }
  const refs = [...walkers.keys()].map((group) => ({ connection, group, said: said.get(group) }));
  for (const some of slicesOf(refs)) {
    const unwoken = isOver(batch)
      ? some.map((ref) => ({ ref, cause: TIME_IS_UP }))
      : await wakeGroups(some, ports);
    for (const { ref, cause } of unwoken) {
      failures.add(cause, origins.ofGroup(ref.group));
      for (const user of walkers.get(ref.group) ?? []) {
        failures.add(cause, ofUser(user));
        lost.add(user);
      }
    }
  }
  // A walk ends only when every group that it reached was woken; the others are found again by the pump.
  const heard = walking.filter((user) => !lost.has(user));
  await attempt(heard, batch, ofUser, ({ member, revision }) =>
    ports.users.endWalk(connection, member, revision),
  );
  return refs;
}

/** Folds no larger than one request can ask for. */
const RECALLED = 100;

/**
 * What is stored of the users, and the groups of which all this was said last, in one request: an event that comes again
 * is done with that. Whatever cannot be read now is taken for news.
 */
async function recall({ connection, groups, users }: ConnectionFold, { users: store, desired }: StorePorts) {
  const nothing = { known: undefined, done: new Set<GroupId>() };
  const named = [...users.values()].filter(isChange).map(({ user }) => user);
  if (named.length === 0 || named.length + groups.size > RECALLED) return nothing;
  const isHeard = (group: GroupFold) => desired.isHeard({ connection, group: group.group }, digestOf(group));
  const asked = Promise.all([
    store.read(connection, named),
    Promise.all([...groups.values()].map(async (group) => ((await isHeard(group)) ? [group.group] : []))),
  ]);
  return asked.then(
    ([known, done]) => ({ known, done: new Set(done.flat()) }),
    () => nothing,
  );
}

function digestOf({ members, parts, ...registers }: GroupFold): string {
  const said = JSON.stringify([registers, [...members], [...parts]]);
  return createHash('sha256').update(said).digest('base64url').slice(0, 12);
}

/**
 * Members before parts, parts before the floor: a floor that came first would hide members still to be written. All
 * notes of a group at once before its registers, because they carry no condition and so travel together.
 * @returns the groups' own registers, floors included, which are joined in the write that marks a group dirty
 */
async function storeGroups(connection: ConnectionName, groups: readonly GroupFold[], batch: Batch) {
  const { desired, clock } = batch.ports;
  const nowMs = clock();
  const said = new Map<GroupId, Said>();
  const touched = new Map<GroupId, (Touched | undefined)[]>(groups.map(({ group }) => [group, []]));
  const broken = new Set<GroupId>();
  const refOf = ({ group }: Pick<GroupFold, 'group'>) => ({ connection, group });
  const charged = ({ group }: Pick<GroupFold, 'group'>) => {
    broken.add(group);
    return batch.origins.ofGroup(group);
  };
  const isWhole = ({ group }: Pick<GroupFold, 'group'>) => !broken.has(group);
  await attempt(groups, batch, charged, async (fold) => {
    const present = [...fold.members].filter(([, { value }]) => value === 'present');
    await Promise.all(present.map(([member]) => desired.noteMembership(refOf(fold), member)));
  });
  const entries = groups
    .filter(isWhole)
    .flatMap(({ group, members }) => [...members].map(([member, register]) => ({ group, member, register })));
  await attempt(entries, batch, charged, async ({ group, ...entry }) => {
    if (isWhole({ group }))
      touched.get(group)?.push(await desired.joinMember({ connection, group }, entry, nowMs));
  });
  await attempt(groups.filter(isWhole), batch, charged, async (fold) => {
    const floor = await desired.recordParts(refOf(fold), [...fold.parts.values()], nowMs);
    said.set(fold.group, {
      ...fold,
      snapshot: laterStamp(fold.snapshot, floor),
      digest: digestOf(fold),
      touched: concerned(fold, touched.get(fold.group), batch),
    });
  });
  return said;
}

/** Longer lists make the writes of the group dearer. */
const MOST_TOUCHED = 10;

/** Whom a batch concerns, where that is not everybody, all of it was news, and a message says all of it again after a crash. */
function concerned(fold: GroupFold, touched: readonly (Touched | undefined)[] = [], { origins }: Batch) {
  const { group, deleted, snapshot, parts } = fold;
  const mayBeAll = deleted !== STAMP_ZERO || snapshot !== STAMP_ZERO || parts.size > 0;
  const named = touched.filter((one) => one !== undefined);
  const isKnown = named.length === touched.length && [...origins.ofGroup(group)].length > 0;
  return isKnown && !mayBeAll && named.length <= MOST_TOUCHED ? named : undefined;
}

async function storeUsers(
  { connection, users }: ConnectionFold,
  batch: Batch,
  known: ReadonlyMap<MemberId, UserState> | undefined,
): Promise<readonly UserState[]> {
  const { ports, origins, failures } = batch;
  const matched = await matchedAttributes(connection, ports.connections);
  const changes = [...users.values()].filter(isChange).map((fold) => ({
    user: fold.user,
    attributes: attributesOf(fold),
    deleted: fold.deleted,
  }));
  const stored: UserState[] = [];
  for (const some of slicesOf(changes)) {
    const joined: readonly JoinedUser[] = isOver(batch)
      ? some.map(({ user }) => ({ user, cause: TIME_IS_UP }))
      : await ports.users.join(connection, some, matched, known);
    for (const one of joined) {
      if ('state' in one) stored.push(one.state);
      else failures.add(one.cause, origins.ofUser(one.user));
    }
  }
  return stored;
}

const isChange = ({ said, deleted }: UserFold): boolean => said.size > 0 || deleted !== STAMP_ZERO;

/** What decides who a member is, or whether they count. */
async function matchedAttributes(
  connection: ConnectionName,
  connections: Connections,
): Promise<ReadonlySet<string>> {
  const found = await connections.find(connection);
  const rules = found === undefined ? [] : matchRules(found.settings);
  return new Set([ACTIVE_ATTRIBUTE, ...rules.map((rule) => rule.memberAttribute)]);
}

const isOver = ({ ports, stopAtMs }: Batch): boolean => stopAtMs !== undefined && ports.clock() > stopAtMs;

const slicesOf = <Item>(items: readonly Item[]): readonly Item[][] =>
  Array.from({ length: Math.ceil(items.length / AT_ONCE) }, (_, n) =>
    items.slice(n * AT_ONCE, (n + 1) * AT_ONCE),
  );

/** Runs one thing beside the other, while there is time. @returns those that failed, whose messages are charged */
async function attempt<Item>(
  items: Iterable<Item>,
  batch: Batch,
  charged: (item: Item) => Iterable<string>,
  run: (item: Item) => Promise<void>,
): Promise<Set<Item>> {
  const lost = new Set<Item>();
  const tryOne = async (item: Item) => {
    try {
      if (isOver(batch)) throw TIME_IS_UP;
      await run(item);
    } catch (cause) {
      batch.failures.add(cause, charged(item));
      lost.add(item);
    }
  };
  await pMap(items, tryOne, { concurrency: WRITES_IN_FLIGHT });
  return lost;
}
