import { isMembersPath, namedIds } from '../patch/members.ts';
import { type AttributePath, placeOf, type ResourceType, UNIQUE_ATTRIBUTE } from '../resource-type.ts';
import { conjuncts, type Filter } from './evaluate.ts';

/** An index lookup that finds all resources that can match a filter, without reading every resource. */
export interface Lookup {
  readonly by: 'id' | 'unique' | 'externalId' | 'member' | 'emails' | 'employeeNumber';
  readonly value: string;
}

/**
 * Returns a lookup for the first conjunct that selects one value of an indexed attribute; undefined without such a
 * conjunct.
 */
export const lookupOf = (filter: Filter, type: ResourceType): Lookup | undefined =>
  conjuncts(filter).flatMap((part) => lookupOfPart(part, type) ?? [])[0];

function lookupOfPart(part: Filter, type: ResourceType): Lookup | undefined {
  const [id, ...others] = idsNamedBy(part, type) ?? [];
  if (id !== undefined) return others.length === 0 ? { by: 'member', value: id } : undefined;
  if (part.kind === 'element') return emailNamedBy(part, type);
  if (part.kind !== 'compare' || part.operator !== 'eq' || typeof part.value !== 'string') return undefined;
  const by = indexOf(part.path, type);
  return by === undefined ? undefined : { by, value: part.value };
}

function indexOf(path: AttributePath, type: ResourceType): Lookup['by'] | undefined {
  const place = placeOf(type, path);
  if (place === undefined) return undefined;
  const { name } = place.attribute;
  if (name === 'emails') {
    return place.sub === undefined || place.sub.name === 'value' ? 'emails' : undefined;
  }
  if (place.sub !== undefined) return undefined;
  if (place.extension !== undefined) return name === 'employeeNumber' ? name : undefined;
  if (name === UNIQUE_ATTRIBUTE[type.name]) return 'unique';
  return name === 'id' || name === 'externalId' ? name : undefined;
}

/** Returns the address in `emails[type eq "work" and value eq "x"]` or `emails[type eq "work"].value eq "x"`. */
function emailNamedBy(
  { path, where }: Extract<Filter, { readonly kind: 'element' }>,
  type: ResourceType,
): Lookup | undefined {
  if (placeOf(type, { ...path, sub: undefined })?.attribute.name !== 'emails') return undefined;
  for (const part of conjuncts(where)) {
    if (part.kind !== 'compare' || part.operator !== 'eq' || typeof part.value !== 'string') continue;
    if (part.path.name.toLowerCase() === 'value') return { by: 'emails', value: part.value };
  }
  return undefined;
}

/**
 * Returns the ids in `members eq "x"`, `members.value eq "x"` or `members[value eq "x"]`; undefined for another filter.
 */
function idsNamedBy(filter: Filter, type: ResourceType): readonly string[] | undefined {
  if (filter.kind === 'element') return isMembersPath(filter.path, type) ? namedIds(filter.where) : undefined;
  if (filter.kind !== 'compare' || filter.operator !== 'eq' || typeof filter.value !== 'string')
    return undefined;
  const isId = filter.path.sub === undefined || filter.path.sub.toLowerCase() === 'value';
  return isId && isMembersPath(filter.path, type) ? [filter.value] : undefined;
}

/** Returns the ids of the group's members that the filter needs; 'all' if it needs the whole list. */
export function neededIds(filter: Filter, type: ResourceType): readonly string[] | 'all' {
  const named = idsNamedBy(filter, type);
  if (named !== undefined) return named;
  switch (filter.kind) {
    case 'and':
    case 'or': {
      const each = filter.of.map((part) => neededIds(part, type));
      return each.includes('all') ? 'all' : each.flatMap((ids) => (ids === 'all' ? [] : ids));
    }
    case 'not':
      return neededIds(filter.of, type);
    default:
      return isMembersPath(filter.path, type) ? 'all' : [];
  }
}
