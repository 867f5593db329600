import { grouped } from '../domain/grouped.ts';
import { foldSpokeId } from '../domain/spoke-id.ts';
import { isWhole, type ListedGroup } from '../domain/view.ts';
import { foldName } from './names.ts';

/** A directory group without a platform group. The name has the form in which groupsync would send the name. */
interface UnlinkedGroup {
  readonly group: string;
  readonly name: string;
}

interface AdoptionMatch extends UnlinkedGroup {
  readonly by: 'spokeId' | 'name';
}

/**
 * Returns, for each unmanaged platform group, the directory groups that match it. A directory group matches if its id
 * is the external id of the platform group. If no id matches, the directory groups with the same name match. The
 * comparison ignores case, extra white space and Unicode form. An inexact match is safe, because an operator sees each
 * match before the adoption.
 */
export function adoptionMatches(unmanaged: readonly ListedGroup[], unlinked: readonly UnlinkedGroup[]) {
  const byId = grouped(unlinked, ({ group }) => foldSpokeId(group));
  const byName = grouped(unlinked, ({ name }) => foldName(name));
  const matchesOf = (listed: ListedGroup): readonly AdoptionMatch[] => {
    const carried = listed.spokeId === null ? undefined : byId.get(foldSpokeId(listed.spokeId));
    if (carried !== undefined) return carried.map((one) => ({ ...one, by: 'spokeId' }));
    const named = isWhole(listed) ? byName.get(foldName(listed.name)) : undefined;
    return (named ?? []).map((one) => ({ ...one, by: 'name' }));
  };
  return new Map(unmanaged.map((listed) => [listed, matchesOf(listed)]));
}

/**
 * Returns the platform groups with a certain match. A match is certain if no second directory group matches the
 * platform group, and if the directory group matches no second platform group by the same key (external id or name). A
 * directory group with a match by external id has no certain match by name.
 */
export function certainMatches(matches: ReadonlyMap<ListedGroup, readonly AdoptionMatch[]>) {
  const counts = new Map<string, number>();
  const keyOf = ({ group, by }: AdoptionMatch) => `${by} ${group}`;
  for (const match of [...matches.values()].flat()) {
    counts.set(keyOf(match), (counts.get(keyOf(match)) ?? 0) + 1);
  }
  const countOf = (match: AdoptionMatch) => counts.get(keyOf(match)) ?? 0;
  const isCertain = ([only, ...others]: readonly AdoptionMatch[]): boolean => {
    if (only === undefined || others.length > 0 || countOf(only) > 1) return false;
    return only.by === 'spokeId' || countOf({ ...only, by: 'spokeId' }) === 0;
  };
  return new Set([...matches].flatMap(([listed, found]) => (isCertain(found) ? [listed] : [])));
}
