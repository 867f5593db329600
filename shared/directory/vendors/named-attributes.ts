import { MAX_ATTRIBUTE_BYTES } from '../../contract/events/bounds.ts';
import { LONE_SURROGATE } from '../../contract/events/fields.ts';
import { CUSTOM_PREFIX } from '../../contract/exclusion.ts';

/**
 * Returns the vendor's name of an attribute that a setting names. A custom attribute has its own name in the directory.
 * @returns undefined if the vendor has no such attribute
 */
export const vendorName = (names: Readonly<Record<string, string>>, attribute: string): string | undefined =>
  attribute.startsWith(CUSTOM_PREFIX) ? attribute.slice(CUSTOM_PREFIX.length) : names[attribute];

/** Returns the value of each attribute. A missing value is empty, so that it ends an earlier value. */
export const namedValues = (
  attributes: readonly string[],
  read: (attribute: string) => unknown,
): readonly (readonly [string, string])[] =>
  attributes.map((attribute) => [attribute, storable(attribute, textOf(read(attribute)))]);

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(' ');
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : '';
}

/** Ingest refuses an event with a longer value. */
const storable = (attribute: string, value: string): string =>
  Buffer.byteLength(attribute + value) > MAX_ATTRIBUTE_BYTES || LONE_SURROGATE.test(value) ? '' : value;
