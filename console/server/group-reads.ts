import type { GroupState } from '../../shared/domain/group-state.ts';
import { type Hold, holdsOf } from '../../shared/domain/hold.ts';
import type { GroupRef } from '../../shared/domain/ids.ts';
import { NotFound } from '../../shared/operate/names.ts';
import type { RequestContext } from './context.ts';
import type { PersonName } from './people.ts';

export async function stateOf(ref: GroupRef, { ports }: RequestContext): Promise<GroupState> {
  const state = await ports.groups.read(ref);
  if (state === undefined) throw new NotFound(`there is no group ${ref.group}`);
  return state;
}

/** Returns the users of the platform group from its stored view; empty if there is none. */
export async function usersOf(state: GroupState, { ports }: RequestContext): Promise<ReadonlySet<string>> {
  const view = state.link && (await ports.groups.readView(state.ref, state.link.view));
  return new Set(view?.users.keys());
}

/** Returns the users whose removal waits for a decision or was rejected. */
export async function heldOf(state: GroupState, context: RequestContext): Promise<ReadonlySet<string>> {
  const holds = holdsOf(state).filter(({ decision }) => decision.kind !== 'approved');
  const sets = await Promise.all(holds.map((one) => readSet(state, one, context)));
  return new Set(sets.flatMap((users) => [...users]));
}

/** Returns the users of a hold; empty if there is no hold, or if its set cannot be read. */
export async function readSet(
  { ref }: GroupState,
  hold: Hold | undefined,
  { ports }: RequestContext,
): Promise<ReadonlySet<string>> {
  return (hold && (await ports.groups.readHeld(ref, hold))) ?? new Set();
}

export const byName = (a: PersonName, b: PersonName) => (a.name ?? a.id).localeCompare(b.name ?? b.id);
