import type * as z from 'zod';
import { groupId, memberId } from '../../../domain/ids.ts';
import {
  DirectoryError,
  type DirectoryGroup,
  type DirectoryUser,
  type MemberPage,
  type SelectsGroup,
} from '../../ports.ts';
import { namedValues, vendorName } from '../named-attributes.ts';
import { unlessMissing } from '../steps.ts';
import { type Graph, listPages } from './graph.ts';
import { type Group, GroupVisibility, NestedGroup, User } from './schemas.ts';

/** The largest page of groups, users and members ("List groups", "List group members": $top). */
export const MAX_PAGE = '999';
export const GROUP_PROPERTIES = 'id,displayName';
const PROPERTIES = {
  name: 'displayName',
  employeeNumber: 'employeeId',
  type: 'userType',
  department: 'department',
};
/** The fifteen attributes that come from Active Directory are fields of this property. */
const OF_EXCHANGE = 'onPremisesExtensionAttributes';
const isOfExchange = (property: string): boolean => /^extensionAttribute\d+$/.test(property);

/** Returns the properties of users for `$select`: those that every reader needs, and those that the settings name. */
export function selectedUser(attributes: readonly string[], always = USER_PROPERTIES): string {
  const named = attributes.flatMap((one) => vendorName(PROPERTIES, one) ?? []);
  return [...new Set([always, ...named.map((one) => (isOfExchange(one) ? OF_EXCHANGE : one))])].join(',');
}

const USER_PROPERTIES = 'id,mail,userPrincipalName,accountEnabled';

/** Returns a group without a count, with its id as address. Graph sends the count with the first page of members. */
export const groupOf = ({ id, displayName }: z.infer<typeof Group>): DirectoryGroup => ({
  id: groupId(id),
  name: displayName,
  address: id,
  userCount: undefined,
});

/**
 * Returns a user. The address is `mail`, or the user principal name of a user without a mailbox. The principal name of
 * a guest is not a real address.
 * @throws DirectoryError `denied` if the application lacks the right to read users and their state
 */
export function userOf(
  operation: string,
  user: z.infer<typeof User>,
  named: readonly string[],
): DirectoryUser {
  const { id, mail, userPrincipalName, accountEnabled } = user;
  if (typeof userPrincipalName !== 'string' || typeof accountEnabled !== 'boolean') {
    const reason = 'User.Read.All';
    throw new DirectoryError(
      'denied',
      `${operation}: expected the properties of users, but the right ${reason} is missing`,
      {
        reason,
      },
    );
  }
  const attributes = new Map([
    ['email', mail || userPrincipalName],
    ['userName', userPrincipalName],
    ...namedValues(named, (one) => propertyOf(user, vendorName(PROPERTIES, one) ?? '')),
  ]);
  return { id: memberId(id), attributes, isActive: accountEnabled };
}

function propertyOf(user: z.infer<typeof User>, property: string): unknown {
  const holder = isOfExchange(property) ? user[OF_EXCHANGE] : user;
  return (holder as Readonly<Record<string, unknown>> | null | undefined)?.[property];
}

/** The header that a request for a count needs ("Advanced query capabilities on Microsoft Entra ID objects"). */
const COUNTED = { consistencylevel: 'eventual' };
const READ_HIDDEN = 'Member.Read.Hidden';
const HIDDEN = 'HiddenMembership';

/** Maximum number of requests for a list that is empty and has no count. */
const MAX_UNCOUNTED = 3;

/**
 * Lists the direct members that are users, without devices and service principals. An empty list without a count is
 * read again.
 * @throws DirectoryError `invalid` for an empty list that never has a count, or that is hidden from the reader
 */
export async function* userMemberPages(graph: Graph, group: string): AsyncGenerator<MemberPage> {
  for (let attempt = 1; attempt <= MAX_UNCOUNTED; attempt += 1) {
    const seen = { items: 0, isCounted: false };
    for await (const page of usersOf(graph, group)) {
      seen.items += page.items.length;
      seen.isCounted ||= page.userCount !== undefined;
      yield page;
    }
    if (seen.items > 0) return;
    if (seen.isCounted) return refuseHidden(graph, group);
  }
  throw new DirectoryError('invalid', `${USERS}: expected an empty list to have a count`);
}

const USERS = 'groups.members.users';

async function* usersOf(graph: Graph, group: string): AsyncGenerator<MemberPage> {
  const query = { $select: selectedUser(graph.attributes), $top: MAX_PAGE, $count: 'true' };
  const url = graph.url(['groups', group, 'members', 'microsoft.graph.user'], query);
  for await (const page of listPages(graph, { operation: USERS, url, item: User, headers: COUNTED })) {
    yield {
      items: page.items.map((user) => ({ kind: 'user', user: userOf(USERS, user, graph.attributes) })),
      asOfMs: page.asOfMs,
      userCount: page.count,
    };
  }
}

async function* groupMemberPages(graph: Graph, group: string): AsyncGenerator<MemberPage> {
  const operation = 'groups.members.groups';
  const query = { $select: 'id', $top: MAX_PAGE, $count: 'true' };
  const url = graph.url(['groups', group, 'members', 'microsoft.graph.group'], query);
  for await (const page of listPages(graph, { operation, url, item: NestedGroup, headers: COUNTED })) {
    yield {
      items: page.items.map(({ id }) => ({ kind: 'group', id: groupId(id) })),
      asOfMs: page.asOfMs,
      groupCount: page.count,
    };
  }
}

/** Lists the direct members that are users or groups. Both lists are read at the same time, which saves time. */
export async function* memberPages(graph: Graph, group: string): AsyncGenerator<MemberPage> {
  const groups = allPages(groupMemberPages(graph, group));
  // If both lists fail, the error of the users is thrown. Without this handler, Node would report the error of the
  // groups as unhandled.
  groups.catch(() => undefined);
  yield* userMemberPages(graph, group);
  yield* await groups;
}

async function allPages<Page>(pages: AsyncIterable<Page>): Promise<Page[]> {
  const all: Page[] = [];
  for await (const page of pages) all.push(page);
  return all;
}

/** Searches the list of member groups, because Graph has no request for one member of a group. */
export async function hasNestedGroup(graph: Graph, group: string, member: string): Promise<boolean> {
  const found = await unlessMissing(async () => {
    for await (const { items } of groupMemberPages(graph, group)) {
      if (items.some((item) => item.kind === 'group' && item.id === member)) return true;
    }
    return false;
  });
  return found ?? false;
}

/**
 * Refuses a group with hidden membership if the access token lacks the right to read it. Such a group would look empty.
 * @throws DirectoryError `invalid` for such a group
 */
async function refuseHidden(graph: Graph, group: string): Promise<void> {
  if (await mayReadHidden(graph)) return;
  const url = graph.url(['groups', group], VISIBILITY);
  const { body } = await graph.call({ operation: 'groups.get', url, body: GroupVisibility });
  if (body.visibility === HIDDEN) throw hiddenMembership('the membership of the group is hidden');
}

const VISIBILITY = { $select: `${GROUP_PROPERTIES},visibility` };

/** Maximum number of groups that a message names. */
const MAX_SHOWN = 5;

/**
 * Refuses a directory if a selected group has hidden membership and the right to read it is missing.
 * @throws DirectoryError `invalid` that names the groups
 */
export async function refuseHiddenGroups(graph: Graph, isSelected: SelectsGroup): Promise<void> {
  if (await mayReadHidden(graph)) return;
  const hidden: string[] = [];
  const url = graph.url(['groups'], { ...VISIBILITY, $top: MAX_PAGE });
  for await (const { items } of listPages(graph, { operation: 'groups.list', url, item: GroupVisibility })) {
    const found = items.filter((group) => group.visibility === HIDDEN && isSelected(groupOf(group)));
    hidden.push(...found.map(({ id }) => id));
  }
  if (hidden.length === 0) return;
  const rest = hidden.length > MAX_SHOWN ? ` and ${hidden.length - MAX_SHOWN} others` : '';
  throw hiddenMembership(
    `the membership of selected groups is hidden: ${hidden.slice(0, MAX_SHOWN).join(', ')}${rest}`,
  );
}

const hiddenMembership = (found: string): DirectoryError =>
  new DirectoryError('invalid', `${found}: expected the right ${READ_HIDDEN}`, { reason: READ_HIDDEN });

const mayReadHidden = async ({ tokens }: Graph): Promise<boolean> =>
  rolesIn(await tokens.current()).includes(READ_HIDDEN);

/**
 * Returns the roles in an access token. If the form of the token is unknown, the result is empty, as for a token
 * without rights.
 */
function rolesIn(token: string): readonly unknown[] {
  try {
    const [, payload = ''] = token.split('.');
    const { roles } = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as { roles?: unknown };
    return Array.isArray(roles) ? roles : [];
  } catch {
    return [];
  }
}
