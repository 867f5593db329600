import type * as z from 'zod';
import { understood as parsed } from '../shared/store/item-form.ts';
import type { Item } from '../shared/store/table.ts';

export * from '../shared/store/item-form.ts';

/*
 * Stands in for shared/store/item-form.ts where many lives are lived (lives.ts): the table in memory gives the same
 * frozen item to all readers until it is changed, so it is parsed, and judged by its schema, once in each form.
 */

interface Read {
  readonly form: unknown;
  readonly value: unknown;
}

/** A WeakMap of all items would cost the collector more than it saves: those that nobody read lately are forgotten. */
const MOST = 4_096;
let lately = new Map<Item, Read>();
let before = new Map<Item, Read>();

/** In place of the one of the same name that all the rest comes with. */
export function understood<Form>(form: z.ZodType<Form>, item: Item, what: string): Form {
  const known = lately.get(item) ?? before.get(item);
  if (known !== undefined && known.form !== form) return parsed(form, item, what);
  const read = known ?? { form, value: parsed(form, item, what) };
  if (!lately.has(item)) {
    if (lately.size >= MOST) [before, lately] = [lately, new Map()];
    lately.set(item, read);
  }
  return read.value as Form;
}
