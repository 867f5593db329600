import { type Attribute, asBoolean } from './attribute.ts';
import { badRequest } from './errors.ts';
import { elements, fieldOf, isObject, type ScimDraft, type ScimObject, type ScimValue } from './value.ts';

/** Longest text of one attribute, in characters: what matches or names anything is far shorter. */
const MAX_TEXT_LENGTH = 4_096;
/** Values of one multi-valued attribute other than `members`. */
export const MAX_VALUES = 1_000;

/** Half of a surrogate pair has no UTF-8 form, so two different texts could become one in the store. */
export const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * A value as the schema has it: canonical names, booleans that were spelt ("False"), a list where there are several,
 * nothing that no schema knows. null and empty lists are no value (RFC 7643 section 2.5).
 * @returns undefined for no value
 * @throws ScimError invalidValue
 */
export function readValue(attribute: Attribute, raw: ScimValue): ScimValue | undefined {
  if (!attribute.multiValued) return readSingle(attribute, onlyOf(raw));
  const values = elements(raw);
  if (values.length > MAX_VALUES) throw wrong(attribute, `at most ${MAX_VALUES} values`);
  const read = values.flatMap((value) => readSingle(attribute, value) ?? []);
  return read.length === 0 ? undefined : read;
}

/** Entra ID may write one value as a list of one. */
export const onlyOf = (raw: ScimValue | undefined): ScimValue =>
  Array.isArray(raw) && raw.length === 1 ? ((raw as readonly ScimValue[])[0] ?? null) : (raw ?? null);

/** One value of an attribute, whether it may hold several or not. */
export function readSingle(attribute: Attribute, raw: ScimValue): ScimValue | undefined {
  if (raw === null) return undefined;
  switch (attribute.type) {
    case 'complex':
      return mergeParts(attribute, {}, raw);
    case 'boolean':
      return readBoolean(attribute, raw);
    case 'dateTime':
      if (typeof raw !== 'string' || Number.isNaN(Date.parse(raw))) throw wrong(attribute, 'a date and time');
      return raw;
    default:
      return readText(attribute, raw);
  }
}

/**
 * The parts of a complex value after those that a client names: a part that is null is taken away, one that is not named
 * stays (RFC 7644 section 3.5.2.3). A bare value stands for an object with that `value`, as some clients write members,
 * addresses and managers.
 * @returns undefined if no part is left
 */
export function mergeParts(attribute: Attribute, before: ScimObject, raw: ScimValue): ScimObject | undefined {
  const given: ScimObject = isObject(raw) ? raw : { value: raw };
  const hasValue = attribute.subAttributes?.some(({ name }) => name === 'value') === true;
  if (!isObject(raw) && (!hasValue || (raw === '' && attribute.multiValued)))
    throw wrong(attribute, 'an object');
  // An empty manager is none.
  if (hasValue && !attribute.multiValued && fieldOf(given, 'value') === '') return undefined;
  return withParts(attribute, before, given);
}

function withParts(attribute: Attribute, before: ScimObject, given: ScimObject): ScimObject | undefined {
  const merged: ScimDraft = { ...before };
  for (const sub of attribute.subAttributes ?? []) {
    const item = sub.mutability === 'readOnly' ? undefined : fieldOf(given, sub.name);
    if (item === undefined) continue;
    const value = readValue(sub, item);
    if (value === undefined) delete merged[sub.name];
    else merged[sub.name] = value;
  }
  return Object.keys(merged).length === 0 ? undefined : merged;
}

function readBoolean(attribute: Attribute, raw: ScimValue): boolean {
  const read = typeof raw === 'string' ? asBoolean(raw) : raw;
  if (typeof read !== 'boolean') throw wrong(attribute, 'true or false');
  return read;
}

function readText(attribute: Attribute, raw: ScimValue): string {
  // An employee number is often sent as a number; other numbers have no one way to write them.
  const text = Number.isSafeInteger(raw) ? String(raw) : raw;
  if (typeof text !== 'string') throw wrong(attribute, 'a string');
  if (text === '' && attribute.name === 'externalId') throw wrong(attribute, 'an id, or null for none');
  if (text.length > MAX_TEXT_LENGTH) throw wrong(attribute, `at most ${MAX_TEXT_LENGTH} characters`);
  if (LONE_SURROGATE.test(text)) throw wrong(attribute, 'valid Unicode');
  return text;
}

export const wrong = (attribute: Attribute, what: string) =>
  badRequest('invalidValue', `${attribute.name}: expected ${what}`);
