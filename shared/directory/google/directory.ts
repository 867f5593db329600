import type * as z from 'zod';
import { groupId, memberId } from '../../domain/ids.ts';
import {
  type Directory,
  DirectoryError,
  type DirectoryGroup,
  type DirectoryMember,
  type DirectoryUser,
} from '../../sync/ports/directory.ts';
import type { DirectoryWorld } from '../exchange.ts';
import { unlessMissing } from '../steps.ts';
import { type Api, createApi } from './api.ts';
import { changesSince, cursorAt } from './changes.ts';
import type { Credential } from './credential.ts';
import { hostsOf } from './hosts.ts';
import { Group, listOf, Member, User } from './schemas.ts';
import { createAccessTokens } from './sign-in.ts';

export interface GoogleOptions {
  readonly credential: Credential;
  /** Address of the administrator on whose behalf the service account reads. */
  readonly administrator: string;
  /** Base URL of another host with the same API, such as a simulator. undefined means Google. */
  readonly baseUrl?: string | undefined;
}

const AUTH = 'https://www.googleapis.com/auth/';
/** The smallest scopes that read groups, members, users and logs. */
export const SCOPES = {
  groups: `${AUTH}admin.directory.group.readonly`,
  members: `${AUTH}admin.directory.group.member.readonly`,
  users: `${AUTH}admin.directory.user.readonly`,
  reports: `${AUTH}admin.reports.audit.readonly`,
} as const;

/** The largest page of users (`users.list`: maxResults). */
const MAX_USERS = '500';
/** The largest page of groups and of members (`groups.list`, `members.list`: maxResults). */
const MAX_PAGE = '200';
const GROUPS = ['admin', 'directory', 'v1', 'groups'];
const USERS = ['admin', 'directory', 'v1', 'users'];

const GroupPage = listOf('admin#directory#groups', 'groups', Group);
const MemberPage = listOf('admin#directory#members', 'members', Member);
const UserPage = listOf('admin#directory#users', 'users', User);

/** Returns a directory that reads Google Workspace through the Admin SDK. */
export function createGoogleDirectory(options: GoogleOptions, world: DirectoryWorld): Directory {
  const { credential, administrator, baseUrl } = options;
  const hosts = hostsOf(baseUrl);
  const signIn = { credential, administrator, tokenUrl: hosts.token, scopes: Object.values(SCOPES) };
  const api = createApi(hosts.api, createAccessTokens(signIn, world), world);
  return {
    groups: () => groupPages(api),
    membersOf: (group) => memberPages(api, group),
    group: (groupKey) =>
      unlessMissing(async () => {
        const { body } = await api({ operation: 'groups.get', path: [...GROUPS, groupKey], body: Group });
        return groupOf(body);
      }),
    async hasMember(groupKey, memberKey) {
      const path = [...GROUPS, groupKey, 'members', memberKey];
      const member = await unlessMissing(() => api({ operation: 'members.get', path, body: Member }));
      return member !== undefined;
    },
    user: (userKey) => findUser(api, userKey),
    deletedUsers: () => deletedUserPages(api),
    tryUsers: async () => void (await findUser(api, administrator)),
    changesSince: (cursor) => changesSince(api, cursor, world.clock()),
    cursorAt: async (nowMs) => cursorAt(nowMs),
    lagMs: 0,
  };
}

export const findUser = (api: Api, userKey: string): Promise<DirectoryUser | undefined> =>
  unlessMissing(async () => {
    const { body } = await api({ operation: 'users.get', path: [...USERS, userKey], body: User });
    return userOf(body);
  });

export const groupPages = (api: Api) =>
  api.pages('groups.list', async (pageToken) => {
    const query = { customer: 'my_customer', maxResults: MAX_PAGE, pageToken };
    const { body, asOfMs } = await api({ operation: 'groups.list', path: GROUPS, query, body: GroupPage });
    return { items: body.items.map(groupOf), next: body.next, asOfMs };
  });

export const memberPages = (api: Api, group: string) =>
  api.pages('members.list', async (pageToken) => {
    const path = [...GROUPS, group, 'members'];
    const query = { maxResults: MAX_PAGE, pageToken };
    const { body, asOfMs } = await api({ operation: 'members.list', path, query, body: MemberPage });
    return { items: body.items.map(memberOf), next: body.next, asOfMs };
  });

/** Lists the users who were deleted in the last 20 days ("Manage users", retrieve deleted users). */
const deletedUserPages = (api: Api) =>
  api.pages('users.list', async (pageToken) => {
    const query = { customer: 'my_customer', showDeleted: 'true', maxResults: MAX_USERS, pageToken };
    const { body, asOfMs } = await api({ operation: 'users.list', path: USERS, query, body: UserPage });
    const items = body.items.map((user) => ({ ...userOf(user), isActive: false }));
    return { items, next: body.next, asOfMs };
  });

function groupOf({ id, email, name, directMembersCount = '' }: z.infer<typeof Group>): DirectoryGroup {
  const userCount = /^\d{1,15}$/.test(directMembersCount) ? Number(directMembersCount) : undefined;
  return { id: groupId(id), name: name === '' ? email : name, address: email, userCount };
}

/** Members with one of these statuses cannot sign in. Members of other companies have no status. */
const INACTIVE_STATUSES = new Set(['SUSPENDED', 'ARCHIVED']);

function memberOf({ id, type, email, status = '' }: z.infer<typeof Member>): DirectoryMember {
  if (type === 'GROUP') return { kind: 'group', id: groupId(id), address: email };
  if (type === 'CUSTOMER') return { kind: 'everyone' };
  if (type !== 'USER') {
    throw new DirectoryError('odd', 'members.list: type: expected USER, GROUP or CUSTOMER');
  }
  const isActive = !INACTIVE_STATUSES.has(status);
  const user = { id: memberId(id), attributes: attributesOf(email), isActive };
  return { kind: 'user', user: status === '' ? { ...user, isExternal: true } : user };
}

const userOf = ({ id, primaryEmail, suspended, archived }: z.infer<typeof User>): DirectoryUser => ({
  id: memberId(id),
  attributes: attributesOf(primaryEmail),
  isActive: !suspended && !archived,
});

/** The primary address of a Google account is its login. */
const attributesOf = (email = ''): ReadonlyMap<string, string> =>
  new Map(
    email === ''
      ? []
      : [
          ['email', email],
          ['userName', email],
        ],
  );
