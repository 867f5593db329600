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
import { pagesOf } from '../pages.ts';
import { type Api, createApi } from './api.ts';
import { changesSince, cursorAt } from './changes.ts';
import { Group, listOf, Member, type ServiceAccountKey, User } from './schemas.ts';
import { createAccessTokens } from './sign-in.ts';

export interface GoogleOptions {
  readonly key: ServiceAccountKey;
  /** Address of the administrator in whose name the service account reads. */
  readonly administrator: string;
  /** Another host that speaks the API, such as a simulator; undefined: Google. */
  readonly baseUrl?: string | undefined;
}

const API_URL = 'https://admin.googleapis.com';
const TOKEN_URL = 'https://oauth2.googleapis.com/token';

const AUTH = 'https://www.googleapis.com/auth/';
/** The smallest scopes that read groups, members, users and the two logs. */
export const GOOGLE_SCOPES = [
  `${AUTH}admin.directory.group.readonly`,
  `${AUTH}admin.directory.group.member.readonly`,
  `${AUTH}admin.directory.user.readonly`,
  `${AUTH}admin.reports.audit.readonly`,
];

/** The largest page of groups and of members (`groups.list`, `members.list`: maxResults). */
const MAX_PAGE = '200';
const GROUPS = ['admin', 'directory', 'v1', 'groups'];
const USERS = ['admin', 'directory', 'v1', 'users'];

const GroupPage = listOf('admin#directory#groups', 'groups', Group);
const MemberPage = listOf('admin#directory#members', 'members', Member);

/** Google Workspace, read through the Admin SDK. */
export function createGoogleDirectory(options: GoogleOptions, world: DirectoryWorld): Directory {
  const { key, administrator, baseUrl } = options;
  const tokenUrl = baseUrl === undefined ? TOKEN_URL : `${baseUrl}/token`;
  const tokens = createAccessTokens({ key, administrator, tokenUrl, scopes: GOOGLE_SCOPES }, world);
  const api = createApi(baseUrl ?? API_URL, tokens, world);
  return {
    groups: () => groupPages(api),
    membersOf: (group) => memberPages(api, group),
    group: (groupKey) =>
      unlessMissing(async () => {
        const { body } = await api({ operation: 'groups.get', path: [...GROUPS, groupKey], body: Group });
        return groupOf(body);
      }),
    user: (userKey) =>
      unlessMissing(async () => {
        const { body } = await api({ operation: 'users.get', path: [...USERS, userKey], body: User });
        return userOf(body);
      }),
    changesSince: (cursor) => changesSince(api, cursor, world.clock()),
    cursorAt,
  };
}

const groupPages = (api: Api) =>
  pagesOf('groups.list', async (pageToken) => {
    const query = { customer: 'my_customer', maxResults: MAX_PAGE, pageToken };
    const { body, asOfMs } = await api({ operation: 'groups.list', path: GROUPS, query, body: GroupPage });
    return { items: body.items.map(groupOf), next: body.next, asOfMs };
  });

const memberPages = (api: Api, group: string) =>
  pagesOf('members.list', async (pageToken) => {
    const path = [...GROUPS, group, 'members'];
    const query = { maxResults: MAX_PAGE, pageToken };
    const { body, asOfMs } = await api({ operation: 'members.list', path, query, body: MemberPage });
    return { items: body.items.map(memberOf), next: body.next, asOfMs };
  });

async function unlessMissing<Found>(read: () => Promise<Found>): Promise<Found | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof DirectoryError && error.kind === 'missing') return undefined;
    throw error;
  }
}

function groupOf({ id, email, name, directMembersCount = '' }: z.infer<typeof Group>): DirectoryGroup {
  const userCount = /^\d{1,15}$/.test(directMembersCount) ? Number(directMembersCount) : undefined;
  return { id: groupId(id), name: name === '' ? email : name, address: email, userCount };
}

/** Members of these states may not sign in. Members of other companies have no status. */
const INACTIVE_STATUSES = new Set(['SUSPENDED', 'ARCHIVED']);

function memberOf({ id, type, email, status = '' }: z.infer<typeof Member>): DirectoryMember {
  if (type === 'GROUP') return { kind: 'group', id: groupId(id) };
  if (type === 'CUSTOMER') return { kind: 'everyone' };
  if (type !== 'USER') {
    throw new DirectoryError('odd', 'members.list: type: expected USER, GROUP or CUSTOMER');
  }
  const isActive = !INACTIVE_STATUSES.has(status);
  return { kind: 'user', user: { id: memberId(id), attributes: attributesOf(email), isActive } };
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
