import { type GroupField, isSameValue, type WrittenFields } from '../domain/group-fields.ts';
import { grouped } from '../domain/grouped.ts';
import type { PlatformGroupId } from '../domain/ids.ts';
import { foldSpokeId } from '../domain/spoke-id.ts';
import { isWhole, type ListedGroup, type ObservedGroup, type View } from '../domain/view.ts';
import { compareText } from './plan.ts';

/** Returns the name with normalised white space and Unicode form. A platform may store names in this form. */
const tidyName = (name: string): string => name.normalize('NFC').trim().replace(/\s+/gu, ' ');

/** Returns the tidied name in lower case. Two names with the same result may be different spellings of one name. */
export const foldName = (name: string): string => tidyName(name).toLowerCase();

const foldNull = (spokeId: string | null): string | null => (spokeId === null ? null : foldSpokeId(spokeId));

/** Whether `shown` may be the form in which the platform stored `sent`. */
export const mayBeSpokeId = (shown: string | null, sent: string | null): boolean =>
  shown !== null && isSameValue('spokeId', shown, sent);

/** Returns the groups with exactly this external id, or else the groups whose id differs only in form. */
export function withSpokeId<Group extends Pick<ListedGroup, 'spokeId'>>(
  groups: readonly Group[],
  spokeId: string | null,
): readonly Group[] {
  const exact = groups.filter((group) => group.spokeId === spokeId);
  return exact.length > 0 ? exact : groups.filter((group) => mayBeSpokeId(group.spokeId, spokeId));
}

/** Returns the view with the name as the platform shows it. `alias` keeps the name that groupsync sent. */
export const renamedTo = (view: View, { name }: Pick<ObservedGroup, 'name'>): View =>
  view.name === name ? view : { ...view, name, alias: view.alias ?? view.name };

/**
 * Whether a field of the view has this value, apart from differences of form. Such differences cause no write. A name
 * may equal the shown name or the sent name.
 */
export const fieldMatches = (
  view: Pick<View, GroupField | 'alias'>,
  field: GroupField,
  value: WrittenFields[GroupField],
): boolean => isSameValue(field, view[field], value) || (field === 'name' && view.alias === value);

/** The maximum number of ids in an intent, because a DynamoDB item has at most 400 KB. */
const MOST_KNOWN = 1_000;

interface AlreadyThere {
  readonly candidates: readonly ListedGroup[];
  readonly known: readonly PlatformGroupId[];
  readonly namesakes: readonly PlatformGroupId[];
  /** See `malformedBefore` of `Intent`. */
  readonly malformedBefore?: number;
}

/**
 * Finds the existing groups with the spokeId or name of a group to create (`namesakes`). The group may be linked to one
 * of `candidates`, which have its spokeId. The intent stores `known`, the groups that cannot be the result of the POST.
 */
export function findExisting(after: View, groups: readonly ListedGroup[]): AlreadyThere {
  const { bySpokeId, byFold, malformed } = indexed(groups);
  const found = [
    ...(bySpokeId.get(foldNull(after.spokeId)) ?? []),
    ...(byFold.get(foldName(after.name)) ?? []),
  ];
  const same = [...new Set(found)].sort((a, b) => compareText(a.id, b.id));
  const idOf = ({ id }: ListedGroup) => id as PlatformGroupId;
  const known = [...same, ...malformed].map(idOf);
  return {
    candidates: withSpokeId(same, after.spokeId),
    namesakes: same.map(idOf),
    known: known.slice(0, MOST_KNOWN),
    ...(known.length > MOST_KNOWN && { malformedBefore: malformed.length }),
  };
}

export const isListed = (groups: readonly ListedGroup[], id: string) => indexed(groups).ids.has(id);

const listings = new WeakMap<readonly ListedGroup[], ReturnType<typeof indexOf>>();

/** Returns the index of a list. It is computed once per list, because many creations use the same list. */
function indexed(groups: readonly ListedGroup[]) {
  const known = listings.get(groups) ?? indexOf(groups);
  listings.set(groups, known);
  return known;
}

const indexOf = (groups: readonly ListedGroup[]) => ({
  ids: new Set(groups.map(({ id }) => id)),
  malformed: groups.filter(mayBeAny),
  bySpokeId: grouped(groups, ({ spokeId }) => foldNull(spokeId)),
  byFold: grouped(groups.filter(isWhole), ({ name }) => foldName(name)),
});

/** Whether the group is malformed and has no spokeId. Such a group could be the result of any POST. */
export const mayBeAny = (group: ListedGroup): boolean => !isWhole(group) && group.spokeId === null;

/** A group of the platform's list. A malformed group has no name or an empty name. */
interface Listed {
  readonly id: string;
  readonly spokeId: string | null;
  readonly name?: string;
}
export type NamedGroup = Listed & { readonly name: string };

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
