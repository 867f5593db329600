import type * as z from 'zod';
import { decode as decoded } from '../shared/platform/decode.ts';
import { understood as parsed } from '../shared/store/item-form.ts';
import type { Item } from '../shared/store/table.ts';

export * from '../shared/platform/decode.ts';
export * from '../shared/store/item-form.ts';

/*
 * Replaces shared/store/item-form.ts and shared/platform/decode.ts when many simulation runs are executed
 * (many-runs.ts). The table in memory returns the same frozen item to all readers until it changes. Each item is
 * therefore parsed and validated only once per form. An answer of the platform with an unchanged text is decoded only
 * once.
 */

/** A WeakMap of all items would cost more garbage collection than it saves. */
const MOST_ITEMS = 8_192;
const items = new Map<Item, { readonly form: unknown; readonly value: unknown }>();

/** Replaces the export with the same name. */
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

/** Caches the result, as `understood` does. An attempt to change a shared result throws. */
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
