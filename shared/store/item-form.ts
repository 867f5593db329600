import type * as z from 'zod';
import { CorruptItemError } from '../sync/ports/store-errors.ts';
import type { Attributes, Item, Key, Table } from './table.ts';

/** Raised only by a change that the release before could not read; new optional attributes leave it as it is. */
const SCHEMA = 1;

/**
 * Carried by the items that `understood` reads; one without it is of schema 1, as are all registers of members: a group
 * has a hundred thousand of them. Where an item is changed without having been read, only one that has none gets it: what
 * a newer release wrote stays marked as such.
 */
export const OF_THIS_SCHEMA = { schema: SCHEMA } as const;

/**
 * An item in the form that this version writes.
 * @param what as in “expected a group at …”, to be found by
 * @throws CorruptItemError if it has another form, or a newer release wrote it
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

/** The item at a key, if there is one, likewise. */
export async function storedAt<Form>(table: Table, key: Key, form: z.ZodType<Form>, what: string) {
  const item = await table.get(key);
  return item && understood(form, item, `${what} at ${item.pk}`);
}

/** What is plain JSON, without what is undefined; the cast only drops the brands of ids. */
export const plain = (value: object): Attributes =>
  Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined)) as Attributes;
