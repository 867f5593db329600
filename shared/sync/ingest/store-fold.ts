import { createHash } from 'node:crypto';
import pMap from 'p-map';
import { matchRules } from '../../contract/settings.ts';
import { ACTIVE_ATTRIBUTE } from '../../domain/active.ts';
import { attributesOf, type ConnectionFold, type GroupFold, type UserFold } from '../../domain/fold.ts';
import type { ConnectionName, GroupId, GroupRef, MemberId } from '../../domain/ids.ts';
import type { Presence, Register } from '../../domain/register.ts';
import { laterStamp, STAMP_ZERO } from '../../domain/stamp.ts';
import type { WakePorts } from '../ports/bundles.ts';
import type { Connections } from '../ports/connections.ts';
import type { DesiredStore, JoinedUser, Said, UserChange, UserState, UserStore } from '../ports/desired.ts';
import { WRITES_IN_FLIGHT } from '../tuning.ts';
import { type SaidOf, type UnwokenGroup, wakeGroups } from '../wake.ts';
import { walkUser } from '../walk.ts';
import type { Failures } from './failures.ts';
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
const USERS_AT_ONCE = 500;
const WOKEN_AT_ONCE = 500;

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
  const limit = limiter(batch);
  const said = new Map<GroupId, Said>();
  const { known, done } = await recall(fold, ports);
  const groups = [...fold.groups.values()].filter(({ group }) => !done.has(group));
  await attempt(groups, batch, {
    origin: ({ group }) => origins.ofGroup(group),
    run: async (group) => {
      const stored = await storeGroup({ connection, group: group.group }, group, { ...ports, limit });
      said.set(group.group, stored);
    },
  });
  const users = await storeUsers(fold, batch, known);

  const walkers = new Map<GroupId, UserState[]>(groups.map(({ group }) => [group, []]));
  const walking = users.filter(({ walk }) => walk !== undefined);
  const lost = await attempt(walking, batch, {
    origin: ofUser,
    run: async (user) => {
      for (const group of await walkUser(ports.users, connection, user)) {
        walkers.set(group, [...(walkers.get(group) ?? []), user]);
      }
    },
  });

  const refs = [...walkers.keys()].map((group) => ({ connection, group, said: said.get(group) }));
  const wake = (some: readonly SaidOf[]) => wakeGroups(some, ports);
  for (const { ref, cause } of await inSlices(refs, batch, {
    most: WOKEN_AT_ONCE,
    run: wake,
    late: lateGroup,
  })) {
    failures.add(cause, origins.ofGroup(ref.group));
    for (const user of walkers.get(ref.group) ?? []) {
      failures.add(cause, ofUser(user));
      lost.add(user);
    }
  }
  // A walk ends only when every group that it reached was woken; the others are found again by the pump.
  const heard = walking.filter((user) => !lost.has(user));
  await attempt(heard, batch, {
    origin: ofUser,
    run: ({ member, revision }) => ports.users.endWalk(connection, member, revision),
  });
  return refs;
}

const lateGroup = (ref: GroupRef): UnwokenGroup => ({ ref, cause: TIME_IS_UP });

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

type Limit = <Result>(request: () => Promise<Result>) => Promise<Result>;

/**
 * Members before parts, parts before the floor: a floor that came first would hide members still to be written. All
 * notes at once before the registers, because they carry no condition and so travel together.
 * @returns the group's own registers, floor included, which are joined in the write that marks it dirty
 */
async function storeGroup(
  ref: GroupRef,
  fold: GroupFold,
  { desired, clock, limit }: Pick<StorePorts, 'desired' | 'clock'> & { readonly limit: Limit },
): Promise<Said> {
  const nowMs = clock();
  const present = [...fold.members].filter(([, { value }]) => value === 'present');
  await Promise.all(present.map(([member]) => desired.noteMembership(ref, member)));
  const join = ([member, register]: [MemberId, Register<Presence>]) =>
    limit(() => desired.joinMember(ref, { member, register }, nowMs));
  await pMap(fold.members, join, { concurrency: WRITES_IN_FLIGHT });
  const floor = await limit(() => desired.recordParts(ref, [...fold.parts.values()], nowMs));
  return { ...fold, snapshot: laterStamp(fold.snapshot, floor), digest: digestOf(fold) };
}

async function storeUsers(
  fold: ConnectionFold,
  batch: Batch,
  known: ReadonlyMap<MemberId, UserState> | undefined,
): Promise<readonly UserState[]> {
  const { ports, origins, failures } = batch;
  const matched = await matchedAttributes(fold.connection, ports.connections);
  const changes = [...fold.users.values()].filter(isChange).map((user) => ({
    user: user.user,
    attributes: attributesOf(user),
    deleted: user.deleted,
  }));
  const stored: UserState[] = [];
  const join = (some: typeof changes) => ports.users.join(fold.connection, some, matched, known);
  const late = ({ user }: UserChange): JoinedUser => ({ user, cause: TIME_IS_UP });
  for (const joined of await inSlices(changes, batch, { most: USERS_AT_ONCE, run: join, late })) {
    if ('state' in joined) stored.push(joined.state);
    else failures.add(joined.cause, origins.ofUser(joined.user));
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

/** Runs one thing beside the other, while there is time. @returns those that failed, whose messages are charged */
async function attempt<Item>(
  items: Iterable<Item>,
  batch: Batch,
  { origin, run }: { origin: (item: Item) => Iterable<string>; run: (item: Item) => Promise<void> },
): Promise<Set<Item>> {
  const lost = new Set<Item>();
  const tryOne = async (item: Item) => {
    try {
      if (isOver(batch)) throw TIME_IS_UP;
      await run(item);
    } catch (cause) {
      batch.failures.add(cause, origin(item));
      lost.add(item);
    }
  };
  await pMap(items, tryOne, { concurrency: WRITES_IN_FLIGHT });
  return lost;
}

/** Runs one slice after the other, while there is time. */
async function inSlices<Item, Result>(
  items: readonly Item[],
  batch: Batch,
  {
    most,
    run,
    late,
  }: {
    most: number;
    run: (some: Item[]) => Promise<readonly Result[]>;
    late: (item: Item) => Result;
  },
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (let at = 0; at < items.length; at += most) {
    const some = items.slice(at, at + most);
    results.push(...(isOver(batch) ? some.map(late) : await run(some)));
  }
  return results;
}

/** So many requests at once for all groups together, while there is time: one may have a member, another thousands. */
function limiter(batch: Batch): Limit {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (request) => {
    if (running === WRITES_IN_FLIGHT) await new Promise<void>((go) => waiting.push(go));
    else running += 1;
    try {
      if (isOver(batch)) throw TIME_IS_UP;
      return await request();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
