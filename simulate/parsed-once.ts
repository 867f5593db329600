import type * as z from 'zod';
import { decode as decoded } from '../shared/platform/decode.ts';
import { understood as parsed } from '../shared/store/item-form.ts';
import type { Item } from '../shared/store/table.ts';

export * from '../shared/platform/decode.ts';
export * from '../shared/store/item-form.ts';

/**
 * Replaces shared/store/item-form.ts and shared/platform/decode.ts in many-runs.ts, to make runs faster. Until an item
 * changes, the table in memory returns the same frozen object to all readers. So each item is validated only once per
 * schema. Equal answers of the platform are decoded only once.
 */

/**
 * The maximum number of cached items. An unlimited cache (a WeakMap) cost more time in garbage collection than it
 * saved.
 */
const MOST_ITEMS = 8_192;
const items = new Map<Item, { readonly form: unknown; readonly value: unknown }>();

/** Replaces the function `understood` of item-form.ts, and caches its results. */
export function understood<Form>(form: z.ZodType<Form>, item: Item, what: string): Form {
  const known = items.get(item);
  if (known?.form === form) return known.value as Form;
  const value = parsed(form, item, what);
  if (items.size >= MOST_ITEMS) items.clear();
  if (known === undefined) items.set(item, { form, value });
  return value;
}

const MOST_ANSWERS = 200;
const answers = new Map<string, Map<string, ReturnType<typeof decoded>>>();

/**
 * Replaces the function `decode` of decode.ts, and caches its results. The results are frozen, so a change of a shared
 * result throws an error.
 */
export const decode: typeof decoded = (text, decoding, facts, secrets) => {
  const endpoint = `${facts.method} ${facts.pathTemplate}`;
  const known = answers.get(endpoint) ?? new Map();
  const found = known.get(text) ?? deeplyFrozen(decoded(text, decoding, facts, secrets));
  if (known.size >= MOST_ANSWERS) known.clear();
  answers.set(endpoint, known.set(text, found));
  return found;
};

function deeplyFrozen<What>(what: What): What {
  if (typeof what === 'object' && what !== null) Object.values(Object.freeze(what)).forEach(deeplyFrozen);
  return what;
}
