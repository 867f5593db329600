import pMap from 'p-map';
import { type ConnectionName, type MemberId, memberId, type RoleId, roleId } from '../domain/ids.ts';
import { type Binding, type BoundTo, Person } from '../sync/ports/people.ts';
import { queryIndex } from './group-index.ts';
import { OF_THIS_SCHEMA, plain, understood } from './item-form.ts';
import {
  boundMemberItem,
  MEMBER_PREFIX,
  personKey,
  pointerKey,
  pointerPartition,
  UNPROVEN_PREFIX,
  userKey,
  userRolesPartition,
} from './keys.ts';
import { all, any, eachOf, equal, type Item, itemsOf, less, missing, type Table } from './table.ts';

const WRITES_IN_FLIGHT = 8;
const READS_IN_FLIGHT = 32;

/**
 * Stores people. The data of a role is in its PERSON item. Pointer items help to find roles: a P# item leads from a
 * value to a role, and a PU# item leads from a user id to a role. A pointer is written before its PERSON item, and
 * deleted after that item has changed. So a search by a value finds every role with the value. The search may also find
 * a role that no longer has the value, which the PERSON item then shows. A pointer contains the revision for which it
 * was written. So a slow refresh cannot delete a pointer of a later refresh.
 */
export function createPeopleStore(table: Table) {
  const read = async (connection: ConnectionName, roles: readonly RoleId[]) => {
    const items = await table.getMany(roles.map((role) => personKey(connection, role)));
    const people = items.map((item): Person => understood(Person, item, `a person at ${item.pk}`));
    return new Map(people.map((person) => [person.role, person]));
  };

  const pointedTo = async (partition: string) => {
    const pointers = await itemsOf(table, { partition });
    return pointers.map(({ role }) => roleId(String(role)));
  };

  const holdingWith =
    (ahead = new Map<string, readonly RoleId[]>()) =>
    async (
      connection: ConnectionName,
      field: string,
      value: string,
      noting?: MemberId,
    ): Promise<Person[]> => {
      const partition = pointerPartition(connection, field, value);
      const asked = ahead.get(partition);
      ahead.delete(partition);
      const roles = asked ?? (await pointedTo(partition));
      if (noting !== undefined)
        await Promise.all(roles.map((role) => table.put(boundMemberItem(connection, role, noting, false))));
      const people = [...(await read(connection, roles)).values()];
      const found = people.filter(({ values }) => values.get(field) === value);
      // If the pointers that were read in advance lead to no person, the value may have moved to another role. So the
      // pointers are read again.
      return asked?.length && found.length === 0 ? holding(connection, field, value, noting) : found;
    };
  const holding = holdingWith();

  const ofUser = async (connection: ConnectionName, userId: string) => {
    const roles = await pointedTo(userRolesPartition(connection, userId));
    const people = [...(await read(connection, roles)).values()];
    return people.filter((one) => one.userId === userId);
  };

  return {
    read,
    /**
     * Returns all persons who have the value now.
     * @param noting a member who may be bound to one of these persons. The method stores a note about the member with
     * each person before it reads the person. So a later change of the person reaches the member's groups
     */
    holding,
    ofUser,

    /** Returns every role of the binding's user, for both values of `memberIdField`. */
    async rolesOf(connection: ConnectionName, { role, userId }: Partial<BoundTo>) {
      const record = role && (await read(connection, [role])).get(role);
      const roles = new Map(record ? [[record.role, record]] : []);
      for (const user of new Set([userId, record?.userId])) {
        const found = user === undefined ? [] : await ofUser(connection, user);
        for (const one of found) roles.set(one.role, one);
      }
      return [...roles.values()];
    },

    /**
     * Reads in advance the persons who may have these values.
     * @returns a `holding` that uses this result for its first call with each value
     */
    async ahead(connection: ConnectionName, sought: readonly { field: string; value: string }[]) {
      const partitions = sought.map(({ field, value }) => pointerPartition(connection, field, value));
      const ask = async (one: string) => [one, await pointedTo(one)] as const;
      const roles = new Map(await pMap(partitions, ask, { concurrency: READS_IN_FLIGHT }));
      return { holding: holdingWith(roles) };
    },

    /**
     * Binds the member to this person. A binding to another role stays. If the member has changed since `revision` was
     * read, binds nothing. For a first binding, `holding` must have noted the member. For a later binding, this method
     * notes the member.
     * @returns the person that the member is bound to now; the given person if the member has no binding
     */
    async bind(
      connection: ConnectionName,
      member: MemberId,
      { revision, isFirst, ...boundTo }: BoundTo & { readonly revision: number; readonly isFirst: boolean },
    ) {
      const { role } = boundTo;
      if (!isFirst) await table.put(boundMemberItem(connection, role, member));
      const { written } = await table.update(
        userKey(connection, member),
        { set: { member, ...boundTo }, add: { writes: 1 }, remove: ['review'] },
        // Also true for a member without a user item, because such a member never had an attribute.
        all(
          revision === 0 ? any(missing('revision'), equal('revision', 0)) : equal('revision', revision),
          any(missing('role'), equal('role', role)),
        ),
      );
      if (written) return boundTo;
      const user: Partial<Item> = (await table.get(userKey(connection, member))) ?? {};
      const { role: stored, userId } = user;
      if (typeof stored !== 'string') return boundTo;
      return { role: roleId(stored), ...(typeof userId === 'string' && { userId }) };
    },

    /*
     * Two refreshes of one role may overlap: refresh 1 changes a value from a to b, and refresh 2 changes it back to a.
     * Refresh 1 deletes the pointer of a only if its revision is below 2, so the pointer of refresh 2 stays.
     *
     *     refresh 1   PERSON item with value b, revision 2 ──────────────────────────▶ deletes the pointer of a
     *     refresh 2        └▶ pointer of a, revision 3 ──▶ PERSON item with value a, revision 3
     */
    /**
     * Replaces a stored person. Returns false if the stored person differs from `seen`. `fanOutDue` stays stored until
     * `clearFanOutDue`, so a crash between the two calls loses no wake-up.
     */
    async save(
      connection: ConnectionName,
      { values, fanOutDue, ...facts }: Omit<Person, 'revision'>,
      seen: Person | undefined,
    ) {
      const { role } = facts;
      const revision = (seen?.revision ?? 0) + 1;
      const keysOf = (one: Pick<Person, 'values' | 'userId'> | undefined) => {
        const partitions = [...(one?.values ?? [])].map(([field, value]) =>
          pointerPartition(connection, field, value),
        );
        if (one?.userId !== undefined) partitions.push(userRolesPartition(connection, one.userId));
        return new Map(partitions.map((partition) => [partition, pointerKey(partition, role)]));
      };
      const pointers = keysOf({ ...facts, values });
      const inFlight = { concurrency: WRITES_IN_FLIGHT };
      const isOlder = any(missing('revision'), less('revision', revision));
      // A new person has no earlier revision, so its pointers are written without a condition. Such writes can be sent
      // in batches.
      const when = seen === undefined ? undefined : isOlder;
      await pMap(pointers.values(), (key) => table.put({ ...key, role, revision }, when), inFlight);
      const saved = await table.put(
        {
          ...personKey(connection, role),
          ...OF_THIS_SCHEMA,
          ...plain(facts),
          values: Object.fromEntries(values),
          revision,
          ...(fanOutDue ? { fanOutDue } : {}),
        },
        seen === undefined ? missing('pk') : equal('revision', seen.revision),
      );
      if (!saved) return false;
      const outdated = [...keysOf(seen)].filter(([partition]) => !pointers.has(partition));
      await pMap(outdated, ([, key]) => table.delete(key, isOlder), inFlight);
      return true;
    },

    /** Clears `fanOutDue` of persons whose groups were woken. If a person has changed again, `fanOutDue` stays. */
    async clearFanOutDue(connection: ConnectionName, persons: readonly Pick<Person, 'role' | 'revision'>[]) {
      await pMap(
        persons,
        ({ role, revision }) =>
          table.update(
            personKey(connection, role),
            { remove: ['fanOutDue', 'previousUserId'] },
            equal('revision', revision),
          ),
        { concurrency: WRITES_IN_FLIGHT },
      );
    },

    /** Returns the bindings of members that are or were bound to the role. A member may now be bound to another role. */
    membersBoundTo(connection: ConnectionName, role: RoleId): AsyncIterable<readonly Binding[]> {
      const wanted = { partition: personKey(connection, role).pk, prefix: MEMBER_PREFIX };
      return eachOf(table.query(wanted), bindingOf);
    },

    /** Returns all current and former bindings. The latest may be missing (eventually consistent index). */
    bound: (connection: ConnectionName) => eachOf(queryIndex(table, 'bound', connection), bindingOf),

    async prove(connection: ConnectionName, { role, member }: Binding): Promise<void> {
      await table.put(boundMemberItem(connection, role, member));
    },
  };
}

const bindingOf = ({ role, member, gsk }: Item): Binding => ({
  role: roleId(String(role)),
  member: memberId(String(member)),
  isProven: !String(gsk).startsWith(UNPROVEN_PREFIX),
});
