import { type Attribute, folded, partNamed } from '../attribute.ts';
import { badRequest } from '../errors.ts';
import { checkElementFilter, conjuncts, type Filter, matchesElement } from '../filter/evaluate.ts';
import { MAX_VALUES, mergeParts, onlyOf, readSingle, readValue, wrong } from '../read-value.ts';
import type { Place } from '../resource-type.ts';
import { elements, isObject, type ScimDraft, type ScimObject, type ScimValue } from '../value.ts';
import type { PatchOperation } from './operation.ts';

export interface Assignment {
  readonly op: PatchOperation['op'];
  /** Which values of a multi-valued attribute; all where undefined. */
  readonly where: Filter | undefined;
  readonly value: ScimValue | undefined;
}

type Target = Pick<Place, 'attribute' | 'sub'>;

/**
 * Changes one attribute of `holder` (RFC 7644 sections 3.5.2.1 to 3.5.2.3).
 *
 * | attribute       | add                          | replace                         | remove                     |
 * |-----------------|------------------------------|---------------------------------|----------------------------|
 * | simple          | set                          | set                             | gone                       |
 * | complex         | its parts are merged in      | the same                        | gone                       |
 * | list            | new values join              | exactly these                   | gone, or those named       |
 * | list[filter]    | merged in, or created        | in its place, or created        | those removed              |
 * | part of one     | set, created if missing      | set, created if missing         | removed                    |
 *
 * A replace whose filter selects no value is answered with noTarget, unless the filter describes the value (`describes`).
 * Microsoft Entra ID sends `Replace emails[type eq "work"].value` for a user who has no address yet, in one PATCH with
 * other changes of the user.
 *
 * Where values have a `value`, one that is named without it replaces nothing: its parts are merged in.
 */
export function assign(holder: ScimDraft, target: Target, change: Assignment): void {
  const { attribute } = target;
  const before = holder[attribute.name];
  const after = attribute.multiValued
    ? changedList(elements(before), target, change)
    : changedSingle(before, target, change);
  const isNothing = after === undefined || (Array.isArray(after) && after.length === 0);
  if (!isNothing) holder[attribute.name] = after;
  else if (attribute.required)
    throw badRequest('mutability', `${attribute.name}: expected a value, which it needs`);
  else delete holder[attribute.name];
}

function changedSingle(before: ScimValue | undefined, { attribute, sub }: Target, { op, value }: Assignment) {
  if (sub?.name === 'value' && value === '') return undefined;
  if (sub !== undefined)
    return withPart(isObject(before) ? before : {}, sub, op === 'remove' ? undefined : value);
  if (op === 'remove') return undefined;
  return isObject(before) ? merged(attribute, before, onlyOf(value)) : readValue(attribute, value ?? null);
}

/** null is no value; any other says what its parts become. */
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
  // Only null or an empty list empties it; values of which no part is known change nothing.
  if (read.length === 0 && elements(value).length > 0) return before;
  const list = op === 'replace' ? replacedBy(read, before, attribute) : [...before, ...read];
  return tidied(list, list.length - 1, attribute);
}

/** Values that only name parts of existing ones are merged into those. */
function replacedBy(
  read: readonly ScimValue[],
  before: readonly ScimValue[],
  attribute: Attribute,
): readonly ScimValue[] {
  const given = read.map((one) => completed(one, before, attribute));
  const isReplaced = read.length === 0 || read.some((one) => isWhole(one, attribute));
  return isReplaced ? given : [...before, ...given];
}

/** Whether it says what it is the value of, and so can stand in another's place. */
const isWhole = (one: ScimValue | undefined, attribute: Attribute): boolean =>
  one !== undefined &&
  (!isObject(one) || one['value'] !== undefined || partNamed(attribute, 'value') === undefined);

/** One without its `value` says more of the one of its type that is there. */
function completed(one: ScimValue, before: readonly ScimValue[], attribute: Attribute): ScimValue {
  if (!isObject(one) || isWhole(one, attribute)) return one;
  const same = before.find((old) => isObject(old) && old['type'] === one['type']);
  return isObject(same) ? { ...same, ...one } : one;
}

/** Entra ID removes values of a list by naming them; null or an empty list names none. */
function withoutNamed(before: readonly ScimValue[], attribute: Attribute, value: ScimValue) {
  const named = elements(readValue(attribute, value));
  return before.filter((old) => !named.some((one) => idOf(one) === idOf(old)));
}

const idOf = (element: ScimValue): ScimValue | undefined => (isObject(element) ? element['value'] : element);

/** Changes the values that the filter selects, or all of them, as a whole or in one part. */
function changedElements(
  before: readonly ScimValue[],
  target: Target,
  change: Assignment,
): readonly ScimValue[] {
  const { attribute, sub } = target;
  const { op, where, value } = change;
  const isMeant = (element: ScimValue) => where === undefined || matchesElement(where, element, attribute);
  if (where !== undefined) checkElementFilter(where, attribute);
  if (op === 'remove' && sub === undefined) return before.filter((element) => !isMeant(element));
  const given = sub === undefined ? readSingle(attribute, value ?? null) : undefined;
  const edit = (element: ScimValue) => changedElement(element, target, change, given);
  const meant = before.findIndex(isMeant);
  if (meant !== -1) {
    const edited = before.flatMap((element) => (isMeant(element) ? (edit(element) ?? []) : [element]));
    return tidied(edited, meant, attribute);
  }
  const created = op === 'remove' ? undefined : createdElement(target, change, given);
  return created === undefined ? before : tidied([...before, created], before.length, attribute);
}

/** The value that a filter describes, if the request also gives one: a filter alone creates no value. */
function createdElement(
  target: Target,
  change: Assignment,
  given: ScimValue | undefined,
): ScimValue | undefined {
  const { attribute, sub } = target;
  const { op, where, value } = change;
  if (op === 'replace') checkCreatable(where, attribute);
  const named = sub === undefined ? given : readValue(sub, value ?? null);
  if (named === undefined || named === '') return undefined;
  return changedElement(where === undefined ? {} : impliedBy(where, attribute), target, change, given);
}

/** @param given the value of the change, where it is a whole one */
function changedElement(
  element: ScimValue,
  { attribute, sub }: Target,
  { op, where, value }: Assignment,
  given: ScimValue | undefined,
): ScimValue | undefined {
  const parts = isObject(element) ? element : {};
  if (sub !== undefined) return withPart(parts, sub, op === 'remove' ? undefined : value);
  return op === 'replace' && isWhole(given, attribute)
    ? inPlaceOf(parts, given ?? null, where && impliedBy(where, attribute))
    : merged(attribute, parts, value ?? null);
}

/** @throws ScimError noTarget if the filter selects no value and does not describe one to create */
function checkCreatable(where: Filter | undefined, { name }: Attribute): void {
  if (where === undefined || describes(where)) return;
  throw badRequest('noTarget', `${name}: expected a filter that selects a value, got one that selects none`);
}

/** What the filter asked for stays, so that the same request finds the value again. */
function inPlaceOf(parts: ScimObject, given: ScimValue, implied: ScimObject = {}): ScimValue {
  const found = Object.entries(parts).filter(([name]) => implied[name] !== undefined);
  return isObject(given) ? { ...Object.fromEntries(found), ...given } : given;
}

/**
 * Whether a filter describes a value well enough to create one: it only compares parts for equality, and not `value`. A
 * filter on `value` names one existing value, so a replace of a missing one is a mistake of the client.
 */
const describes = (where: Filter): boolean =>
  conjuncts(where).every(
    (part) => part.kind === 'compare' && part.operator === 'eq' && part.path.name.toLowerCase() !== 'value',
  );

/** `emails[type eq "work"]` that is not there yet is made with that type. */
function impliedBy(where: Filter, attribute: Attribute): ScimObject {
  const implied: ScimDraft = {};
  for (const part of conjuncts(where)) {
    if (part.kind !== 'compare' || part.operator !== 'eq') continue;
    const sub = partNamed(attribute, part.path.name);
    const value = sub && readValue(sub, part.value);
    if (sub !== undefined && value !== undefined) implied[sub.name] = value;
  }
  return implied;
}

function withPart(parts: ScimObject, sub: Attribute, value: ScimValue | undefined): ScimObject | undefined {
  const changed: ScimDraft = { ...parts };
  const read = value === undefined ? undefined : readValue(sub, value);
  if (read === undefined) delete changed[sub.name];
  else changed[sub.name] = read;
  return Object.keys(changed).length === 0 ? undefined : changed;
}

/** No (type, value) twice: who names one again says more of it (RFC 7643 section 2.4). */
function tidied(list: readonly ScimValue[], newest: number, attribute: Attribute): readonly ScimValue[] {
  const distinct = new Map<string, ScimValue>();
  const keys = list.map((one) => keyOf(one, attribute));
  for (const [index, one] of list.entries()) {
    const key = keys[index] ?? '';
    const old = distinct.get(key);
    distinct.set(key, isObject(old) && isObject(one) ? { ...old, ...one } : one);
  }
  if (distinct.size > MAX_VALUES) throw wrong(attribute, `at most ${MAX_VALUES} values`);
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

/** At most one value is primary (RFC 7643 section 2.4): the one at `newest` if it is, else the last that says so. */
function onePrimary(list: readonly ScimValue[], newest: number): readonly ScimValue[] {
  const isPrimary = (element: ScimValue | undefined) => isObject(element) && element['primary'] === true;
  if (list.filter(isPrimary).length < 2) return list;
  const keeper = isPrimary(list[newest]) ? newest : list.findLastIndex(isPrimary);
  return list.map((element, index) =>
    index !== keeper && isObject(element) && isPrimary(element) ? { ...element, primary: false } : element,
  );
}
