import { type Attribute, asBoolean, folded, partNamed } from '../attribute.ts';
import { badRequest } from '../errors.ts';
import { type AttributePath, placeOf, type ResourceType } from '../resource-type.ts';
import { elements, isObject, type ScimObject, type ScimValue } from '../value.ts';

export const COMPARISONS = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'] as const;
export type Comparison = (typeof COMPARISONS)[number];
export type Literal = string | number | boolean | null;

/**
 * A filter as a tree (RFC 7644 section 3.4.2.2). Inside `element`, paths are relative to one value of the attribute.
 */
export type Filter =
  | { readonly kind: 'and' | 'or'; readonly of: readonly Filter[] }
  | { readonly kind: 'not'; readonly of: Filter }
  | { readonly kind: 'present'; readonly path: AttributePath }
  | {
      readonly kind: 'compare';
      readonly path: AttributePath;
      readonly operator: Comparison;
      readonly value: Literal;
    }
  | { readonly kind: 'element'; readonly path: AttributePath; readonly where: Filter };

/** Returns the parts of the filter that must all be true. */
export const conjuncts = (filter: Filter): readonly Filter[] =>
  filter.kind === 'and' ? filter.of.flatMap(conjuncts) : [filter];

/** The attribute and the values of a path; undefined for an attribute that no schema has. */
interface Named {
  readonly attribute: Attribute;
  readonly values: readonly ScimValue[];
}
type Lookup = (path: AttributePath) => Named | undefined;

/**
 * Returns whether a resource matches a filter. The caller has checked the filter with `checkFilter`. An unknown
 * attribute has no value (RFC 7644 section 3.4.2.1).
 */
export function matchesFilter(filter: Filter, resource: ScimObject, type: ResourceType): boolean {
  return holds(filter, (path) => valuesAt(resource, type, path));
}

/** Returns whether one value of a multi-valued attribute matches, as in `members[value eq "x"]`. */
export function matchesElement(filter: Filter, element: ScimValue, attribute: Attribute): boolean {
  return holds(filter, (path) => partsOf(element, attribute, path.name));
}

/**
 * Rejects gt, ge, lt and le for types whose values have no order (RFC 7644 section 3.4.2.2).
 * @throws ScimError invalidFilter
 */
export const checkFilter = (filter: Filter, type: ResourceType): void =>
  check(filter, (path) => valuesAt({}, type, path));

export const checkElementFilter = (filter: Filter, attribute: Attribute): void =>
  check(filter, (path) => partsOf({}, attribute, path.name));

function check(filter: Filter, lookup: Lookup): void {
  if (filter.kind === 'and' || filter.kind === 'or') for (const part of filter.of) check(part, lookup);
  else if (filter.kind === 'not') check(filter.of, lookup);
  else if (filter.kind === 'element') {
    const named = lookup(filter.path);
    check(filter.where, ({ name }) => named && partsOf({}, named.attribute, name));
  } else if (filter.kind === 'compare' && filter.operator in ORDERS) checkOrder(filter, lookup);
}

function checkOrder({ path, operator, value }: Extract<Filter, { kind: 'compare' }>, lookup: Lookup): void {
  const { type, name } = comparable(lookup(path))?.attribute ?? {};
  if (type !== 'boolean' && type !== 'binary' && typeof value !== 'boolean') return;
  throw badRequest(
    'invalidFilter',
    `expected values that have an order for ${operator}, got ${name ?? 'a boolean'}`,
  );
}

function valuesAt(resource: ScimObject, type: ResourceType, path: AttributePath): Named | undefined {
  const place = placeOf(type, path);
  if (place === undefined) return undefined;
  const { extension, attribute, sub } = place;
  const holder = extension === undefined ? resource : resource[extension];
  const values = elements(isObject(holder) ? holder[attribute.name] : undefined);
  if (sub === undefined) return { attribute, values };
  return {
    attribute: sub,
    values: values.flatMap((value) => (isObject(value) ? elements(value[sub.name]) : [])),
  };
}

function partsOf(element: ScimValue, attribute: Attribute, name: string): Named | undefined {
  const sub = partNamed(attribute, name);
  if (sub === undefined) return undefined;
  return { attribute: sub, values: isObject(element) ? elements(element[sub.name]) : [] };
}

function holds(filter: Filter, lookup: Lookup): boolean {
  switch (filter.kind) {
    case 'and':
      return filter.of.every((part) => holds(part, lookup));
    case 'or':
      return filter.of.some((part) => holds(part, lookup));
    case 'not':
      return !holds(filter.of, lookup);
    case 'present':
      return (lookup(filter.path)?.values ?? []).some(isPresent);
    case 'element': {
      const named = lookup(filter.path);
      return (named?.values ?? []).some((value) =>
        holds(filter.where, (path) => named && partsOf(value, named.attribute, path.name)),
      );
    }
    default:
      return compares(comparable(lookup(filter.path)), filter.operator, filter.value);
  }
}

const isPresent = (value: ScimValue): boolean =>
  value !== null && value !== '' && !(isObject(value) && Object.keys(value).length === 0);

/** A path to a complex attribute without a sub-attribute means its `value` (RFC 7644 section 3.4.2.2). */
function comparable(named: Named | undefined): Named | undefined {
  if (named?.attribute.type !== 'complex') return named;
  const values = named.values.flatMap((value) => partsOf(value, named.attribute, 'value')?.values ?? []);
  const { attribute } = partsOf({}, named.attribute, 'value') ?? {};
  return attribute && { attribute, values };
}

/** Returns whether at least one value matches. `ne` is the negation of `eq`. */
function compares(named: Named | undefined, operator: Comparison, literal: Literal): boolean {
  if (operator === 'ne') return !compares(named, 'eq', literal);
  const values = named?.values ?? [];
  if (literal === null) return operator === 'eq' && values.length === 0;
  if (named === undefined) return false;
  const { attribute } = named;
  const wanted = form(attribute, literal, PARTS.has(operator));
  return values.some((value) => compareOne(form(attribute, value), operator, wanted));
}

const PARTS: ReadonlySet<Comparison> = new Set(['co', 'sw', 'ew']);

/** For each operator, tests the difference `value - wanted`. */
const ORDERS: { readonly [Operator in Comparison]?: (difference: number) => boolean } = {
  gt: (difference) => difference > 0,
  ge: (difference) => difference >= 0,
  lt: (difference) => difference < 0,
  le: (difference) => difference <= 0,
};

/** Returns the value in the form that comparisons use: text in folded case, and instants and booleans parsed. */
function form(attribute: Attribute, value: ScimValue, isPart = false): ScimValue {
  if (typeof value !== 'string') return value;
  if (attribute.type === 'boolean') return asBoolean(value) ?? value;
  if (attribute.type === 'dateTime') return Number.isNaN(Date.parse(value)) ? value : Date.parse(value);
  return folded(attribute, value, isPart);
}

function compareOne(value: ScimValue, operator: Comparison, wanted: ScimValue): boolean {
  if (operator === 'eq') return value === wanted;
  if (typeof value === 'string' && typeof wanted === 'string') return compareTexts(value, operator, wanted);
  if (typeof value !== 'number' || typeof wanted !== 'number') return false;
  return ORDERS[operator]?.(value - wanted) ?? false;
}

function compareTexts(value: string, operator: Comparison, wanted: string): boolean {
  if (operator === 'co') return value.includes(wanted);
  if (operator === 'sw') return value.startsWith(wanted);
  if (operator === 'ew') return value.endsWith(wanted);
  return ORDERS[operator]?.(Number(value > wanted) - Number(value < wanted)) ?? false;
}
