import type { MemberId } from '../../domain/ids.ts';
import type { DirectoryUser } from '../ports/directory.ts';
import type { ReaderRun } from './context.ts';

/**
 * If more addresses of one group differ than this, the addresses of a whole domain have probably changed. The listed
 * addresses are then used without a question.
 */
const MOST_ALIASES = 50;

/**
 * Returns the users of a group with their primary addresses. A list may show a member under an alias. So each user
 * whose listed address differs from the stored address is requested, except users of other companies.
 */
export async function withPrimaryAddresses(
  { directory, users }: Pick<ReaderRun, 'directory' | 'users'>,
  listed: ReadonlyMap<MemberId, DirectoryUser>,
): Promise<ReadonlyMap<MemberId, DirectoryUser>> {
  const differing = [...listed.values()].filter((user) => {
    const stored = users.addressOf(user.id);
    return user.isExternal !== true && stored !== undefined && stored !== user.attributes.get('email');
  });
  if (differing.length === 0 || differing.length > MOST_ALIASES) return listed;
  const result = new Map(listed);
  for (const { id } of differing) {
    const user = await directory.user(id);
    if (user !== undefined) result.set(id, user);
  }
  return result;
}
