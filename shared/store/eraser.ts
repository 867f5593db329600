import pMap from 'p-map';
import * as z from 'zod';
import { fieldName, type MatchRule, soughtValues } from '../contract/match-rule.ts';
import { matchRules } from '../contract/settings.ts';
import type { Delivery } from '../domain/delivery.ts';
import { DAY_MS } from '../domain/duration.ts';
import { groupFloor, memberCounts, NO_GROUP } from '../domain/group.ts';
import {
  type ConnectionName,
  connectionName,
  type GroupRef,
  type MemberId,
  memberId,
  type RoleId,
} from '../domain/ids.ts';
import { laterStamp, stampTimeMs } from '../domain/stamp.ts';
import type { UserState } from '../sync/ports/desired.ts';
import type { Erased } from '../sync/ports/eraser.ts';
import { ERASING, journalOf } from '../sync/ports/logs.ts';
import type { Person } from '../sync/ports/people.ts';
import { createConnectionStore } from './connection-store.ts';
import { TOMBSTONE_LIFETIME_MS } from './desired-store.ts';
import { parseGroup, parseMember } from './group-item.ts';
import {
  DRIFT_PREFIX,
  groupKey,
  isAuditKey,
  journalKey,
  keyPart,
  memberKey,
  resourceKey,
  tombstoneKey,
} from './keys.ts';
import { createPeopleStore } from './people-store.ts';
import { equal, type Item, type Key, type Table, type TablePart } from './table.ts';
import { createUserStore } from './user-store.ts';

const WRITES_IN_FLIGHT = 16;
const SORTS: Readonly<Record<string, string>> = {
  D: 'deliveries',
  G: 'groupsAndMemberships',
  U: 'directoryUsers',
  N: 'namesOfUsers',
  R: 'employees',
  P: 'pointersToEmployees',
  PU: 'pointersToEmployees',
  S: 'scimResources',
  SL: 'scimResources',
  SX: 'scimValues',
  ST: 'scimTokens',
  L: 'claimsOfGroups',
};

/** Erases data by a scan of the table, because the keys are not known. Each method can be repeated after a crash. */
export function createEraser(table: Table) {
  /** @param erase returns the kind of the erased data; undefined if nothing was erased */
  const eraseAll = async (erase: (item: Item) => Promise<string | undefined>, part?: TablePart) => {
    const erased: Record<string, number> = {};
    for await (const page of table.scan(part)) {
      const sorts = await pMap(page, erase, { concurrency: WRITES_IN_FLIGHT });
      for (const sort of sorts) if (sort !== undefined) erased[sort] = (erased[sort] ?? 0) + 1;
    }
    return erased;
  };

  const users = createUserStore(table);
  const people = createPeopleStore(table);
  const connections = createConnectionStore(table, { clock: () => 0, rememberMs: 0 });

  const matchedBy = async (rule: MatchRule, connection: ConnectionName, user: UserState) => {
    const field = fieldName(rule.employeeField);
    const found: Person[] = [];
    for (const value of soughtValues(rule, user))
      if (value !== '') found.push(...(await people.holding(connection, field, value)));
    return found;
  };

  /**
   * Whether the member is bound to an employee who may be a group member, or would match such an employee. The data of
   * this member must stay, because an event with only the id may add the member to a group again.
   */
  const isEmployed = async (connection: ConnectionName, user: UserState): Promise<boolean> => {
    // If the settings cannot be read, the data stays, because the person may still be employed.
    const found = await connections.current(connection).catch(() => 'unreadable' as const);
    if (found === 'unreadable') return true;
    const settings = found?.settings;
    const mayBeMember = ({ state }: Person) =>
      state === 'ACTIVE' || settings?.includeStates.some((one) => one === state) === true;
    if (user.role !== undefined) return (await people.rolesOf(connection, user)).some(mayBeMember);
    if (settings === undefined) return false;
    for (const rule of matchRules(settings)) {
      if ((await matchedBy(rule, connection, user)).some(mayBeMember)) return true;
    }
    return false;
  };

  /**
   * Whether the member has left and still has data: all values were set before `overMs`, no identity provider lists the
   * member, no employee matches, and all memberships ended before `overMs`.
   */
  const hasLeft = async (connection: ConnectionName, user: UserState, overMs: number) => {
    const values = [...user.attributes.values()].filter(({ value }) => value !== '');
    if (values.length === 0 || values.some(({ stamp }) => stampTimeMs(stamp) >= overMs)) return false;
    if ((await table.get(resourceKey(connection, 'User', user.member))) !== undefined) return false;
    if (await isEmployed(connection, user)) return false;
    for await (const groups of users.groupsOf(connection, user.member)) {
      const refs = groups.map((group) => ({ connection, group }));
      if (await belongs(user, refs, { table, overMs })) return false;
    }
    return true;
  };

  /**
   * Erases a leaver's attributes, and the values of roles that are not active. @returns whether it erased attributes
   */
  const eraseLeaver = async (connection: ConnectionName, member: MemberId, nowMs: number) => {
    // An item that cannot be read is skipped, so that it does not stop the erasure of other users. Other code reports
    // the item.
    const user = (await users.read(connection, [member]).catch(() => undefined))?.get(member);
    if (user === undefined || !(await hasLeft(connection, user, nowMs - TOMBSTONE_LIFETIME_MS))) return false;
    const roles = await people.rolesOf(connection, user);
    for (const role of roles.filter(({ state }) => state !== 'ACTIVE'))
      await people.save(connection, { ...role, values: new Map() }, role);
    return (await users.forget(connection, member, nowMs)) !== 0;
  };

  /** Erases the name of an item's actor, if `isPerson` recognises the person by the actor's other fields. */
  const eraseActorName = async (
    { pk, sk, actor }: Item,
    isPerson: (actor: Readonly<Record<string, string | null>>) => boolean,
  ): Promise<boolean> => {
    const { name, ...nameless } = Actor.safeParse(actor).data ?? {};
    if (name == null || !isPerson(nameless)) return false;
    const set = { actor: 'role' in nameless ? { ...nameless, name: null } : nameless };
    return (await table.update({ pk, sk }, { set }, equal('actor.name', name))).written;
  };

  return {
    /**
     * Erases the data of people who were in no group and had no event for 430 days, and are neither employees nor SCIM
     * users. Each day, it scans one thirtieth of the table. Events of that age are refused, so the data cannot come back.
     */
    leavers: (nowMs: number): Promise<Erased> => {
      const part = { index: Math.floor(nowMs / DAY_MS) % PARTS, of: PARTS };
      return eraseAll(async ({ pk, sk, member }) => {
        if (!pk.startsWith('U#') || sk !== 'USER') return undefined;
        const connection = connectionName(pk.split('#')[1] ?? '');
        const isErased = await eraseLeaver(connection, memberId(String(member)), nowMs);
        return isErased ? 'leavers' : undefined;
      }, part);
    },

    /** Erases a removed connection, except its name and the record of the erasure. */
    connection: (connection: ConnectionName): Promise<Erased> =>
      eraseAll(async (item) => {
        if (!isOf(connection, item) || isKept(connection, item)) return undefined;
        await table.delete({ pk: item.pk, sk: item.sk });
        return sortOf(item);
      }),

    /** Erases values that identify a person, and the person's name as an actor, except in the audit. */
    person: (connection: ConnectionName, { member, roles, hashes }: ErasedPerson) => {
      const ids = new Set<unknown>(roles);
      const sorts = new Set([...roles].map(keyPart));
      const isPerson: Parameters<typeof eraseActorName>[1] = (actor) =>
        actor['id'] === member || ids.has(actor['role']);
      return eraseAll(async (item) => {
        const { pk, sk } = item;
        if (!isOf(connection, item) || isAuditKey(item)) return undefined;
        const isNames = pk.startsWith('N#') && item['member'] === member;
        if (isNames || isPointer(item, sorts) || isDeliveryAbout(item, member, hashes)) {
          await table.delete({ pk, sk });
          return sortOf(item);
        }
        return (await eraseActorName(item, isPerson)) ? 'namesOfActors' : undefined;
      });
    },
  };
}

interface ErasedPerson {
  readonly member: MemberId;
  readonly roles: ReadonlySet<RoleId>;
  /** The hashes of the person's values in searches of SCIM clients. */
  readonly hashes: ReadonlySet<string>;
}

const isPointer = ({ pk, sk }: Key, sorts: ReadonlySet<string>): boolean =>
  pk.startsWith('P#') && sorts.has(sk);

/** Whether an item is a delivery that names the member, or in which a client searched for a value of the member. */
function isDeliveryAbout(item: Item, member: MemberId, hashes: ReadonlySet<string>): boolean {
  const { members, filter } = item as Partial<Pick<Delivery, 'members' | 'filter'>>;
  return item.pk.startsWith('D#') && (members?.includes(member) === true || hashes.has(filter?.hash ?? ''));
}

const PARTS = 30;

/** Whether the member is in one of the groups, or left one after `overMs`, which each stored tombstone shows. */
async function belongs(
  { member, floor }: UserState,
  refs: readonly GroupRef[],
  { table, overMs }: { readonly table: Table; readonly overMs: number },
): Promise<boolean> {
  const keys = refs.flatMap((ref) => [groupKey(ref), memberKey(ref, member)]);
  const items = new Map((await table.getMany(keys)).map((item) => [`${item.pk} ${item.sk}`, item]));
  const itemAt = ({ pk, sk }: Key) => items.get(`${pk} ${sk}`);
  return refs.some((ref) => {
    const [group, member_] = [itemAt(groupKey(ref)), itemAt(memberKey(ref, member))];
    if (member_ === undefined) return false;
    const register = parseMember(member_);
    const ended = groupFloor(group === undefined ? NO_GROUP : parseGroup(ref, group).registers);
    const isOver = register.value === 'present' && !memberCounts(register, ended, floor);
    return !isOver || stampTimeMs(laterStamp(ended, floor)) > overMs;
  });
}

/** The actor in an item: an id in the directory, or a role on the platform. The name may be absent. */
const Actor = z.lazy(() => z.record(z.string(), z.nullable(z.string())));

/**
 * Whether an item belongs to the connection. Some kinds of items have an attribute with the name of the connection. All
 * other items have the name in their key, which can be split, because the name contains no `#`.
 */
function isOf(connection: ConnectionName, item: Item): boolean {
  const [kind = '', name] = item.pk.split('#');
  return kind === 'ST' || kind === 'L' ? item['connection'] === connection : name === connection;
}

/**
 * Whether the erasure keeps an item. It keeps the tombstone (which reserves the name for the company), the journal's
 * item, and the audit entry of the erasure.
 */
const isKept = (connection: ConnectionName, { pk, sk, action }: Item): boolean =>
  [tombstoneKey(connection), journalKey(journalOf(connection))].some(
    (kept) => kept.pk === pk && kept.sk === sk,
  ) ||
  (isAuditKey({ pk, sk }) && action === ERASING);

function sortOf({ pk, sk }: Key): string {
  if (isAuditKey({ pk, sk })) return 'auditEntries';
  if (sk.startsWith(DRIFT_PREFIX)) return 'driftRecords';
  return SORTS[pk.split('#')[0] ?? ''] ?? 'state';
}
