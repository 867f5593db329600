import { namedIds, namesMembers } from '../patch/members.ts';
import { type AttributePath, placeOf, type ResourceType, UNIQUE_ATTRIBUTE } from '../resource-type.ts';
import { conjuncts, type Filter } from './evaluate.ts';

/** A way to find all resources that can satisfy a filter without reading every one. */
export interface Lookup {
  readonly by: 'id' | 'unique' | 'externalId' | 'member';
  readonly value: string;
}

/** The first part of the filter that must hold and that names one value of an indexed attribute. */
export const lookupOf = (filter: Filter, type: ResourceType): Lookup | undefined =>
  conjuncts(filter).flatMap((part) => lookupOfPart(part, type) ?? [])[0];

function lookupOfPart(part: Filter, type: ResourceType): Lookup | undefined {
  const [member, ...others] = membersNamedBy(part, type) ?? [];
  if (member !== undefined) return others.length === 0 ? { by: 'member', value: member } : undefined;
  if (part.kind !== 'compare' || part.operator !== 'eq' || typeof part.value !== 'string') return undefined;
  const by = indexOf(part.path, type);
  return by === undefined ? undefined : { by, value: part.value };
}

function indexOf(path: AttributePath, type: ResourceType): Lookup['by'] | undefined {
  const place = placeOf(type, path);
  if (place === undefined || place.extension !== undefined || place.sub !== undefined) return undefined;
  const { name } = place.attribute;
  if (name === UNIQUE_ATTRIBUTE[type.name]) return 'unique';
  return name === 'id' || name === 'externalId' ? name : undefined;
}

/** Ids that `members eq "x"`, `members.value eq "x"` or `members[value eq "x"]` ask for; undefined for another filter. */
function membersNamedBy(filter: Filter, type: ResourceType): readonly string[] | undefined {
  if (filter.kind === 'element') return namesMembers(filter.path, type) ? namedIds(filter.where) : undefined;
  if (filter.kind !== 'compare' || filter.operator !== 'eq' || typeof filter.value !== 'string')
    return undefined;
  const isId = filter.path.sub === undefined || filter.path.sub.toLowerCase() === 'value';
  return isId && namesMembers(filter.path, type) ? [filter.value] : undefined;
}

/**
 * Which members of a group must be known to judge a filter: these, or all of them where it asks more than whether
 * somebody is one.
 */
export function membersAskedBy(filter: Filter, type: ResourceType): readonly string[] | 'all' {
  const named = membersNamedBy(filter, type);
  if (named !== undefined) return named;
  switch (filter.kind) {
    case 'and':
    case 'or': {
      const each = filter.of.map((part) => membersAskedBy(part, type));
      return each.includes('all') ? 'all' : each.flatMap((ids) => (ids === 'all' ? [] : ids));
    }
    case 'not':
      return membersAskedBy(filter.of, type);
    default:
      return namesMembers(filter.path, type) ? 'all' : [];
  }
}
