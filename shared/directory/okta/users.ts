import type * as z from 'zod';
import { memberId } from '../../domain/ids.ts';
import type { DirectoryUser } from '../../sync/ports/directory.ts';
import { unlessMissing } from '../steps.ts';
import { type Api, pathOf } from './api.ts';
import { type List, PAGE_SIZE } from './lists.ts';
import { User } from './schemas.ts';

/** Returns the request for a list of users. Without a filter, the list omits deprovisioned users. */
export const userList = (query: {
  readonly filter?: string;
  readonly limit?: string;
}): List<typeof User> => ({
  operation: 'listUsers',
  path: pathOf(['users'], { limit: PAGE_SIZE, ...query }),
  item: User,
  isFixed: true,
});

export const findUser = (api: Api, key: string): Promise<DirectoryUser | undefined> =>
  unlessMissing(async () => {
    const { body } = await api.one({ operation: 'getUser', path: pathOf(['users', key]), body: User });
    return userOf(body);
  });

/**
 * Users with one of these statuses cannot sign in until an administrator changes the status. Users with a locked
 * account or an expired password are not listed here, because they can recover without an administrator.
 */
const INACTIVE_STATUSES = new Set(['STAGED', 'SUSPENDED', 'DEPROVISIONED']);

export function userOf({ id, status, profile }: z.infer<typeof User>): DirectoryUser {
  const login = profile.login ?? '';
  const email = profile.email || login;
  const attributes = [
    ['email', email],
    ['userName', login],
  ] as const;
  return {
    id: memberId(id),
    attributes: new Map(attributes.filter(([, value]) => value !== '')),
    isActive: !INACTIVE_STATUSES.has(status),
  };
}
