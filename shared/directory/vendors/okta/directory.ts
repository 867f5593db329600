import * as z from 'zod';
import { jsonValue } from '../../../contract/json.ts';
import { groupId, memberId } from '../../../domain/ids.ts';
import type {
  Directory,
  DirectoryChanges,
  DirectoryGroup,
  DirectoryMember,
  DirectoryPage,
  DirectoryUser,
  NamedMember,
  ReportedChange,
} from '../../ports.ts';
import type { DirectoryWorld } from '../exchange.ts';
import { namedValues, vendorName } from '../named-attributes.ts';
import { unlessMissing } from '../steps.ts';
import { type ApiOptions, createApi, type OktaApi, pathOf } from './api.ts';
import { firstPoll, pollLog } from './log.ts';
import { Group, type LogEvent, User } from './schemas.ts';

/** The page size for groups, members and users. Okta plans to lower the default. All these lists accept 200. */
const PAGE_SIZE = '200';

interface List<Item extends z.ZodType> {
  readonly operation: string;
  /** Path and query of the first page. */
  readonly path: string;
  readonly item: Item;
  /** See {@link ApiCall.isFixed}. */
  readonly isFixed?: boolean;
}

const listPages = <Item extends z.ZodType>(
  api: OktaApi,
  { operation, path, item, isFixed = false }: List<Item>,
): AsyncGenerator<DirectoryPage<z.infer<Item>>> =>
  api.pages(operation, async (next = path) => {
    const answer = await api.list({ operation, path: next, body: z.array(item), isFixed });
    return { items: answer.body as readonly z.infer<Item>[], asOfMs: answer.asOfMs, next: answer.next };
  });

/** The smallest scopes that read groups with their members, users and the log. */
export const SCOPES = {
  groups: 'okta.groups.read',
  users: 'okta.users.read',
  reports: 'okta.logs.read',
} as const;

/** Returns a directory that reads an Okta organisation. Okta has no nested groups. */
export function createOktaDirectory(options: ApiOptions, world: DirectoryWorld): Directory {
  const api = createApi(options, world);
  return {
    groups: () => groupPages(api),
    membersOf: (group) => memberPages(api, group),
    group: (id) => findGroup(api, id),
    hasMember: async () => false,
    user: (key) => findUser(api, key),
    tryUsers: () => tryUsers(api),
    changesSince: (cursor) => changesSince(api, cursor, world.clock()),
    cursorAt: async (nowMs) => cursorAt(nowMs),
    lagMs: 0,
  };
}

/** Lists the members with any status. */
export async function* memberPages(
  api: OktaApi,
  group: string,
): AsyncGenerator<DirectoryPage<DirectoryMember>> {
  const path = pathOf(['groups', group, 'users'], { limit: PAGE_SIZE });
  for await (const { items, asOfMs } of listPages(api, { operation: 'listGroupUsers', path, item: User })) {
    yield { items: items.map((user) => ({ kind: 'user', user: userOf(user, api) })), asOfMs };
  }
}

/** Reads one page with one user, to test the right to read users. */
export async function tryUsers(api: OktaApi): Promise<void> {
  for await (const _ of listPages(api, userList({ limit: '1' }))) return;
}

/**
 * Each run also lists the changes of this time before its last position, because clocks differ and answers are late.
 * The log needs no overlap, because its cursor follows the order of storage.
 */
const OVERLAP_MS = 5 * 60_000;

const Cursor = z.object({
  /** Milliseconds since 1970. */
  sinceMs: z.number(),
  /** Path and query of the next poll of the log. */
  log: z.string().optional(),
});

const cursorAt = (nowMs: number): string => JSON.stringify({ sinceMs: nowMs });

/**
 * Reads which groups and users have changed. If nothing has changed, this function makes three calls:
 *
 *   call                        | shows                              | does not show
 *   ----------------------------|------------------------------------|-------------------------------------------
 *   groups changed since a time | new, renamed, with other members   | deleted groups, members who were deleted
 *   users changed since a time  | new, renamed, enabled or disabled  | deleted users
 *   the System Log              | all of these, and deletions        | entries that are late or lost
 */
async function changesSince(api: OktaApi, given: string, nowMs: number): Promise<DirectoryChanges> {
  const cursor = Cursor.safeParse(jsonValue(given)).data;
  // The cursor is not from Okta, for example because the connection has changed its directory.
  if (cursor === undefined) return { groups: [], users: [], cursor: cursorAt(nowMs), isReset: true };
  const sinceMs = Math.min(cursor.sinceMs, nowMs) - OVERLAP_MS;
  const log = await pollLog(api, cursor.log, firstPoll(sinceMs, nowMs));
  return {
    groups: latestOf([...(await changedGroups(api, sinceMs)), ...changesIn(log.events, 'UserGroup')]),
    users: latestOf([...(await changedUsers(api, sinceMs)), ...changesIn(log.events, 'User')]),
    cursor: JSON.stringify({ sinceMs: nowMs, log: log.next }),
    isReset: log.isReset,
  };
}

const isAfter = (field: string, ms: number): string => `${field} gt "${new Date(ms).toISOString()}"`;

async function changedGroups(api: OktaApi, sinceMs: number): Promise<readonly ReportedChange[]> {
  const filter = `${isAfter('lastMembershipUpdated', sinceMs)} or ${isAfter('lastUpdated', sinceMs)}`;
  const changes: ReportedChange[] = [];
  for await (const { items } of listPages(api, groupList({ filter }))) {
    for (const { id, lastUpdated, lastMembershipUpdated } of items) {
      const atMs = Math.max(lastUpdated, lastMembershipUpdated);
      changes.push({ key: id, atMs, isDeletion: false, isMembership: lastUpdated <= sinceMs });
    }
  }
  return changes;
}

/**
 * Returns the changed users with their states. One call returns 200 users, so a change of all users costs few calls.
 */
async function changedUsers(api: OktaApi, sinceMs: number): Promise<readonly ReportedChange[]> {
  const changes: ReportedChange[] = [];
  for await (const { items, asOfMs } of listPages(
    api,
    userList({ filter: isAfter('lastUpdated', sinceMs) }),
  )) {
    for (const user of items) {
      const found = { user: userOf(user, api), asOfMs };
      changes.push({ key: user.id, atMs: user.lastUpdated ?? asOfMs, isDeletion: false, found });
    }
  }
  return changes;
}

/** Events that report a deletion. Deletions in Okta are permanent, and Okta never reuses an id. */
const DELETIONS = new Set(['group.lifecycle.delete', 'user.lifecycle.delete.completed']);

const IS_MEMBER_AFTER: Readonly<Record<string, boolean>> = {
  'group.user_membership.add': true,
  'group.user_membership.remove': false,
};

/**
 * Returns the changes of groups or users in the log. An event about a membership is a change of the group, not of the
 * user.
 */
const changesIn = (events: readonly LogEvent[], type: 'User' | 'UserGroup'): readonly ReportedChange[] =>
  events
    .filter(({ eventType }) => eventType.startsWith('group.') === (type === 'UserGroup'))
    .flatMap((event) => {
      const { eventType, published: atMs } = event;
      const isDeletion = DELETIONS.has(eventType) && isSuccess(event);
      const isMembership = eventType.startsWith('group.user_membership.');
      const members = isMembership ? membersIn(event) : [];
      return targetsOf(event, type).map((key) => {
        return { key, atMs, isDeletion, isFinal: isDeletion, isMembership, members };
      });
    });

const isSuccess = ({ outcome }: LogEvent): boolean => outcome?.result === 'SUCCESS';

const targetsOf = ({ target }: LogEvent, type: 'User' | 'UserGroup'): readonly string[] =>
  (target ?? []).flatMap((one) => (one.type === type && one.id ? [one.id] : []));

function membersIn(event: LogEvent): readonly NamedMember[] {
  const isMember = IS_MEMBER_AFTER[event.eventType];
  if (isMember === undefined || !isSuccess(event)) return [];
  return targetsOf(event, 'User').map((key) => ({ key, atMs: event.published, isMember }));
}

/**
 * Combines all changes of each key into one change, with the latest time and with all named members. If one of the
 * changes is a deletion, the result is the deletion, because a deletion is final and a list may be delayed.
 */
function latestOf(changes: readonly ReportedChange[]): readonly ReportedChange[] {
  const latest = new Map<string, ReportedChange>();
  for (const change of changes) {
    const before = latest.get(change.key);
    latest.set(change.key, before === undefined ? change : merged(before, change));
  }
  return [...latest.values()];
}

function merged(before: ReportedChange, change: ReportedChange): ReportedChange {
  const atMs = Math.max(before.atMs, change.atMs);
  const isMembership = before.isMembership === true && change.isMembership === true;
  const deletion = [before, change].find(({ isDeletion }) => isDeletion);
  const members = [before, change].flatMap((one) => one.members ?? []);
  return { ...(deletion ?? { ...before, ...change }), atMs, isMembership, members };
}

const groupList = (query: { readonly filter?: string; readonly expand?: string }): List<typeof Group> => ({
  operation: 'listGroups',
  path: pathOf(['groups'], { ...query, limit: PAGE_SIZE }),
  item: Group,
  isFixed: true,
});

/** Lists the groups of every type: Okta groups, app groups and built-in groups. */
export async function* groupPages(api: OktaApi): AsyncGenerator<DirectoryPage<DirectoryGroup>> {
  for await (const { items, asOfMs } of listPages(api, groupList({ expand: 'stats' }))) {
    yield { items: items.map(groupOf), asOfMs };
  }
}

/**
 * Finds a group by its id. The list is requested first, because only the list counts the users. The list can begin with
 * empty pages. An empty list does not prove that the group does not exist.
 */
async function findGroup(api: OktaApi, id: string): Promise<DirectoryGroup | undefined> {
  const filter = `id eq ${JSON.stringify(id)}`;
  for await (const { items } of listPages(api, groupList({ filter, expand: 'stats' }))) {
    const listed = items.find((group) => group.id === id);
    if (listed !== undefined) return groupOf(listed);
  }
  return unlessMissing(async () => {
    const found = await api.one({ operation: 'getGroup', path: pathOf(['groups', id]), body: Group });
    return groupOf(found.body);
  });
}

/** Returns a group. Groups of Okta have no address, so the id takes its place. */
const groupOf = ({ id, profile, _embedded }: z.infer<typeof Group>): DirectoryGroup => ({
  id: groupId(id),
  name: profile.name,
  address: id,
  userCount: _embedded?.stats?.usersCount ?? undefined,
});

/** Returns the request for a list of users. Without a filter, the list omits deprovisioned users. */
const userList = (query: { readonly filter?: string; readonly limit?: string }): List<typeof User> => ({
  operation: 'listUsers',
  path: pathOf(['users'], { limit: PAGE_SIZE, ...query }),
  item: User,
  isFixed: true,
});

const findUser = (api: OktaApi, key: string): Promise<DirectoryUser | undefined> =>
  unlessMissing(async () => {
    const { body } = await api.one({ operation: 'getUser', path: pathOf(['users', key]), body: User });
    return userOf(body, api);
  });

/**
 * Users with one of these statuses cannot sign in until an administrator changes the status. Users with a locked
 * account or an expired password are not listed here, because they can recover without an administrator.
 */
const INACTIVE_STATUSES = new Set(['STAGED', 'SUSPENDED', 'DEPROVISIONED']);

const PROFILE = {
  name: 'displayName',
  employeeNumber: 'employeeNumber',
  type: 'userType',
  department: 'department',
};

function userOf({ id, status, profile }: z.infer<typeof User>, api: OktaApi): DirectoryUser {
  const login = profile.login ?? '';
  const email = profile.email || login;
  const attributes = [
    ['email', email],
    ['userName', login],
  ] as const;
  return {
    id: memberId(id),
    attributes: new Map([
      ...attributes.filter(([, value]) => value !== ''),
      ...namedValues(api.attributes, (name) => profile[vendorName(PROFILE, name) ?? '']),
    ]),
    isActive: !INACTIVE_STATUSES.has(status),
  };
}
