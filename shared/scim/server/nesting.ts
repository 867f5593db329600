import { groupExists, isUnheardOf } from '../../domain/group.ts';
import { type GroupId, groupId, type MemberId, memberId } from '../../domain/ids.ts';
import { MAX_NESTED_GROUPS, MAX_NESTING_DEPTH, nestedGroup, nestedMember } from '../../domain/nesting.ts';
import type { ListedMember } from '../protocol/document.ts';
import { badRequest } from '../protocol/errors.ts';
import { groupAsMember, type MemberChange } from '../protocol/patch/members.ts';
import { acceptsNested } from '../protocol/resource-type.ts';
import type { ScimContext } from './context.ts';

/*
 * A group can be a member of another group. Clients name a nested group by its id, like a user. In the outer group's
 * member register, this id has a mark for groups (`domain/nesting.ts`). So users and groups can be in the same list.
 */

/** The prefix of every group id. An id without this prefix is not a group, so it need not be read. */
export const GROUP_ID_MARK = 'g';

export function listedMember(id: string): ListedMember {
  const group = nestedGroup(id);
  return group === undefined ? { value: id, type: 'User' } : { value: group, type: 'Group' };
}

/** Returns the ids that the member register of this user or group may have. */
export const listedIdsOf = (id: string): readonly MemberId[] =>
  id.startsWith(GROUP_ID_MARK) ? [memberId(id), nestedMember(groupId(id))] : [memberId(id)];

const groupsAmongListed = (ids: Iterable<string>): readonly GroupId[] =>
  [...ids].flatMap((id) => nestedGroup(id) ?? []);

/**
 * Returns the change with the ids of member registers in place of the ids of nested groups. The result does not contain
 * deleted groups.
 * @throws ScimError `invalidValue` if the change adds a group and nesting is off, if too many groups would be nested or
 * too deeply, or if an added id is the id of a register
 */
export async function withNestedGroups(group: GroupId, change: MemberChange, context: ScimContext) {
  if (groupsAmongListed(change.present).length > 0) throw reservedId();
  const candidates = [...change.present, ...change.absent].filter((id) => id.startsWith(GROUP_ID_MARK));
  if (candidates.length === 0) return change;
  const groups = await liveGroups(candidates, context);
  const joining = [...groups].filter((id) => change.present.has(id)).map(groupId);
  if (joining.length > 0 && !acceptsNested(context.types.Group)) throw groupAsMember();
  const deleted = await deletedGroups(
    candidates.filter((id) => change.present.has(id) && !groups.has(id)),
    context,
  );
  if (deleted.size > 0) context.noteStale({ group, deleted: [...deleted], unknown: [] });
  await checkNesting(group, joining, context);
  const listed = (id: string): string => (groups.has(id) ? nestedMember(groupId(id)) : id);
  const present = [...change.present].filter((id) => !deleted.has(id));
  return {
    ...change,
    present: new Set(present.map(listed)),
    absent: new Set([...change.absent].map(listed)),
  };
}

const reservedId = () =>
  badRequest('invalidValue', 'members: expected ids of users or groups, got an id that names a register');

async function liveGroups(ids: readonly string[], { ports, connection }: ScimContext) {
  const found = await ports.scim.read(connection, 'Group', ids);
  return new Set(found.filter(({ state }) => state === 'live').map(({ id }) => id));
}

async function deletedGroups(ids: readonly string[], { ports, connection }: ScimContext) {
  const states = await Promise.all(ids.map((id) => ports.groups.read({ connection, group: groupId(id) })));
  const deleted = states.filter(
    (state) => state !== undefined && !groupExists(state.registers) && !isUnheardOf(state.registers),
  );
  return new Set<string>(deleted.flatMap((state) => state?.ref.group ?? []));
}

/** @throws ScimError `invalidValue` if the nesting would have too many levels or too many groups */
async function checkNesting(group: GroupId, joining: readonly GroupId[], context: ScimContext) {
  if (joining.length === 0) return;
  const { ports, connection } = context;
  const around = (one: GroupId) => ports.desired.groupsAround({ connection, group: one });
  const within = (one: GroupId) => ports.scim.groupsWithin({ connection, group: one });
  const [above, below] = await Promise.all([levelsFrom([group], around), levelsFrom(joining, within)]);
  const levels = above.levels - 1 + below.levels;
  if (levels > MAX_NESTING_DEPTH) {
    throw badRequest(
      'invalidValue',
      `members: expected groups nested at most ${MAX_NESTING_DEPTH} levels deep`,
    );
  }
  const groups = new Set([...above.groups, ...below.groups]).size;
  if (groups > MAX_NESTED_GROUPS) {
    throw badRequest(
      'invalidValue',
      `members: expected at most ${MAX_NESTED_GROUPS} groups nested in each other`,
    );
  }
}

/** Returns the groups that `next` reaches from `first`, and the number of levels. The search stops above a limit. */
async function levelsFrom(first: readonly GroupId[], next: (group: GroupId) => Promise<readonly GroupId[]>) {
  const groups = new Set(first);
  let level = first;
  let levels = 0;
  while (level.length > 0) {
    levels += 1;
    if (levels > MAX_NESTING_DEPTH || groups.size > MAX_NESTED_GROUPS) break;
    const reached = (await Promise.all(level.map(next))).flat();
    level = [...new Set(reached)].filter((group) => !groups.has(group));
    for (const group of level) groups.add(group);
  }
  return { levels, groups };
}

/** Notes the nested groups, before their registers are written. From then on, their changes reach the group. */
export async function noteNesting(
  group: GroupId,
  members: Iterable<string>,
  { ports, connection }: ScimContext,
): Promise<void> {
  const inner = groupsAmongListed(members);
  if (inner.length > 0) await ports.desired.noteNesting({ connection, group }, inner);
}
