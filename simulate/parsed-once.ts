import type * as z from 'zod';
import { understood as parsed } from '../shared/store/item-form.ts';
import type { Item } from '../shared/store/table.ts';

export * from '../shared/store/item-form.ts';

/*
 * Stands in for shared/store/item-form.ts where many lives are lived (lives.ts): the table in memory gives the same
 * frozen item to all readers until it is changed, so it is parsed, and judged by its schema, once in each form.
 */

class Self {
  constructor(item: object) {
    // biome-ignore lint/correctness/noConstructorReturn: so a private field comes to lie in the item, frozen as it is.
    return item;
  }
}

/** A WeakMap of a million items would cost the collector more than it saves. */
class Read extends Self {
  readonly #form: unknown;
  readonly #value: unknown;

  private constructor(item: Item, form: unknown, value: unknown) {
    super(item);
    this.#form = form;
    this.#value = value;
  }

  static in<Form>(form: z.ZodType<Form>, item: Item, what: string): Form {
    if (#form in item) {
      const known: Read = item;
      return known.#form === form ? (known.#value as Form) : parsed(form, item, what);
    }
    const value = parsed(form, item, what);
    new Read(item, form, value);
    return value;
  }
}

/** In place of the one of the same name that all the rest comes with. */
export const understood = Read.in;
