import { type Attribute, folded, partNamed } from '../attribute.ts';
import { badRequest } from '../errors.ts';
import { checkElementFilter, conjuncts, type Filter, matchesElement } from '../filter/evaluate.ts';
import {
  invalidValue,
  MAX_VALUES,
  mergeParts,
  readSingle,
  readValue,
  singleValue,
  withParent,
} from '../read-value.ts';
import type { Place } from '../resource-type.ts';
import { elements, isObject, type ScimDraft, type ScimObject, type ScimValue } from '../value.ts';
import type { PatchOperation } from './operation.ts';

export interface Assignment {
  readonly op: PatchOperation['op'];
  /** Selects values of a multi-valued attribute. undefined means all values. */
  readonly where: Filter | undefined;
  readonly value: ScimValue | undefined;
}

type Target = Pick<Place, 'attribute' | 'sub'>;

/**
 * Changes one attribute of `holder` (RFC 7644 sections 3.5.2.1 to 3.5.2.3).
 *
 *  | attribute           | add                    | replace                   | remove                  |
 *  |---------------------|------------------------|---------------------------|-------------------------|
 *  | simple              | set                    | set                       | removed                 |
 *  | complex             | sub-attributes merged  | sub-attributes merged     | removed                 |
 *  | list                | values added           | list replaced             | all or the given values |
 *  | list[filter]        | merged, or created     | replaced, or created      | selected values removed |
 *  | a sub-attribute     | set, or created        | set, or created           | removed                 |
 *
 * If the filter of a replace selects no value, the replace is rejected with noTarget. There is one exception: if the
 * filter describes a complete value (`describes`), the replace creates it. Microsoft Entra ID sends `Replace
 * emails[type eq "work"].value` for a user without an address, in one PATCH with other changes of the user.
 *
 * If the attribute has a sub-attribute `value`, a new item without `value` replaces no item. It is merged into an
 * existing item.
 */
export function assign(holder: ScimDraft, target: Target, change: Assignment): void {
  const { attribute } = target;
  const before = holder[attribute.name];
  const after = attribute.multiValued
    ? changedList(elements(before), target, change)
    : changedSingle(before, target, change);
  const isEmpty = after === undefined || (Array.isArray(after) && after.length === 0);
  if (!isEmpty) holder[attribute.name] = after;
  else if (attribute.required)
    throw badRequest('mutability', `${attribute.name}: expected a value, because the attribute is required`);
  else delete holder[attribute.name];
}

function changedSingle(before: ScimValue | undefined, { attribute, sub }: Target, { op, value }: Assignment) {
  if (sub?.name === 'value' && value === '') return undefined;
  if (sub !== undefined)
    return withPart(isObject(before) ? before : {}, { attribute, sub }, op === 'remove' ? undefined : value);
  if (op === 'remove') return undefined;
  return isObject(before)
    ? merged(attribute, before, singleValue(value))
    : readValue(attribute, value ?? null);
}

/** null removes the value. Any other value is merged into the existing sub-attributes. */
const merged = (attribute: Attribute, before: ScimObject, value: ScimValue): ScimValue | undefined =>
  attribute.type === 'complex' && value !== null
    ? mergeParts(attribute, before, value)
    : readSingle(attribute, value);

function changedList(before: readonly ScimValue[], target: Target, change: Assignment): readonly ScimValue[] {
  const { attribute, sub } = target;
  const { op, where, value } = change;
  if (where !== undefined || sub !== undefined) return changedElements(before, target, change);
  if (op === 'remove') return value === undefined ? [] : withoutNamed(before, attribute, value);
  const read = elements(readValue(attribute, value ?? null));
  if (read.filter(isPrimary).length > 1) throw invalidValue(attribute, 'at most one primary value');
  // Only null or an empty list in a replace empties the attribute. Values without a known sub-attribute change nothing.
  if (read.length === 0 && elements(value).length > 0) return before;
  const list = op === 'replace' ? replacedBy(read, before, attribute) : [...before, ...read];
  return withoutDuplicates(list, list.length - 1, attribute);
}

/** Replaces the list if a new item has a `value`. Otherwise, the new items are merged into the existing items. */
function replacedBy(read: readonly ScimValue[], before: readonly ScimValue[], attribute: Attribute) {
  const given = read.map((one) => mergedWithSameType(one, before, attribute));
  const isReplaced = read.length === 0 || read.some((one) => canReplace(one, attribute));
  return isReplaced ? given : [...before, ...given];
}

/** Returns whether the item contains the sub-attribute `value` and can therefore replace another item. */
const canReplace = (one: ScimValue | undefined, attribute: Attribute): boolean =>
  one !== undefined &&
  (!isObject(one) || one['value'] !== undefined || partNamed(attribute, 'value') === undefined);

/** Merges an item without `value` into the existing item of the same type. */
function mergedWithSameType(one: ScimValue, before: readonly ScimValue[], attribute: Attribute): ScimValue {
  if (!isObject(one) || canReplace(one, attribute)) return one;
  const same = before.find((old) => isObject(old) && old['type'] === one['type']);
  return isObject(same) ? { ...same, ...one } : one;
}

/** Entra ID removes items of a list by their values. null or an empty list removes nothing. */
function withoutNamed(before: readonly ScimValue[], attribute: Attribute, value: ScimValue) {
  const named = elements(readValue(attribute, value));
  return before.filter((old) => !named.some((one) => idOf(one) === idOf(old)));
}

const idOf = (element: ScimValue): ScimValue | undefined => (isObject(element) ? element['value'] : element);

/** Replaces the items that the filter selects (or all items), or sets one sub-attribute of each of these items. */
function changedElements(before: readonly ScimValue[], target: Target, change: Assignment) {
  const { attribute, sub } = target;
  const { op, where, value } = change;
  const isSelected = (element: ScimValue) => where === undefined || matchesElement(where, element, attribute);
  if (where !== undefined) checkElementFilter(where, attribute);
  if (op === 'remove' && sub === undefined) return before.filter((element) => !isSelected(element));
  const given = sub === undefined ? readSingle(attribute, value ?? null) : undefined;
  const edit = (element: ScimValue) => changedElement(element, target, change, given);
  const firstSelected = before.findIndex(isSelected);
  if (firstSelected !== -1) {
    const edited = before.flatMap((element) => (isSelected(element) ? (edit(element) ?? []) : [element]));
    return withoutDuplicates(edited, firstSelected, attribute);
  }
  const created = op === 'remove' ? undefined : createdElement(target, change, given);
  return created === undefined ? before : withoutDuplicates([...before, created], before.length, attribute);
}

/** Creates the item that a filter describes, if the request also contains a value. A filter alone creates nothing. */
function createdElement(target: Target, change: Assignment, given: ScimValue | undefined) {
  const { attribute, sub } = target;
  const { op, where, value } = change;
  if (op === 'replace') checkCreatable(where, attribute);
  const named = sub === undefined ? given : readValue(withParent(attribute, sub), value ?? null);
  if (named === undefined || named === '') return undefined;
  return changedElement(where === undefined ? {} : impliedBy(where, attribute), target, change, given);
}

/** @param given the new value, if the change replaces the whole item */
function changedElement(
  element: ScimValue,
  { attribute, sub }: Target,
  { op, where, value }: Assignment,
  given: ScimValue | undefined,
): ScimValue | undefined {
  const parts = isObject(element) ? element : {};
  if (sub !== undefined) return withPart(parts, { attribute, sub }, op === 'remove' ? undefined : value);
  return op === 'replace' && canReplace(given, attribute)
    ? replacedElement(parts, given ?? null, where && impliedBy(where, attribute))
    : merged(attribute, parts, value ?? null);
}

/** @throws ScimError noTarget if the filter selects no value and does not describe a complete value */
function checkCreatable(where: Filter | undefined, { name }: Attribute): void {
  if (where === undefined || describes(where)) return;
  throw badRequest('noTarget', `${name}: expected a filter that selects a value, got one that selects none`);
}

/**
 * Returns the new item with the values that the filter requires, so that a repetition of the request finds the item.
 */
function replacedElement(parts: ScimObject, given: ScimValue, implied: ScimObject = {}): ScimValue {
  const found = Object.entries(parts).filter(([name]) => implied[name] !== undefined);
  return isObject(given) ? { ...Object.fromEntries(found), ...given } : given;
}

/**
 * Returns whether a value can be created from the filter: each condition compares a sub-attribute other than `value`
 * for equality. A filter on `value` names an existing item, so it is a client error if no item matches.
 */
const describes = (where: Filter): boolean =>
  conjuncts(where).every(
    (part) => part.kind === 'compare' && part.operator === 'eq' && part.path.name.toLowerCase() !== 'value',
  );

/** Returns the sub-attributes of a new item: for `emails[type eq "work"]`, the type. */
function impliedBy(where: Filter, attribute: Attribute): ScimObject {
  const implied: ScimDraft = {};
  for (const part of conjuncts(where)) {
    if (part.kind !== 'compare' || part.operator !== 'eq') continue;
    const sub = partNamed(attribute, part.path.name);
    const value = sub && readValue(withParent(attribute, sub), part.value);
    if (sub !== undefined && value !== undefined) implied[sub.name] = value;
  }
  return implied;
}

function withPart(
  parts: ScimObject,
  { attribute, sub }: { readonly attribute: Attribute; readonly sub: Attribute },
  value: ScimValue | undefined,
): ScimObject | undefined {
  const changed: ScimDraft = { ...parts };
  const read = value === undefined ? undefined : readValue(withParent(attribute, sub), value);
  if (read === undefined) delete changed[sub.name];
  else changed[sub.name] = read;
  return Object.keys(changed).length === 0 ? undefined : changed;
}

/** Merges items with the same type and value, because each pair must be unique (RFC 7643 section 2.4). */
function withoutDuplicates(list: readonly ScimValue[], newest: number, attribute: Attribute) {
  const distinct = new Map<string, ScimValue>();
  const keys = list.map((one) => keyOf(one, attribute));
  for (const [index, one] of list.entries()) {
    const key = keys[index] ?? '';
    const old = distinct.get(key);
    distinct.set(key, isObject(old) && isObject(one) ? { ...old, ...one } : one);
  }
  if (distinct.size > MAX_VALUES) throw invalidValue(attribute, `at most ${MAX_VALUES} values`);
  return onePrimary([...distinct.values()], [...distinct.keys()].indexOf(keys[newest] ?? ''));
}

function keyOf(one: ScimValue, attribute: Attribute): string {
  if (!isObject(one)) return JSON.stringify(one);
  if (one['value'] === undefined) return JSON.stringify(Object.entries(one).toSorted());
  const parts = ['type', 'value'].map((name) => {
    const sub = partNamed(attribute, name);
    const part = one[name] ?? null;
    return sub !== undefined && typeof part === 'string' ? folded(sub, part) : part;
  });
  return JSON.stringify(parts);
}

const isPrimary = (element: ScimValue | undefined): boolean =>
  isObject(element) && element['primary'] === true;

/**
 * Keeps one primary item (RFC 7643 section 2.4): the item at `newest` if it is primary, otherwise the last primary
 * item.
 */
function onePrimary(list: readonly ScimValue[], newest: number): readonly ScimValue[] {
  if (list.filter(isPrimary).length < 2) return list;
  const primaryIndex = isPrimary(list[newest]) ? newest : list.findLastIndex(isPrimary);
  return list.map((element, index) =>
    index !== primaryIndex && isObject(element) && isPrimary(element)
      ? { ...element, primary: false }
      : element,
  );
}
