import { foldSpokeId } from '../domain/spoke-id.ts';
import type { View } from '../domain/view.ts';
import { foldName, grouped } from './names.ts';

/** A group of the platform's list. A malformed group has no name or an empty name. */
interface Listed {
  readonly id: string;
  readonly spokeId: string | null;
  readonly name?: string;
}
export type NamedGroup = Listed & { readonly name: string };

/** The group to create, with the name as groupsync would send it. */
type NewGroup = Pick<View, 'name' | 'spokeId'>;

const isNamed = (group: Listed): group is NamedGroup => group.name !== undefined && group.name !== '';

/**
 * Returns a function that finds the platform groups with the name of a new group. The new group is not created while
 * such a group is unmanaged. `foldName` compares the names and ignores case, extra white space and Unicode form. If a
 * listed group has the spokeId of the new group, the new group is linked to it, and no name clashes. The caller must
 * remove the groups that groupsync manages from the result.
 */
export function clashFinder(listed: readonly Listed[]): (group: NewGroup) => readonly NamedGroup[] {
  const byName = grouped(listed.filter(isNamed), ({ name }) => foldName(name));
  const spokeIds = new Set(listed.flatMap(({ spokeId }) => (spokeId === null ? [] : foldSpokeId(spokeId))));
  return ({ name, spokeId }) =>
    spokeId !== null && spokeIds.has(foldSpokeId(spokeId)) ? [] : (byName.get(foldName(name)) ?? []);
}
