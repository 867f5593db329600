import { foldName } from '../../plan/names.ts';

/** The keys by which `mapGroups` finds a group of one source in another source. */
interface GroupKeys {
  readonly address?: string | undefined;
  readonly externalId?: string | undefined;
}

export interface SourceGroup extends GroupKeys {
  readonly group: string;
  readonly name: string | undefined;
}

export interface TargetGroup extends GroupKeys {
  readonly id: string;
  readonly name: string | undefined;
}

interface MappedGroup<Target extends TargetGroup = TargetGroup> {
  readonly from: string;
  readonly to: Target;
  readonly by: 'file' | 'id' | 'externalId' | 'name';
}

interface Mapping<Target extends TargetGroup> {
  readonly pairs: readonly MappedGroup<Target>[];
  readonly unmapped: readonly { readonly group: string; readonly reason: 'not_found' | 'not_unique' }[];
}

/**
 * Finds for each group of the old source ("source group") the corresponding group of the new source ("target group").
 * Each target group is mapped at most once. Names are compared last, by `foldName`. A name maps two groups if no other
 * unmapped group of either source has the name.
 *
 *     the target group                                            | mapped by
 *     ------------------------------------------------------------|------------
 *     is paired with the source group in the operator's file      | file
 *     has the id of the source group                              | id
 *     has the source group's external id as its id or address     | externalId
 *     has the source group's id or address as its external id     | externalId
 *     has the name of the source group, which must be unique      | name
 *     matches in no such way                                      | not mapped
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

/** The comparison with the address or the external id of a target ignores case. */
const folded = (key: string | undefined): string | undefined => key?.toLowerCase();

/** Returns the groups by a key, without the groups whose key is missing or empty. */
const indexed = <Target>(targets: readonly Target[], keyOf: (target: Target) => string | undefined) =>
  new Map(targets.flatMap((target) => (keyOf(target) ? [[keyOf(target) as string, target] as const] : [])));

function countsOf(groups: readonly Pick<TargetGroup, 'name'>[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of groups.map(nameOf)) if (name !== '') counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

const nameOf = ({ name = '' }: Pick<TargetGroup, 'name'>): string => foldName(name);
