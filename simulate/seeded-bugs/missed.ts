import { any, equal, type Item, less, missing } from '../../shared/store/table.ts';
import { at, atGroups, atTable, type Bug } from '../seeding.ts';

/** Bugs that earlier versions of the invariant checks did not find. */
export const MISSED_BUGS: Readonly<Record<string, Bug>> = {
  wrong_actor: [
    'the audit entry of a write names a false event and a false actor',
    at('audit', (audit) => ({
      record: (ref, entry) => {
        if (!entry.cause.startsWith('event ')) return audit.record(ref, entry);
        const cause = entry.cause.replace(' of ', '-of-another of ');
        return audit.record(ref, { ...entry, cause, actor: { kind: 'directory', id: 'another' } });
      },
    })),
  ],
  present_expires: [
    'the register of a present member has an expiry time',
    atTable((table) => ({
      put: (item, when) =>
        table.put(item['presence'] === 'present' ? { ...item, expiresAt: 1_900_000_000 } : item, when),
      update: (key, { set = {}, ...change }, ...how) => {
        const isPresent = set['presence'] === 'present';
        const more = isPresent ? { set: { ...set, expiresAt: 1_900_000_000 } } : { set };
        return table.update(key, { ...change, ...more, ...(isPresent && { remove: [] }) }, ...how);
      },
    })),
  ],
  scim_saves_blindly: [
    'a SCIM request overwrites a change that another request made at the same time',
    atTable((table) => ({
      update: (key, change, ...[when, ...how]) => {
        const isSave = key.pk.startsWith('S#') && change.set?.['revision'] !== undefined;
        return table.update(key, change, isSave ? undefined : when, ...how);
      },
    })),
    '"way":{"form":"scim_request","time":"none","lateMs":[1-9]',
  ],
  marked_once: [
    'a change of settings does not reach a new group that the late index lacks',
    at('index', (index, _, actor) => ({
      async *all(connection, which) {
        if (actor !== 'pump' || which !== undefined) yield* index.all(connection, which);
      },
    })),
    // This pattern selects every fourth seed: the seeds with a late index.
    '"seed":(?:[37]|[0-9]*(?:[02468][37]|[13579][159])),.*"group":"new-',
  ],
  levels_lie: [
    'the metrics of the group states show no waiting, held or failed group',
    at('index', (index, { clock }) => ({
      async *all(connection, which) {
        for await (const page of index.all(connection, which)) {
          const lying = page.map(({ failedAtMs: _, dirtySinceMs, ...one }) => {
            const since = dirtySinceMs === undefined ? {} : { dirtySinceMs: clock() };
            return { ...one, ...since, holdWaits: false };
          });
          yield which === 'unsettled' ? lying : page;
        }
      },
    })),
  ],
  holds_unlisted: [
    'holds are missing from the list of holds',
    at('index', (index) => ({
      async *all(connection, which) {
        for await (const page of index.all(connection, which))
          yield which === undefined ? page.map((one) => ({ ...one, hasHolds: false })) : page;
      },
    })),
  ],
  forget_keeps: [
    'the erasure of a person keeps the attributes of the member',
    atTable((table) => ({
      put: async (item, when) => {
        if (item.sk !== 'USER' || item['erasedMs'] === undefined) return table.put(item, when);
        const { attributes = item['attributes'] } = ((await table.get(item)) ?? {}) as Partial<Item>;
        return table.put({ ...item, attributes } as Item, when);
      },
    })),
    '"kind":"forget","member":"[ph][0-9]+"}}',
  ],
  ties_by_arrival: [
    'if two values have equal stamps, the value that arrives later wins',
    atTable((table) => ({
      update: (key, change, ...[when, ...how]) => {
        const { stamp, presence } = change.set ?? {};
        if (typeof stamp !== 'string' || presence === undefined)
          return table.update(key, change, when, ...how);
        const isNews = any(missing('stamp'), less('stamp', stamp), equal('stamp', stamp));
        return table.update(key, change, isNews, ...how);
      },
    })),
    '"eventId":"tied',
  ],
  user_change_unheard: [
    'a new user id of an employee is ignored',
    at('people', (people) => ({
      save: (connection, { userId, ...facts }, seen) => {
        const known = seen?.userId ?? userId;
        return people.save(connection, { ...facts, ...(known !== undefined && { userId: known }) }, seen);
      },
    })),
    '"change_user_id"',
  ],
  stranger_writes: [
    'a PUT is sent to the wrong platform group',
    atGroups((groups) => ({
      put: async (id, fields, version) => {
        const other = (await groups.list(60_000)).find((group) => group.id !== id);
        if (other === undefined || !('version' in other)) return groups.put(id, fields, version);
        return groups.put(other.id as never, fields, other.version as never);
      },
    })),
  ],
};
