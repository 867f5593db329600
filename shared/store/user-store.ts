import { isDeepStrictEqual } from 'node:util';
import pMap from 'p-map';
import { MAX_ATTRIBUTE_BYTES, MAX_ATTRIBUTES_PER_MEMBER } from '../contract/events/bounds.ts';
import { excludedBy } from '../contract/exclusion.ts';
import { type MatchRule, soughtValues } from '../contract/match-rule.ts';
import { type ConnectionSettings, matchRules } from '../contract/settings.ts';
import { ACTIVE_ATTRIBUTE } from '../domain/active.ts';
import type { EventActor } from '../domain/event.ts';
import type { UserCopy } from '../domain/group.ts';
import {
  type ConnectionName,
  type GroupId,
  type GroupRef,
  groupId,
  type MemberId,
  memberId,
  type RoleId,
} from '../domain/ids.ts';
import { compareUtf8, join, type Register } from '../domain/register.ts';
import { laterStamp, stampTimeMs } from '../domain/stamp.ts';
import type { JoinedUser, UserUpdate } from '../sync/ports/desired.ts';
import { attributeKey, UserState, undescribed } from '../sync/ports/desired.ts';
import type { BoundTo } from '../sync/ports/people.ts';
import { StoreError } from '../sync/ports/store-errors.ts';
import { queryIndex } from './group-index.ts';
import { OF_THIS_SCHEMA, understood } from './item-form.ts';
import {
  boundMemberItem,
  IN_PREFIX,
  indexPartition,
  keyPart,
  memberKey,
  NAME_SHARDS,
  namesKey,
  namesPartition,
  shardOf,
  userKey,
} from './keys.ts';
import { all, any, eachOf, equal, exists, type Item, itemsOf, less, missing, type Table } from './table.ts';

/**
 * The maximum number of attempts to write one user while other writes change the user. More attempts would be a sign of
 * a defect.
 */
const MAX_RACES = 50;
const WRITES_IN_FLIGHT = 32;

/** @param onDropped called for each user with too many or too long attributes, with the number of dropped values */
export function createUserStore(
  table: Table,
  onDropped: (connection: ConnectionName, member: MemberId, dropped: number) => void = () => {},
) {
  const read = async (connection: ConnectionName, members: readonly MemberId[]) => {
    const items = await table.getMany(members.map((member) => userKey(connection, member)));
    return new Map(items.map(parseUser).map((user) => [user.member, user]));
  };

  const find = async (connection: ConnectionName, member: MemberId): Promise<UserState | undefined> => {
    const item = await table.get(userKey(connection, member));
    return item && parseUser(item);
  };

  /** Writes the values by which a search finds the user. A changed user is written after them, so it cannot lack them. */
  const writeNames = async (connection: ConnectionName, user: UserState, before?: UserState | 'unknown') => {
    const { member, attributes } = user;
    const names = namesOf(attributes);
    if (before !== 'unknown' && isDeepStrictEqual(names, namesOf(before?.attributes))) return;
    const key = namesKey(connection, member);
    if (names.length === 0) await table.delete(key);
    else await table.put({ ...key, member, names });
  };

  /**
   * Computes the new state from `known` and writes it if the item has not changed. If the item has changed, computes
   * the new state from the current item and tries again.
   * @param next the user after the change; undefined if the change adds nothing
   */
  async function changeUser(
    connection: ConnectionName,
    member: MemberId,
    next: (current: UserState | undefined) => UserState | undefined,
    known?: UserState,
  ): Promise<UserState> {
    let current = known;
    for (let race = 0; race < MAX_RACES; race += 1) {
      const changed = next(current);
      // Another write may have stored its values after the names of this one. So after a race, the names are written again.
      const latest = changed ?? current ?? undescribed(member);
      await writeNames(connection, latest, race === 0 ? current : 'unknown');
      if (changed === undefined) return latest;
      if (await table.put(itemOf(connection, changed), isStill(current))) return changed;
      current = await find(connection, member);
    }
    throw new StoreError(`gave up after ${MAX_RACES} concurrent writes of one user`);
  }

  /** Changes the binding to the role `from`. @returns undefined if the member is no longer bound to this role */
  async function changeBinding(
    connection: ConnectionName,
    member: MemberId,
    from: RoleId,
    next: (user: UserState) => UserState,
  ): Promise<UserState | undefined> {
    let isBound = false;
    const user = await changeUser(
      connection,
      member,
      (current) => {
        isBound = current?.role === from;
        return current !== undefined && isBound ? next(current) : undefined;
      },
      await find(connection, member),
    );
    return isBound ? user : undefined;
  }

  return {
    read,

    /**
     * Joins attributes and floor with the stored users. A write raises the revision if it creates a user, moves the
     * floor, or changes `ACTIVE_ATTRIBUTE` or an attribute of `match` or `people.exclude`. If the user existed before, such a
     * write also opens the fan-out. A bound member needs a review only if a match rule now compares another value.
     * @param recalled the stored users, if the caller has read them
     * @returns each user after the write, or the reason why the user could not be written
     */
    async join(
      connection: ConnectionName,
      changes: readonly UserUpdate[],
      settings?: Decisive,
      recalled?: ReadonlyMap<MemberId, UserState>,
    ) {
      const members = changes.map(({ user }) => user);
      const known = recalled ?? (await read(connection, members));
      return pMap(
        changes,
        async (change): Promise<JoinedUser> => {
          const { user } = change;
          try {
            let dropped = 0;
            const next = (current: UserState | undefined) => {
              const result = joined(current, change, settings);
              dropped = result.dropped;
              return result.next;
            };
            const state = await changeUser(connection, user, next, known.get(user));
            if (dropped > 0) onDropped(connection, user, dropped);
            return { user, state };
          } catch (cause) {
            return { user, cause };
          }
        },
        { concurrency: WRITES_IN_FLIGHT },
      );
    },

    /**
     * Stores a user whose id no other request knows yet. The write has no condition, and shares one request with other
     * such writes. If the request gets no answer, it is not retried, and the method throws.
     */
    async addNew(connection: ConnectionName, change: UserUpdate): Promise<void> {
      const { next } = joined(undefined, change);
      if (next === undefined) return;
      await Promise.all([
        writeNames(connection, next),
        table.put(itemOf(connection, next), undefined, 'once'),
      ]);
    },

    /** Returns every user with a value of an attribute, for a search by name. The users must fit into memory. */
    async named(connection: ConnectionName) {
      const shards = Array.from({ length: NAME_SHARDS }, (_, shard) =>
        itemsOf(table, { partition: namesPartition(connection, shard) }),
      );
      return (await Promise.all(shards)).flat().map(({ member, names }) => ({
        member: memberId(String(member)),
        attributes: new Map((names as [string, string][]).map(([name, value]) => [name, { value }])),
      }));
    },

    /**
     * Notes that apply read a user who is not stored.
     * @returns false if the user has been stored in the meantime
     */
    noteUnknown: (connection: ConnectionName, member: MemberId): Promise<boolean> =>
      table.put(itemOf(connection, { ...undescribed(member), writes: 1 }), missing('pk')),

    /**
     * Binds the member to this person in place of an earlier binding. The method also ends a review, raises the revision
     * and opens the fan-out.
     * @returns the user after the write
     */
    async rebind(connection: ConnectionName, member: MemberId, to: BoundTo, nowMs: number) {
      await table.put(boundMemberItem(connection, to.role, member));
      return changeUser(connection, member, (current = undescribed(member)) => ({
        ...withBinding(current, to, nowMs),
        review: false,
      }));
    },

    /**
     * Changes the role of the binding from `from`. The effects are those of `rebind`, but a review stays open.
     * @returns undefined if the member is no longer bound to the role `from`
     */
    async followRole(connection: ConnectionName, member: MemberId, from: RoleId, to: BoundTo, nowMs: number) {
      await table.put(boundMemberItem(connection, to.role, member));
      return changeBinding(connection, member, from, (user) => withBinding(user, { ...user, ...to }, nowMs));
    },

    /**
     * Ends the binding to `role`, raises the revision and opens the fan-out. Returns undefined if the member has no such
     * binding.
     */
    unbind: (connection: ConnectionName, member: MemberId, role: RoleId, nowMs: number) =>
      changeBinding(connection, member, role, (user) => ({ ...withBinding(user, {}, nowMs), review: false })),

    groupsOf(connection: ConnectionName, member: MemberId): AsyncIterable<readonly GroupId[]> {
      const wanted = { partition: userKey(connection, member).pk, prefix: IN_PREFIX };
      return eachOf(table.query(wanted), ({ group }) => groupId(String(group)));
    },

    /**
     * Copies the user to a member register, in place of no copy, an older copy, or one of this revision without a role.
     * @param isRenewal whether every copy of the same revision stays as it is
     */
    async copyToMember(
      ref: GroupRef,
      member: MemberId,
      { revision, floor, role, userId }: UserCopy,
      isRenewal = false,
    ) {
      const set = { copyRevision: revision, copyFloor: floor };
      const isOlder = any(missing('copyRevision'), less('copyRevision', revision));
      // A copy with the current revision may still lack the role, because a first binding does not raise the revision.
      const hasNoRole = all(equal('copyRevision', revision), missing('copyRole'));
      await table.update(
        memberKey(ref, member),
        role === undefined
          ? { set, remove: ['copyRole', 'copyUserId'] }
          : { set: { ...set, copyRole: role, ...(userId !== undefined && { copyUserId: userId }) } },
        all(exists('stamp'), isRenewal ? isOlder : any(isOlder, hasNoRole)),
      );
    },

    /**
     * Erases the attribute values of a user, except `ACTIVE_ATTRIBUTE`. Each attribute keeps its stamp, so a replay or an
     * older event cannot restore the value. A newer event can set a value again.
     * @returns the number of erased values; undefined if there is no such user
     */
    async forget(connection: ConnectionName, member: MemberId, atMs: number) {
      const stored = await find(connection, member);
      if (stored === undefined) return undefined;
      let count = 0;
      const erased = (user = undescribed(member)): UserState => {
        const attributes = new Map(user.attributes);
        // The attribute for disabled accounts is not erased: it does not identify a person, and memberships depend on
        // it.
        const erased = [...attributes].filter(
          ([name, { value }]) => name !== ACTIVE_ATTRIBUTE && value !== '',
        );
        for (const [name, { stamp }] of erased) attributes.set(name, { value: '', stamp });
        count = erased.length;
        return { ...user, attributes, erasedMs: atMs, writes: user.writes + 1 };
      };
      await changeUser(connection, member, erased, stored);
      return count;
    },

    async endFanOut(connection: ConnectionName, member: MemberId, revision: number): Promise<void> {
      const change = { remove: ['fanOut', 'gpk', 'gsk'], add: { writes: 1 } };
      const isSame = all(exists('fanOut'), equal('revision', revision));
      await table.update(userKey(connection, member), change, isSame);
    },

    openFanOuts: (connection: ConnectionName): AsyncIterable<readonly MemberId[]> =>
      eachOf(queryIndex(table, 'fanOuts', connection), ({ member }) => memberId(String(member))),
  };
}

/** The maximum number of stored former bindings of a member. Each `rebind` or new role adds one. */
const MAX_FORMER = 16;

/** Replaces the binding. The earlier binding is stored with its end, the revision rises, and the fan-out opens. */
function withBinding(user: UserState, { role, userId }: Partial<BoundTo>, nowMs: number): UserState {
  const { role: earlierRole, userId: earlierUserId, ...unbound } = user;
  const earlier = earlierUserId === undefined ? {} : { userId: earlierUserId };
  const ended = earlierRole === undefined ? [] : [{ role: earlierRole, ...earlier, endMs: nowMs }];
  const revision = user.revision + 1;
  return {
    ...unbound,
    ...(role !== undefined && { role }),
    ...(userId !== undefined && { userId }),
    former: [...user.former, ...ended].slice(-MAX_FORMER),
    revision,
    fanOut: revision,
    writes: user.writes + 1,
  };
}

type Decisive = Pick<ConnectionSettings, 'match' | 'people'>;

/** Returns the user after the change (undefined if the change adds nothing), and the number of dropped attributes. */
function joined(
  current: UserState | undefined,
  { user, attributes: newAttributes, deleted, author, boundTo }: UserUpdate,
  settings: Decisive = { match: [], people: { exclude: [] } },
): { readonly next: UserState | undefined; readonly dropped: number } {
  const before = current ?? undescribed(user);
  const stored = before.attributes;
  const all = joinedAttributes(before, newAttributes);
  // The attributes for match rules, and the attributes that decide whether the memberships count.
  const rules = matchRules(settings);
  const matched = rules.map(({ memberAttribute }) => memberAttribute);
  const decisive = new Set([ACTIVE_ATTRIBUTE, ...matched, ...excludedBy(settings)]);
  const attributes = keptOf(all, decisive);
  const cut = [...newAttributes].filter(([name, register]) => storable(name, register) !== register);
  const dropped = all.size - attributes.size + cut.length;
  const hasOtherValue = ([name, { value }]: NamedRegister) => stored.get(name)?.value !== value;
  const hasOtherStamp = ([name, { stamp }]: NamedRegister) => stored.get(name)?.stamp !== stamp;
  const news = [...attributes].filter((one) => hasOtherStamp(one) || hasOtherValue(one));
  const isDecisive = news.some((one) => decisive.has(one[0]) && hasOtherValue(one));
  // The state of an account and another spelling of an address do not change which person the rules find.
  const changesMatch =
    isDecisive && rules.some((rule) => !findsSame(rule, before, { ...before, attributes }));
  const floor = laterStamp(before.floor, deleted);
  const needsFanOut = current === undefined || isDecisive || floor !== before.floor;
  if (news.length === 0 && !needsFanOut) return { next: undefined, dropped };
  const revision = before.revision + (needsFanOut ? 1 : 0);
  const next = {
    ...before,
    attributes,
    floor,
    review: before.review || (changesMatch && before.role !== undefined),
    revision,
    writes: before.writes + 1,
    // A user without an item needs no fan-out: before a group settles, apply stores a note about each of its members
    // without an item.
    ...(needsFanOut && current !== undefined ? { fanOut: revision } : {}),
    ...(current === undefined ? boundTo : {}),
    ...(author?.stamp === floor ? { author: { ...author, actor: withoutName(author.actor) } } : {}),
  };
  return { next, dropped };
}

const withoutName = ({ name: _, ...actor }: EventActor): EventActor => actor;

/** Whether a rule looks for the same values, in the same order, before and after a change of the user. */
function findsSame(rule: MatchRule, before: UserState, after: UserState): boolean {
  const [sought, soughtAfter] = [before, after].map((user) => JSON.stringify(soughtValues(rule, user)));
  return sought === soughtAfter;
}

type NamedRegister = readonly [name: string, register: Register<string>];

/**
 * Returns the attributes of a user after a change. Values from before an erasure are ignored, except
 * `ACTIVE_ATTRIBUTE`.
 */
function joinedAttributes({ attributes, erasedMs }: UserState, newAttributes: UserUpdate['attributes']) {
  const all = new Map<string, Register<string>>(attributes);
  for (const [name, register] of newAttributes) {
    const isErased = erasedMs !== undefined && stampTimeMs(register.stamp) < erasedMs;
    if (isErased && name !== ACTIVE_ATTRIBUTE) continue;
    all.set(name, join(all.get(name), storable(name, register)));
  }
  return all;
}

/**
 * Replaces a value that is too long by an empty value, which matches no person. The previous value must not stay,
 * because it is no longer correct.
 */
const storable = (name: string, register: Register<string>): Register<string> =>
  Buffer.byteLength(name) + Buffer.byteLength(register.value) > MAX_ATTRIBUTE_BYTES
    ? { value: '', stamp: register.stamp }
    : register;

/**
 * Returns as many attributes as an item can have. Attributes that the settings name come first, then the attributes with the
 * latest stamps. The rank of a dropped attribute never rises, so the result does not depend on the order of arrival.
 */
function keptOf(attributes: ReadonlyMap<string, Register<string>>, decisive: ReadonlySet<string>) {
  if (attributes.size <= MAX_ATTRIBUTES_PER_MEMBER) return attributes;
  const ranked = [...attributes].sort(
    ([a, { stamp: atA }], [b, { stamp: atB }]) =>
      Number(decisive.has(b)) - Number(decisive.has(a)) || compareUtf8(atB, atA) || compareUtf8(a, b),
  );
  return new Map(ranked.slice(0, MAX_ATTRIBUTES_PER_MEMBER));
}

/** The condition that no other write has changed the user since the read. */
const isStill = (user: UserState | undefined) =>
  user === undefined ? missing('pk') : equal('writes', user.writes);

const namesOf = (attributes: UserState['attributes'] = new Map()) =>
  [...attributes].flatMap(([name, { value }]) =>
    name === ACTIVE_ATTRIBUTE || value === '' ? [] : [[name, value]],
  );

function itemOf(connection: ConnectionName, user: UserState): Item {
  const { role, fanOut, attributes, former, ...rest } = user;
  return {
    ...userKey(connection, user.member),
    ...rest,
    ...OF_THIS_SCHEMA,
    attributes: Object.fromEntries(
      [...attributes].map(([name, { value, stamp }]) => [attributeKey(name), { value, stamp }]),
    ),
    ...(former.length === 0 ? {} : { former }),
    ...(role === undefined ? {} : { role }),
    ...(fanOut === undefined ? {} : indexedFanOut(connection, user.member, fanOut)),
  };
}

const indexedFanOut = (connection: ConnectionName, member: MemberId, fanOut: number) => ({
  fanOut,
  gpk: indexPartition('fanOuts', connection, shardOf(member)),
  gsk: keyPart(member),
});

const parseUser = (item: Item) => understood(UserState, item, `a directory user at sort key ${item.sk}`);
