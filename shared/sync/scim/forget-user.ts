import type { ConnectionName, MemberId } from '../../domain/ids.ts';
import type { ScimStore } from '../ports/scim.ts';
import { unindex } from './indexing.ts';

/**
 * Erases what a SCIM client has said of a user, and what finds them by it. Ids stay, and with them memberships; the
 * client is answered with 404 from then on, and makes the user anew if it still has them.
 * @returns false where there is no such user
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
