import * as z from 'zod';
import type { DirectoryPage } from '../../sync/ports/directory.ts';
import type { Api } from './api.ts';

/** The page size for groups, members and users. Okta plans to lower the default. All these lists accept 200. */
export const PAGE_SIZE = '200';

export interface List<Item extends z.ZodType> {
  readonly operation: string;
  /** Path and query of the first page. */
  readonly path: string;
  readonly item: Item;
  /** See {@link ApiCall.isFixed}. */
  readonly isFixed?: boolean;
}

/** Reads a list to its end, by the links of its pages. */
export const listPages = <Item extends z.ZodType>(
  api: Api,
  { operation, path, item, isFixed = false }: List<Item>,
): AsyncGenerator<DirectoryPage<z.infer<Item>>> =>
  api.pages(operation, async (next = path) => {
    const answer = await api.list({ operation, path: next, body: z.array(item), isFixed });
    return { items: answer.body as readonly z.infer<Item>[], asOfMs: answer.asOfMs, next: answer.next };
  });
