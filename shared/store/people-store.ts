import pMap from 'p-map';
import * as z from 'zod';
import { type ConnectionName, type MemberId, memberId, type RoleId, roleId } from '../domain/ids.ts';
import type { PeopleStore, Person } from '../sync/ports/people.ts';
import { OF_THIS_SCHEMA, understood } from './item-form.ts';
import {
  boundMemberItem,
  indexPartition,
  MEMBER_PREFIX,
  personKey,
  pointerKey,
  pointerPartition,
  SHARDS,
  userKey,
} from './keys.ts';
import { all, any, type Condition, equal, type Item, missing, type Table } from './table.ts';

const PersonItem = z.lazy(() =>
  z.object({
    role: z.string().transform(roleId),
    userId: z.string().exactOptional(),
    state: z.string(),
    values: z.record(z.string(), z.string()).default({}),
    revision: z.number(),
    unheard: z.boolean().default(false),
  }),
);

const WRITES_IN_FLIGHT = 8;

/**
 * PERSON is the truth; P# items point from a value to whoever may hold it. A pointer is written before the person that
 * it points to and deleted after that person has changed, so a search finds everybody, and sometimes somebody who no
 * longer holds the value: PERSON decides.
 */
export function createPeopleStore(table: Table): PeopleStore {
  const read = async (connection: ConnectionName, roles: readonly RoleId[]) => {
    const items = await table.getMany(roles.map((role) => personKey(connection, role)));
    return new Map(items.map(parsePerson).map((person) => [person.role, person]));
  };

  return {
    read,

    async holding(connection, field, value) {
      const roles: RoleId[] = [];
      for await (const page of table.query({ partition: pointerPartition(connection, field, value) })) {
        roles.push(...page.map(({ role }) => roleId(String(role))));
      }
      const people = await read(connection, roles);
      return [...people.values()].filter(({ values }) => values.get(field) === value);
    },

    async bind(connection, member, { role, revision }) {
      await table.put(boundMemberItem(connection, role, member));
      const { written } = await table.update(
        userKey(connection, member),
        { set: { member, role }, add: { writes: 1 }, remove: ['review'] },
        all(stillAt(revision), any(missing('role'), equal('role', role))),
      );
      if (written) return role;
      const user = await table.get(userKey(connection, member));
      return typeof user?.['role'] === 'string' ? roleId(user['role']) : role;
    },

    async save(connection, facts, seen) {
      const previous = seen?.values ?? new Map<string, string>();
      await eachPointer(connection, facts.values, (key) => table.put({ ...key, role: facts.role }));
      const revision = (seen?.revision ?? 0) + 1;
      const saved = await table.put(
        {
          ...personKey(connection, facts.role),
          ...OF_THIS_SCHEMA,
          role: facts.role,
          state: facts.state,
          values: Object.fromEntries(facts.values),
          revision,
          ...(facts.unheard ? { unheard: true } : {}),
          ...(facts.userId === undefined ? {} : { userId: facts.userId }),
        },
        seen === undefined ? missing('pk') : equal('revision', seen.revision),
      );
      if (!saved) return false;
      const outdated = new Map([...previous].filter(([field, value]) => facts.values.get(field) !== value));
      await eachPointer(connection, outdated, (key) => table.delete(key));
      return true;

      function eachPointer(
        name: ConnectionName,
        values: ReadonlyMap<string, string>,
        act: (key: ReturnType<typeof pointerKey>) => Promise<unknown>,
      ) {
        return pMap(
          values,
          ([field, value]) => act(pointerKey(pointerPartition(name, field, value), facts.role)),
          { concurrency: WRITES_IN_FLIGHT },
        );
      }
    },

    async heard(connection, persons) {
      await pMap(
        persons,
        ({ role, revision }) =>
          table.update(personKey(connection, role), { remove: ['unheard'] }, equal('revision', revision)),
        { concurrency: WRITES_IN_FLIGHT },
      );
    },

    async *membersBoundTo(connection, role) {
      const { pk } = personKey(connection, role);
      for await (const page of table.query({ partition: pk, prefix: MEMBER_PREFIX })) {
        yield page.map(({ member }): MemberId => memberId(String(member)));
      }
    },

    async *bound(connection) {
      for (let shard = 0; shard < SHARDS; shard += 1) {
        const partition = indexPartition('bound', connection, shard);
        for await (const page of table.query({ partition, index: true })) {
          yield page.map(({ role }) => roleId(String(role)));
        }
      }
    },
  };
}

/** Users of members that never carried an attribute have no item yet. */
const stillAt = (revision: number): Condition =>
  revision === 0 ? any(missing('revision'), equal('revision', 0)) : all(equal('revision', revision));

function parsePerson(item: Item): Person {
  const { values, ...person } = understood(PersonItem, item, `a person at ${item.pk}`);
  return { ...person, values: new Map(Object.entries(values)) };
}
