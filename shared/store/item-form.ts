import type * as z from 'zod';
import { CorruptItemError } from '../sync/ports/store-errors.ts';
import type { Attributes, Item, Key, Table } from './table.ts';

/**
 * The schema number of this release. Raise it only for a change that the previous release cannot read. A new optional
 * attribute is no such change.
 */
const SCHEMA = 1;

/**
 * The schema mark of the items that `understood` reads. An item without a mark has schema 1. Registers of members have
 * no mark, because a group may have a hundred thousand registers. `dirtying` writes a group without reading its schema.
 * So it sets the mark only if the item has none, and the mark of a newer release stays.
 */
export const OF_THIS_SCHEMA = { schema: SCHEMA } as const;

/**
 * Returns an item in the form that this version writes.
 * @param what the description of the item in the error, as in “expected a group at …”
 * @throws CorruptItemError if the item has another form, or a newer release wrote it
 */
export function understood<Form>(form: z.ZodType<Form>, item: Item, what: string): Form {
  const { schema = SCHEMA } = item;
  if (!(Number(schema) <= SCHEMA)) {
    throw new CorruptItemError(
      `expected ${what} in schema ${SCHEMA}, got schema ${schema}: a newer release of groupsync wrote it`,
    );
  }
  const parsed = form.safeParse(item);
  if (!parsed.success) throw new CorruptItemError(`expected ${what}`, { cause: parsed.error });
  return parsed.data;
}

/** Returns the item at a key in the form of `understood`; undefined if there is no item. */
export async function storedAt<Form>(table: Table, key: Key, form: z.ZodType<Form>, what: string) {
  const item = await table.get(key);
  return item && understood(form, item, `${what} at ${item.pk}`);
}

/** Returns the value as attributes. Fields that are undefined are left out, but only at the top level. */
export const plain = (value: object): Attributes =>
  Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined)) as Attributes;
