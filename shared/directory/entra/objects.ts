import type * as z from 'zod';
import { groupId, memberId } from '../../domain/ids.ts';
import { DirectoryError, type DirectoryGroup, type DirectoryUser } from '../../sync/ports/directory.ts';
import type { Group, User } from './schemas.ts';

/** The largest page of groups, users and members ("List groups", "List group members": $top). */
export const MAX_PAGE = '999';
export const GROUP_PROPERTIES = 'id,displayName';
export const USER_PROPERTIES = 'id,mail,userPrincipalName,accountEnabled';

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
  { id, mail, userPrincipalName, accountEnabled }: z.infer<typeof User>,
): DirectoryUser {
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
  ]);
  return { id: memberId(id), attributes, isActive: accountEnabled };
}
