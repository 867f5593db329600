import type { Directory, DirectoryMember, DirectoryPage } from '../../sync/ports/directory.ts';
import type { DirectoryWorld } from '../exchange.ts';
import { type Api, type ApiOptions, createApi, pathOf } from './api.ts';
import { changesSince, cursorAt } from './changes.ts';
import { findGroup, groupPages } from './groups.ts';
import { listPages, PAGE_SIZE } from './lists.ts';
import { User } from './schemas.ts';
import { findUser, userList, userOf } from './users.ts';

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
export async function* memberPages(api: Api, group: string): AsyncGenerator<DirectoryPage<DirectoryMember>> {
  const path = pathOf(['groups', group, 'users'], { limit: PAGE_SIZE });
  for await (const { items, asOfMs } of listPages(api, { operation: 'listGroupUsers', path, item: User })) {
    yield { items: items.map((user) => ({ kind: 'user', user: userOf(user) })), asOfMs };
  }
}

/** Reads one page with one user, to test the right to read users. */
export async function tryUsers(api: Api): Promise<void> {
  for await (const _ of listPages(api, userList({ limit: '1' }))) return;
}
