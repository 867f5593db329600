/** A group that SCIM or events own. */
export interface SourceGroup {
  readonly group: string;
  readonly name: string | undefined;
  /** The external id that the SCIM client of the group gave. */
  readonly externalId?: string | undefined;
}

/** A group of the directory. */
export interface TargetGroup {
  readonly id: string;
  readonly name: string;
  readonly address: string;
}

export interface MappedGroup<Target extends TargetGroup = TargetGroup> {
  readonly from: string;
  readonly to: Target;
  readonly by: 'id' | 'externalId' | 'name';
}

export interface Mapping<Target extends TargetGroup> {
  readonly pairs: readonly MappedGroup<Target>[];
  /** The groups that no group of the directory matches. */
  readonly unmapped: readonly string[];
}

/**
 * Finds the group of the directory for each group of another source. Each group of the directory is used once. A name
 * counts only if exactly one unmapped group of each source has the name.
 *
 *     the group of the directory has          | mapped by
 *     ----------------------------------------|------------
 *     the id                                  | id
 *     the external id as its id or address    | externalId
 *     the name, and no other group has it     | name
 *     none of these                           | not mapped
 */
export function mapGroups<Target extends TargetGroup>(
  sources: readonly SourceGroup[],
  targets: readonly Target[],
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
  const byId = new Map(targets.map((target) => [target.id, target]));
  const byAddress = new Map(targets.map((target) => [target.address.toLowerCase(), target]));
  take('id', ({ group }) => byId.get(group));
  take(
    'externalId',
    ({ externalId = '' }) => byId.get(externalId) ?? byAddress.get(externalId.toLowerCase()),
  );
  const left = sources.filter(({ group }) => !found.has(group));
  const free = targets.filter(({ id }) => !taken.has(id));
  const sourceNames = countsOf(left.map(({ name }) => name));
  const targetNames = countsOf(free.map(({ name }) => name));
  take('name', ({ name }) => {
    const isOnly = sourceNames.get(name) === 1 && targetNames.get(name) === 1;
    return isOnly ? free.find((target) => target.name === name) : undefined;
  });
  return {
    pairs: sources.flatMap(({ group }) => found.get(group) ?? []),
    unmapped: sources.flatMap(({ group }) => (found.has(group) ? [] : [group])),
  };
}

function countsOf(names: readonly (string | undefined)[]): ReadonlyMap<string | undefined, number> {
  const counts = new Map<string | undefined, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
