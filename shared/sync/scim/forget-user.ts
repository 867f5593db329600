import type { ConnectionName, MemberId } from '../../domain/ids.ts';
import type { ScimStore } from '../ports/scim.ts';
import { unindex } from './indexing.ts';

/**
 * Erases the SCIM data of a user and the index entries of its values. The id and the memberships stay. After that, a
 * client gets 404 for the user, and can create the user again.
 * @returns false if there is no such user
 */
export async function forgetScimUser(
  connection: ConnectionName,
  member: MemberId,
  { scim }: { readonly scim: ScimStore },
): Promise<boolean> {
  const [found] = await scim.read(connection, 'User', [member]);
  if (found === undefined) return false;
  await unindex(found, undefined, { connection, ports: { scim } });
  await scim.remove(connection, found);
  return true;
}
