/** The schema of one attribute (RFC 7643 section 7), in the format of `/Schemas`. */
export interface Attribute {
  readonly name: string;
  readonly type: 'string' | 'boolean' | 'dateTime' | 'reference' | 'binary' | 'complex';
  readonly multiValued: boolean;
  readonly description: string;
  readonly required: boolean;
  readonly caseExact: boolean;
  readonly mutability: 'readOnly' | 'readWrite' | 'immutable' | 'writeOnly';
  readonly returned: 'always' | 'default' | 'never' | 'request';
  readonly uniqueness: 'none' | 'server';
  readonly canonicalValues?: readonly string[];
  readonly referenceTypes?: readonly string[];
  readonly subAttributes?: readonly Attribute[];
}

export interface Schema {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly attributes: readonly Attribute[];
}

type Details = Partial<Omit<Attribute, 'name' | 'description' | 'type'>>;

/** Returns an attribute with RFC 7643's defaults (section 2.2). */
export function attribute(
  type: Attribute['type'],
  name: string,
  description: string,
  details: Details = {},
): Attribute {
  return {
    name,
    type,
    multiValued: false,
    description,
    required: false,
    caseExact: false,
    mutability: 'readWrite',
    returned: 'default',
    uniqueness: 'none',
    ...details,
  };
}

export const text = (name: string, description: string, details: Details = {}): Attribute =>
  attribute('string', name, description, details);

export const flag = (name: string, description: string, details: Details = {}): Attribute =>
  attribute('boolean', name, description, details);

/** A multi-valued attribute with the sub-attributes of RFC 7643 section 2.4. */
export function plural(
  name: string,
  description: string,
  types: readonly string[] = [],
  value: Attribute = text('value', 'The value.'),
): Attribute {
  const kind = text('type', 'What the value is used for.', { canonicalValues: types });
  return attribute('complex', name, description, {
    multiValued: true,
    subAttributes: [
      value,
      text('display', 'The value for people to read.'),
      kind,
      flag('primary', 'Whether this is the preferred value.'),
    ],
  });
}

const WIDE_OR_NARROW = /[\u3000\uff01-\uffee]/g;

/** The normalisation UsernameCaseMapped of PRECIS (RFC 8265 section 3.3): width, case, composition. */
const foldUserName = (text: string): string =>
  text
    .replace(WIDE_OR_NARROW, (character) => character.normalize('NFKC'))
    .toLowerCase()
    .normalize('NFC');

/** Two names of groups are equal if they differ only in case, white space, invisible characters or composition. */
const foldGroupName = (text: string): string =>
  text
    .replace(/\p{Cf}/gu, '')
    .toLowerCase()
    .normalize('NFC')
    .replace(/\s+/gu, ' ');

/**
 * Returns the text in the form that comparisons of this attribute use (RFC 7644 sections 3.4.2.2 and 5). Filters and
 * the uniqueness rule use the same form, so a client always finds the resource with which a new resource conflicts.
 * @param isPart whether the text may be a part of a value. Spaces at the ends of a part have a meaning
 */
export function folded(
  { name, caseExact, uniqueness }: Pick<Attribute, 'name' | 'caseExact' | 'uniqueness'>,
  text: string,
  isPart = false,
): string {
  if (name === 'userName') return foldUserName(text);
  if (uniqueness === 'none') return caseExact ? text : text.toLowerCase();
  const part = foldGroupName(text);
  return isPart ? part : part.trim();
}

/** Returns a sub-attribute by name, case-insensitively. */
export const partNamed = ({ subAttributes }: Attribute, part: string): Attribute | undefined =>
  subAttributes?.find(({ name }) => name.toLowerCase() === part.toLowerCase());

/** Parses a boolean case-insensitively, because some clients send True and False. */
export function asBoolean(text: string): boolean | undefined {
  const folded = text.toLowerCase();
  if (folded === 'true') return true;
  return folded === 'false' ? false : undefined;
}
