import type { ImportComparison } from '../../contract/answers/files.ts';
import type { GroupState } from '../../domain/group-state.ts';
import { holdsOf } from '../../domain/hold.ts';
import type { MemberId } from '../../domain/ids.ts';
import type { ToolPorts } from '../../sync/ports/bundles.ts';
import type { Connection } from '../../sync/ports/connections.ts';
import type { Person } from '../../sync/ports/people.ts';
import { collectPages, mapConcurrently, READS_IN_FLIGHT } from '../../sync/tuning.ts';

export type EndedDecision = NonNullable<ImportComparison['ends']>[number];

/** Returns the decisions about removals of a group that end, because one of these people joins (`judgeRemovals`). */
export async function endedDecisions(
  state: GroupState,
  people: readonly Person[],
  { groups }: Pick<ToolPorts, 'groups'>,
): Promise<readonly EndedDecision[]> {
  const joining = new Set<string>(people.flatMap(({ role, userId = role }) => [role, userId]));
  const ended: EndedDecision[] = [];
  for (const hold of holdsOf(state)) {
    const { decision } = hold;
    if (decision.kind === 'waiting') continue;
    const users = (await groups.readHeld(state.ref, hold)) ?? [];
    if ([...users].some((user) => joining.has(user)))
      ended.push({ group: state.ref.group, decision: decision.kind, by: decision.by });
  }
  return ended;
}

export type OtherId = NonNullable<ImportComparison['otherIds']>[number];

/**
 * Returns the newcomers whose person is already a member under another id. This happens if the file comes from another
 * system than the directory. If the directory later removed the person under its own id, the person would stay in the
 * group under the id from the file.
 */
export async function knownUnderOtherIds(
  newcomers: readonly { readonly member: MemberId; readonly person: Person }[],
  { name }: Connection,
  { people, users }: Pick<ToolPorts, 'people' | 'users'>,
): Promise<readonly OtherId[]> {
  const found = await mapConcurrently(READS_IN_FLIGHT, newcomers, async ({ member, person }) => {
    const bound = await collectPages(people.membersBoundTo(name, person.role));
    const others = bound.map((one) => one.member).filter((one) => one !== member);
    const known = others.length === 0 ? undefined : await users.read(name, others);
    const other = others.find((one) => known?.get(one)?.role === person.role);
    return other === undefined ? [] : [{ member, known: other }];
  });
  return found.flat();
}
