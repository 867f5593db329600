import type { ImportComparison } from '../../contract/answers/files.ts';
import type { GroupState } from '../../domain/group-state.ts';
import { holdsOf } from '../../domain/hold.ts';
import type { ToolPorts } from '../../sync/ports/bundles.ts';
import type { Person } from '../../sync/ports/people.ts';

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
