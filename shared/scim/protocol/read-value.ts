import { type Attribute, asBoolean } from './attribute.ts';
import { badRequest } from './errors.ts';
import { elements, fieldOf, isObject, type ScimDraft, type ScimObject, type ScimValue } from './value.ts';

/** Maximum length of a text attribute in characters. Usual values are far shorter. */
const MAX_TEXT_LENGTH = 4_096;
/** Maximum number of values of a multi-valued attribute, except `members`. */
export const MAX_VALUES = 1_000;

/** Matches half of a surrogate pair. UTF-8 cannot encode it, so two different texts could become equal in the table. */
export const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Converts a value to the form of its schema:
 *
 * - sub-attributes get their canonical names, and unknown ones are dropped
 * - a boolean can be text ("False")
 * - a single value can be in an object or a list of one object, as `[{"value": "False"}]`
 * - a multi-valued attribute becomes a list
 *
 * null and empty lists mean no value (RFC 7643 section 2.5).
 * @returns undefined for no value
 * @throws ScimError invalidValue
 */
export function readValue(attribute: Attribute, raw: ScimValue): ScimValue | undefined {
  if (!attribute.multiValued) {
    const single = singleValue(raw);
    const wrapped = attribute.type !== 'complex' && isObject(single) ? fieldOf(single, 'value') : undefined;
    return readSingle(attribute, wrapped === undefined ? single : wrapped);
  }
  const values = elements(raw);
  if (values.length > MAX_VALUES) throw invalidValue(attribute, `at most ${MAX_VALUES} values`);
  const read = values.flatMap((value) => readSingle(attribute, value) ?? []);
  return read.length === 0 ? undefined : read;
}

/** Entra ID can send a single value as a list of one item, and a value that is no object as `{"value": …}`. */
export const singleValue = (raw: ScimValue | undefined): ScimValue =>
  Array.isArray(raw) && raw.length === 1 ? ((raw as readonly ScimValue[])[0] ?? null) : (raw ?? null);

export function readSingle(attribute: Attribute, raw: ScimValue): ScimValue | undefined {
  if (raw === null) return undefined;
  switch (attribute.type) {
    case 'complex':
      return mergeParts(attribute, {}, raw);
    case 'boolean':
      return readBoolean(attribute, raw);
    case 'dateTime':
      if (typeof raw !== 'string' || Number.isNaN(Date.parse(raw)))
        throw invalidValue(attribute, 'a date and time');
      return raw;
    default:
      return readText(attribute, raw);
  }
}

/**
 * Merges the sent sub-attributes into a complex value. null removes a sub-attribute. Sub-attributes that are not sent
 * stay (RFC 7644 section 3.5.2.3). A value without an object around it means an object with that `value`. Some clients
 * send members, addresses and managers in this form.
 * @returns undefined if no sub-attribute is left
 */
export function mergeParts(attribute: Attribute, before: ScimObject, raw: ScimValue): ScimObject | undefined {
  const given: ScimObject = isObject(raw) ? raw : { value: raw };
  const hasValue = attribute.subAttributes?.some(({ name }) => name === 'value') === true;
  if (!isObject(raw) && (!hasValue || (raw === '' && attribute.multiValued)))
    throw invalidValue(attribute, 'an object');
  // An empty manager means no manager.
  if (hasValue && !attribute.multiValued && fieldOf(given, 'value') === '') return undefined;
  return withParts(attribute, before, given);
}

function withParts(attribute: Attribute, before: ScimObject, given: ScimObject): ScimObject | undefined {
  const merged: ScimDraft = { ...before };
  for (const sub of attribute.subAttributes ?? []) {
    const item = sub.mutability === 'readOnly' ? undefined : fieldOf(given, sub.name);
    if (item === undefined) continue;
    const value = readValue(withParent(attribute, sub), item);
    if (value === undefined) delete merged[sub.name];
    else merged[sub.name] = value;
  }
  return Object.keys(merged).length === 0 ? undefined : merged;
}

function readBoolean(attribute: Attribute, raw: ScimValue): boolean {
  const read = typeof raw === 'string' ? asBoolean(raw) : raw;
  if (typeof read !== 'boolean') throw invalidValue(attribute, 'true or false');
  return read;
}

function readText(attribute: Attribute, raw: ScimValue): string {
  // Clients often send an employee number as a JSON number. Only integers have one text form.
  const text = Number.isSafeInteger(raw) ? String(raw) : raw;
  if (typeof text !== 'string') throw invalidValue(attribute, 'a string');
  if (text === '' && attribute.name === 'externalId')
    throw invalidValue(attribute, 'an id, or null for none');
  if (text.length > MAX_TEXT_LENGTH) throw invalidValue(attribute, `at most ${MAX_TEXT_LENGTH} characters`);
  if (LONE_SURROGATE.test(text)) throw invalidValue(attribute, 'valid Unicode');
  return text;
}

/** Returns a sub-attribute under its whole name, for errors: `emails.value`. */
export const withParent = ({ name }: Attribute, sub: Attribute): Attribute => ({
  ...sub,
  name: `${name}.${sub.name}`,
});

export const invalidValue = (attribute: Attribute, what: string) =>
  badRequest('invalidValue', `${attribute.name}: expected ${what}`);
