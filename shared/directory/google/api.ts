import type * as z from 'zod';
import { parseJson } from '../../contract/json.ts';
import { DirectoryError } from '../../sync/ports/directory.ts';
import { type DirectoryAnswer, type DirectoryWorld, exchange } from '../exchange.ts';
import { retrying } from '../retrying.ts';
import { refusal } from './refusal.ts';
import type { AccessTokens } from './sign-in.ts';

export interface ApiCall<Body extends z.ZodType> {
  /** The name of the method in Google's reference, such as `members.list`. */
  readonly operation: string;
  /** Parts of the path below the base URL. This module encodes them. */
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body: Body;
}

export interface ApiAnswer<Body> {
  readonly body: Body;
  readonly asOfMs: number;
}

export type Api = <Body extends z.ZodType>(call: ApiCall<Body>) => Promise<ApiAnswer<z.infer<Body>>>;

/** Reads the JSON APIs below one base URL. Every request is sent to this host. */
export function createApi(baseUrl: string, tokens: AccessTokens, world: DirectoryWorld): Api {
  const send = async (url: string, operation: string) => {
    const token = await tokens.current();
    const headers = { authorization: `Bearer ${token}` };
    const answer = await exchange({ method: 'GET', url, operation, headers }, world);
    return { token, answer };
  };
  /** Sends the request again with a new token after a 401, because Google may refuse a token before it expires. */
  const sendWithFreshToken = async (url: string, operation: string) => {
    const { token, answer } = await send(url, operation);
    if (answer.status !== 401) return answer;
    tokens.refused(token);
    return (await send(url, operation)).answer;
  };
  return ({ operation, path, query = {}, body }) =>
    retrying(world, async () => {
      const url = urlOf(baseUrl, path, query);
      return bodyOf(operation, await sendWithFreshToken(url, operation), body);
    });
}

function urlOf(baseUrl: string, path: readonly string[], query: ApiCall<z.ZodType>['query'] = {}): string {
  const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, value]],
  );
  const search = new URLSearchParams(given);
  const target = `${baseUrl}/${path.map(encodeURIComponent).join('/')}`;
  return search.size === 0 ? target : `${target}?${search}`;
}

function bodyOf<Body extends z.ZodType>(operation: string, answer: DirectoryAnswer, schema: Body) {
  const { status, asOfMs } = answer;
  const json = parseJson(answer.text);
  if (status !== 200) throw refusal(operation, status, json.ok ? json.value : undefined);
  // The body was cut off in transit. A retry can read the whole body.
  if (!json.ok) throw new DirectoryError('unavailable', `${operation}: ${json.message}`);
  const parsed = schema.safeParse(json.value);
  if (parsed.success) return { body: parsed.data as z.infer<Body>, asOfMs };
  const issue = parsed.error.issues[0];
  const place = issue?.path.join('.') ?? '';
  throw new DirectoryError('odd', `${operation}: ${place === '' ? 'body' : place}: ${issue?.message}`);
}
