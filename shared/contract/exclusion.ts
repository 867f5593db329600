import type { Register } from '../domain/register.ts';
import { addressForm } from './address.ts';
import { OTHER_EMAILS } from './match-rule.ts';

/** The attributes that every source may send. A custom attribute of a directory is `custom.` and its name there. */
export const USER_ATTRIBUTES = [
  'email',
  OTHER_EMAILS,
  'userName',
  'name',
  'externalId',
  'employeeNumber',
  'type',
  'department',
] as const;
export const CUSTOM_PREFIX = 'custom.';

/**
 * Reads a condition of `people.exclude`: `attribute=value`, such as `type=guest`. Everything after the first `=` is the
 * value. A member whose attribute has this value is in no group.
 * @returns the value in the form of `addressForm`; undefined if the attribute is unknown or the value is empty
 */
export function parseExclusion(text: string) {
  const equals = text.indexOf('=');
  const attribute = text.slice(0, Math.max(0, equals)).trim();
  const value = addressForm(text.slice(equals + 1));
  const isCustom = attribute.startsWith(CUSTOM_PREFIX) && attribute.length > CUSTOM_PREFIX.length;
  const isKnown = isCustom || USER_ATTRIBUTES.some((name) => name === attribute);
  return isKnown && value !== '' ? { attribute, value } : undefined;
}

export type PeopleSettings = { readonly people: { readonly exclude: readonly string[] } };

export const excludedBy = ({ people }: PeopleSettings): readonly string[] => [
  ...conditionsOf(people.exclude).keys(),
];

/** Returns the condition that applies to a user. A missing or empty attribute meets no condition. */
export function exclusionOf(
  attributes: ReadonlyMap<string, Pick<Register<string>, 'value'>>,
  { people }: PeopleSettings,
): string | undefined {
  for (const [attribute, conditions] of conditionsOf(people.exclude)) {
    const value = attributes.get(attribute)?.value ?? '';
    const values = attribute === OTHER_EMAILS ? value.split(/\s+/) : [value];
    const found = values.find((one) => conditions.has(addressForm(one)));
    if (found !== undefined) return conditions.get(addressForm(found));
  }
  return undefined;
}

type Conditions = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** A pass evaluates the same list for each of up to a hundred thousand users. */
const parsedLists = new WeakMap<readonly string[], Conditions>();

function conditionsOf(exclude: readonly string[]): Conditions {
  const known = parsedLists.get(exclude);
  if (known !== undefined) return known;
  const byAttribute = new Map<string, Map<string, string>>();
  for (const text of exclude) {
    const { attribute, value } = parseExclusion(text) ?? {};
    if (attribute === undefined || value === undefined) continue;
    byAttribute.set(attribute, (byAttribute.get(attribute) ?? new Map<string, string>()).set(value, text));
  }
  parsedLists.set(exclude, byAttribute);
  return byAttribute;
}
