import pMap from 'p-map';
import * as z from 'zod';
import { ACTIVE_ATTRIBUTE } from '../domain/active.ts';
import type { UserCopy } from '../domain/group.ts';
import {
  type ConnectionName,
  type GroupRef,
  groupId,
  type MemberId,
  memberId,
  roleId,
} from '../domain/ids.ts';
import { join, type Register } from '../domain/register.ts';
import { laterStamp, STAMP_ZERO, type Stamp } from '../domain/stamp.ts';
import type { JoinedUser, UserChange, UserState, UserStore } from '../sync/ports/desired.ts';
import { StoreError } from '../sync/ports/store-errors.ts';
import { OF_THIS_SCHEMA, understood } from './item-form.ts';
import {
  boundMemberItem,
  IN_PREFIX,
  indexPartition,
  keyPart,
  memberKey,
  SHARDS,
  shardOf,
  userKey,
} from './keys.ts';
import { all, any, type Condition, equal, exists, type Item, less, missing, type Table } from './table.ts';

const StampText = z.string().transform((text) => text as Stamp);
const UserItem = z.lazy(() =>
  z.object({
    member: z.string().transform(memberId),
    attributes: z.record(z.string(), z.object({ value: z.string(), stamp: StampText })).default({}),
    floor: StampText.default(STAMP_ZERO),
    role: z.string().transform(roleId).optional(),
    review: z.boolean().default(false),
    revision: z.number().default(0),
    walk: z.number().optional(),
    /** Counts writes, so that a change computed from what was read cannot overwrite another. */
    writes: z.number().default(0),
  }),
);
type UserItem = z.infer<typeof UserItem>;

/** A user written by this many others between our read and our write would be a fault elsewhere. */
const MAX_RACES = 50;
const WRITES_IN_FLIGHT = 32;

export function createUserStore(table: Table): UserStore {
  /**
   * Writes what was computed from `known` if the item is still that; else computes it again from what is there now.
   * @param next the user after the change; undefined where the change says nothing new
   */
  async function changeUser(
    connection: ConnectionName,
    member: MemberId,
    next: (current: UserItem | undefined) => UserItem | undefined,
    known?: UserItem,
  ): Promise<UserState> {
    let current = known;
    for (let race = 0; race < MAX_RACES; race += 1) {
      const changed = next(current);
      if (changed === undefined) return stateOf(current ?? newUser(member));
      if (await table.put(itemOf(connection, changed), unwrittenSince(current))) return stateOf(changed);
      const stored = await table.get(userKey(connection, member));
      current = stored === undefined ? undefined : parseUser(stored);
    }
    throw new StoreError(`gave up after ${MAX_RACES} concurrent writes of one user`);
  }

  const writeCopy = async (
    ref: GroupRef,
    member: MemberId,
    { copy: { revision, floor, role }, when }: { readonly copy: UserCopy; readonly when: Condition },
  ) => {
    const set = { copyRevision: revision, copyFloor: floor };
    await table.update(
      memberKey(ref, member),
      role === undefined ? { set, remove: ['copyRole'] } : { set: { ...set, copyRole: role } },
      when,
    );
  };

  return {
    async read(connection, members) {
      const items = await table.getMany(members.map((member) => userKey(connection, member)));
      return new Map(items.map((item) => [parseUser(item).member, stateOf(parseUser(item))]));
    },

    async join(connection, changes, matched) {
      const items = await table.getMany(changes.map(({ user }) => userKey(connection, user)));
      const known = new Map(items.map(parseUser).map((user) => [user.member, user]));
      return pMap(
        changes,
        async (change): Promise<JoinedUser> => {
          const { user } = change;
          try {
            const next = (current: UserItem | undefined) => joined(current, change, matched);
            return { user, state: await changeUser(connection, user, next, known.get(user)) };
          } catch (cause) {
            return { user, cause };
          }
        },
        { concurrency: WRITES_IN_FLIGHT },
      );
    },

    async rebind(connection, member, role) {
      await table.put(boundMemberItem(connection, role, member));
      return changeUser(connection, member, (current = newUser(member)) => {
        const revision = current.revision + 1;
        return { ...current, role, review: false, revision, walk: revision, writes: current.writes + 1 };
      });
    },

    async *groupsOf(connection, member) {
      const { pk } = userKey(connection, member);
      for await (const page of table.query({ partition: pk, prefix: IN_PREFIX })) {
        yield page.map(({ group }) => groupId(String(group)));
      }
    },

    copyToMember: (ref, member, copy) =>
      writeCopy(ref, member, { copy, when: all(exists('stamp'), knowsLessThan(copy.revision)) }),

    renewCopy: (ref, member, copy) =>
      writeCopy(ref, member, {
        copy,
        when: all(exists('stamp'), any(missing('copyRevision'), less('copyRevision', copy.revision))),
      }),

    async forget(connection, member) {
      const key = userKey(connection, member);
      for (let race = 0; race < MAX_RACES; race += 1) {
        const stored = await table.get(key);
        if (stored === undefined) return false;
        const user = parseUser(stored);
        const attributes = Object.fromEntries(
          Object.entries(user.attributes).map(([name, { value, stamp }]) => [
            name,
            // Whether an account is switched on says nothing of a person, and membership hangs on it.
            { value: name === ACTIVE_ATTRIBUTE ? value : '', stamp },
          ]),
        );
        const erased = { ...user, attributes, writes: user.writes + 1 };
        if (await table.put(itemOf(connection, erased), unwrittenSince(user))) return true;
      }
      throw new StoreError(`gave up after ${MAX_RACES} concurrent writes of one user`);
    },

    async endWalk(connection, member, revision) {
      await table.update(
        userKey(connection, member),
        { remove: ['walk', 'gpk', 'gsk'], add: { writes: 1 } },
        all(exists('walk'), equal('revision', revision)),
      );
    },

    async *openWalks(connection) {
      for (let shard = 0; shard < SHARDS; shard += 1) {
        const partition = indexPartition('walks', connection, shard);
        for await (const page of table.query({ partition, index: true })) {
          yield page.map(({ member }) => memberId(String(member)));
        }
      }
    },
  };
}

const unwrittenSince = (current: UserItem | undefined): Condition =>
  current === undefined ? missing('pk') : equal('writes', current.writes);

/** At the same revision a copy may still gain the role of a first binding, which raises no revision. */
const knowsLessThan = (revision: number): Condition =>
  any(
    missing('copyRevision'),
    less('copyRevision', revision),
    all(equal('copyRevision', revision), missing('copyRole')),
  );

const newUser = (member: MemberId): UserItem => ({
  member,
  attributes: {},
  floor: STAMP_ZERO,
  review: false,
  revision: 0,
  writes: 0,
});

/** The user after the change; undefined where the change says nothing new. */
function joined(
  current: UserItem | undefined,
  change: UserChange,
  matched: ReadonlySet<string>,
): UserItem | undefined {
  const before = current ?? newUser(change.user);
  const attributes = new Map<string, Register<string>>(Object.entries(before.attributes));
  let isNews = current === undefined;
  let mustBeHeard = current === undefined;
  let changesMatch = false;
  for (const [name, register] of change.attributes) {
    const stored = attributes.get(name);
    const winner = join(stored, register);
    if (winner === stored) continue;
    attributes.set(name, winner);
    isNews ||= stored?.stamp !== winner.stamp || stored.value !== winner.value;
    changesMatch ||= matched.has(name) && stored?.value !== winner.value;
  }
  const floor = laterStamp(before.floor, change.deleted);
  mustBeHeard ||= changesMatch || floor !== before.floor;
  if (!isNews && !mustBeHeard) return undefined;
  const revision = before.revision + (mustBeHeard ? 1 : 0);
  return {
    ...before,
    attributes: Object.fromEntries(attributes),
    floor,
    review: before.review || (changesMatch && before.role !== undefined),
    revision,
    writes: before.writes + 1,
    ...(mustBeHeard ? { walk: revision } : {}),
  };
}

function itemOf(connection: ConnectionName, user: UserItem): Item {
  const { role, walk, attributes, ...rest } = user;
  return {
    ...userKey(connection, user.member),
    ...rest,
    ...OF_THIS_SCHEMA,
    attributes: attributes as { readonly [name: string]: { value: string; stamp: string } },
    ...(role === undefined ? {} : { role }),
    ...(walk === undefined
      ? {}
      : {
          walk,
          gpk: indexPartition('walks', connection, shardOf(user.member)),
          gsk: keyPart(user.member),
        }),
  };
}

const parseUser = (item: Item): UserItem =>
  understood(UserItem, item, `a directory user at sort key ${item.sk}`);

function stateOf(user: UserItem): UserState {
  const { member, floor, review, revision, role, walk } = user;
  return {
    member,
    attributes: new Map(Object.entries(user.attributes)),
    floor,
    review,
    revision,
    walking: walk !== undefined,
    ...(role === undefined ? {} : { role }),
  };
}
