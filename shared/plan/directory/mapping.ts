import { foldName } from '../names.ts';

/** The keys by which a group of one source is found in another source. */
interface GroupKeys {
  readonly address?: string | undefined;
  /** The external id that the SCIM client of the group gave. */
  readonly externalId?: string | undefined;
}

/** A group that moves to the new source. */
export interface SourceGroup extends GroupKeys {
  readonly group: string;
  readonly name: string | undefined;
}

/** A group of the new source. */
export interface TargetGroup extends GroupKeys {
  readonly id: string;
  readonly name: string | undefined;
}

export interface MappedGroup<Target extends TargetGroup = TargetGroup> {
  readonly from: string;
  readonly to: Target;
  readonly by: 'file' | 'id' | 'externalId' | 'name';
}

export interface Mapping<Target extends TargetGroup> {
  readonly pairs: readonly MappedGroup<Target>[];
  readonly unmapped: readonly { readonly group: string; readonly reason: 'not_found' | 'not_unique' }[];
}

/**
 * Finds for each group of another source the corresponding group of the target. Each group of the target is used only
 * once. A name is used only if exactly one group that is not mapped yet has it, in each of the two sources. Names are
 * compared by `foldName`, as for duplicates.
 *
 *     the group of the target                                     | mapped by
 *     ------------------------------------------------------------|------------
 *     is named for the group in the file of the operator          | file
 *     has the same id                                             | id
 *     has an external id that is the id or address of the other,  |
 *     or the id or address that is the external id of the other   | externalId
 *     has the name, and no other group has it                     | name
 *     none of these                                               | not mapped
 */
export function mapGroups<Target extends TargetGroup>(
  sources: readonly SourceGroup[],
  targets: readonly Target[],
  file: ReadonlyMap<string, string> = new Map(),
): Mapping<Target> {
  const found = new Map<string, MappedGroup<Target>>();
  const taken = new Set<string>();
  const take = (by: MappedGroup['by'], find: (source: SourceGroup) => Target | undefined) => {
    for (const source of sources) {
      const to = found.has(source.group) ? undefined : find(source);
      if (to === undefined || taken.has(to.id)) continue;
      taken.add(to.id);
      found.set(source.group, { from: source.group, to, by });
    }
  };
  const byId = indexed(targets, ({ id }) => id);
  const byAddress = indexed(targets, ({ address }) => folded(address));
  const byExternalId = indexed(targets, ({ externalId }) => folded(externalId));
  take('file', ({ group }) => byId.get(file.get(group) ?? ''));
  take('id', ({ group }) => byId.get(group));
  take(
    'externalId',
    ({ group, address, externalId }) =>
      byId.get(externalId ?? '') ??
      byAddress.get(folded(externalId) ?? '') ??
      byExternalId.get(folded(group) ?? '') ??
      byExternalId.get(folded(address) ?? ''),
  );
  const left = sources.filter(({ group }) => !found.has(group));
  const free = targets.filter(({ id }) => !taken.has(id));
  const sourceNames = countsOf(left);
  const targetNames = countsOf(free);
  const byName = indexed(free, nameOf);
  take('name', (source) => {
    const name = nameOf(source);
    const isOnly = sourceNames.get(name) === 1 && targetNames.get(name) === 1;
    return isOnly ? byName.get(name) : undefined;
  });
  const reasonOf = (source: SourceGroup) => (targetNames.has(nameOf(source)) ? 'not_unique' : 'not_found');
  return {
    pairs: sources.flatMap(({ group }) => found.get(group) ?? []),
    unmapped: sources.flatMap((source) =>
      found.has(source.group) ? [] : { group: source.group, reason: reasonOf(source) },
    ),
  };
}

/** Addresses and external ids are compared without regard to case. */
const folded = (key: string | undefined): string | undefined => key?.toLowerCase();

/** Returns the groups by a key. A group whose key is missing or empty is left out. */
const indexed = <Target>(targets: readonly Target[], keyOf: (target: Target) => string | undefined) =>
  new Map(targets.flatMap((target) => (keyOf(target) ? [[keyOf(target) as string, target] as const] : [])));

function countsOf(groups: readonly Pick<TargetGroup, 'name'>[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of groups.map(nameOf)) if (name !== '') counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

const nameOf = ({ name = '' }: Pick<TargetGroup, 'name'>): string => foldName(name);
