import { intentId, type PlatformGroupId } from '../../domain/ids.ts';
import type { ObservedGroup, View } from '../../domain/view.ts';
import { goesBy } from '../../plan/names.ts';
import type { GroupState, LinkedGroup } from '../ports/groups.ts';
import type { Lane } from './lane.ts';

/**
 * What was observed, with who in it is ours: everybody whom a view of ours says we put there. Additions of a write
 * whose outcome is unknown count as ours too; else a later removal of them would be taken for somebody else's wish.
 * A name that the platform made of another keeps that other one beside it.
 * A platform that does not echo spokeId is taken to hold the one that we sent.
 */
export function viewOf(observed: ObservedGroup, ...ours: readonly (View | undefined)[]): View {
  const waiver = ours.find((view) => view?.waiver !== undefined)?.waiver;
  const named = ours.find((view) => view?.alias !== undefined && goesBy(view, observed.name));
  const alias = named?.name === observed.name ? named.alias : named?.name;
  return {
    name: observed.name,
    ...(alias === undefined ? {} : { alias }),
    spokeId: observed.spokeId ?? ours.find((view) => view !== undefined)?.spokeId ?? null,
    users: new Map(
      observed.users.map((user) => [user, ours.some((view) => view?.users.get(user) === true)] as const),
    ),
    ...(waiver === undefined ? {} : { waiver }),
  };
}

/** Whether the platform shows exactly what the view says; order and repetition of users do not matter. */
export function shows(observed: ObservedGroup, view: View): boolean {
  const users = new Set(observed.users);
  return (
    observed.name === view.name &&
    (observed.spokeId === view.spokeId || observed.spokeId === null) &&
    users.size === view.users.size &&
    [...users].every((user) => view.users.has(user))
  );
}

/** Stores an observed group as a view that the group can be pointed to. */
export async function linkTo(
  state: GroupState,
  observed: ObservedGroup,
  { view, lane: { ports } }: { readonly view: View; readonly lane: Lane },
): Promise<LinkedGroup> {
  const pointer = await ports.groups.prepareView(state.ref, intentId(ports.newId()), view);
  return { id: observed.id as PlatformGroupId, version: observed.version, view: pointer };
}
