import type * as z from 'zod';
import type { AccessTokens } from '../access-tokens.ts';
import type { DirectoryWorld } from '../exchange.ts';
import { createPages, type Pages } from '../pages.ts';
import { type ApiAnswer, createSignedCalls, urlOf } from '../signed-calls.ts';
import { apiRefusal } from './refusal.ts';

interface ApiCall<Body extends z.ZodType> {
  /** The name of the method in Google's reference, such as `members.list`. */
  readonly operation: string;
  /** Parts of the path below the base URL. This module encodes them. */
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body: Body;
}

export interface GoogleApi {
  <Body extends z.ZodType>(call: ApiCall<Body>): Promise<ApiAnswer<z.infer<Body>>>;
  readonly pages: Pages;
  readonly attributes: readonly string[];
}

export function createApi(baseUrl: string, tokens: AccessTokens, world: DirectoryWorld): GoogleApi {
  const refusalOf = (operation: string, { status }: { readonly status: number }, value: unknown) =>
    apiRefusal(operation, status, value);
  const call = createSignedCalls(tokens, refusalOf, world);
  const api = <Body extends z.ZodType>({ operation, path, query, body }: ApiCall<Body>) =>
    call({ operation, url: urlOf(baseUrl, path, query), body });
  return Object.assign(api, { pages: createPages(world), attributes: world.attributes ?? [] });
}
