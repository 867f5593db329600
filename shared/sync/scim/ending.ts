import pMap from 'p-map';
import { type ConnectionName, groupId, type MemberId, memberId } from '../../domain/ids.ts';
import { type ResourceType, resourceTypes } from '../../scim/resource-type.ts';
import type { ScimResource, ScimStore } from '../ports/scim.ts';
import { READS_IN_FLIGHT } from '../tuning.ts';
import type { ScimContext } from './context.ts';
import { unindex } from './indexing.ts';
import { listedAmong } from './membership.ts';
import { type Recorded, record, touchGroup } from './record.ts';
import { userEnd } from './user-facts.ts';

/**
 * What follows when a resource was marked as ending: desired state hears of it, what finds it is let go, it is removed.
 * Each step may be repeated; whoever meets an ending resource after a crash goes on here.
 */
export async function finishEnding(
  ending: ScimResource,
  type: ResourceType,
  context: ScimContext,
): Promise<void> {
  const { ports, connection } = context;
  if (ending.type === 'Group') {
    await record([{ by: ending, change: { kind: 'group.deleted', group: groupId(ending.id) } }], context);
  } else {
    await endUser(ending, context);
  }
  await unindex(ending, undefined, type, context);
  await ports.scim.remove(connection, ending);
}

/**
 * The deletion's floor ends a user's memberships; beside it each group is told by a change of its own, so that its list
 * no longer shows the member and its version says that it changed.
 */
async function endUser(ending: ScimResource, context: ScimContext): Promise<void> {
  const { ports, connection } = context;
  const member = memberId(ending.id);
  const touched: ScimResource[] = [];
  for await (const groups of ports.users.groupsOf(connection, member)) {
    const isListed = await pMap(
      groups,
      async (group) => (await listedAmong(group, [member], context)).has(member),
      { concurrency: READS_IN_FLIGHT },
    );
    for (const group of groups.filter((_, at) => isListed[at])) {
      touched.push(...(await touchGroup(group, context)));
    }
  }
  const members = [{ id: member, attributes: new Map<string, string>() }];
  const leaves = touched.map(
    (by): Recorded => ({ by, change: { kind: 'member.removed', group: groupId(by.id), members } }),
  );
  await record([...userEnd(ending).map((change) => ({ by: ending, change })), ...leaves], context);
}

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
  await unindex(found, undefined, resourceTypes(true).User, { connection, ports: { scim } });
  await scim.remove(connection, found);
  return true;
}
