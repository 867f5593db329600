import type { ConnectionSettings } from '../contract/settings.ts';
import { foldSpokeId } from '../domain/spoke-id.ts';
import type { View } from '../domain/view.ts';
import { adoptable, foldName, grouped } from './names.ts';

/** A group of the platform's list. If the group is malformed, the name is missing or empty. */
export interface Listed {
  readonly id: string;
  readonly spokeId: string | null;
  readonly name?: string;
}
export type NamedGroup = Listed & { readonly name: string };

/** The group to create, with its name in the form that would be sent. */
export type NewGroup = Pick<View, 'name' | 'spokeId'>;

const isNamed = (group: Listed): group is NamedGroup => group.name !== undefined && group.name !== '';

/**
 * Returns a function that finds the platform groups that a new group would duplicate. Such a platform group has the
 * name or the spokeId of the new group, and is not adopted. Names are compared by `foldName`, which ignores case, extra
 * white space and Unicode form. So the function may also find a group that is no duplicate, because an unneeded warning
 * is better than a second group. The caller must first leave out groups that groupsync already manages.
 *
 *     a listed group has              | adoptExisting       | clash
 *     --------------------------------|---------------------|-------
 *     the spokeId                     | bySpokeId, byName   | none; the group is adopted
 *     the name alone, and no other    | byName              | none; the group is adopted
 *     the name alone, and others too  | byName              | all with the name
 *     the name alone                  | bySpokeId           | all with the name
 *     the name or the spokeId         | never               | all of them
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
