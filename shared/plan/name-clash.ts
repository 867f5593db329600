import type { ConnectionSettings } from '../contract/settings.ts';
import { foldSpokeId } from '../domain/spoke-id.ts';
import type { View } from '../domain/view.ts';
import { adoptable, foldName, grouped } from './names.ts';

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
 * Returns a function that finds the platform groups that a new group would duplicate. Such a platform group has the
 * name or the spokeId of the new group, and groupsync does not adopt it. `foldName` compares the names and ignores
 * case, extra white space and Unicode form. So the function may also find a group that is no duplicate. An unneeded
 * warning is better than a second group. The caller must remove the groups that groupsync manages from `listed`.
 *
 *     a listed group has              | adoptExisting       | clash
 *     --------------------------------|---------------------|-------
 *     the spokeId                     | bySpokeId, byName   | none; the group is adopted
 *     only the name, as the only one  | byName              | none; the group is adopted
 *     only the name, like a second one| byName              | all groups with the name
 *     only the name                   | bySpokeId           | all groups with the name
 *     the name or the spokeId         | never               | all groups with the name or the spokeId
 */
export function clashFinder(
  listed: readonly Listed[],
  adoptExisting: ConnectionSettings['adoptExisting'],
): (group: NewGroup) => readonly NamedGroup[] {
  const named = listed.filter(isNamed);
  const byName = grouped(named, ({ name }) => foldName(name));
  const bySpokeId = grouped(named, ({ spokeId }) => foldSpokeId(spokeId ?? ''));
  return (group) => {
    const same = new Set([
      ...(group.spokeId === null ? [] : (bySpokeId.get(foldSpokeId(group.spokeId)) ?? [])),
      ...(byName.get(foldName(group.name)) ?? []),
    ]);
    return adoptable([...same], group, adoptExisting).length > 0 ? [] : [...same];
  };
}
