import type * as z from 'zod';
import { jsonValue, parseJson } from '../../contract/json.ts';
import { DirectoryError } from '../ports.ts';
import type { AccessTokens } from './access-tokens.ts';
import { type DirectoryAnswer, type DirectoryWorld, exchange } from './exchange.ts';

interface SignedCall<Body extends z.ZodType> {
  /** The name of the method in the vendor's reference. Errors show this name, and not the URL. */
  readonly operation: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Body;
}

export interface ApiAnswer<Body> {
  readonly body: Body;
  readonly asOfMs: number;
}

/** Returns the error for an answer other than 200. `body` is undefined if the answer is not JSON. */
type RefusalOf = (operation: string, answer: DirectoryAnswer, body: unknown) => DirectoryError;

/** Returns a function that reads JSON with an access token, and retries calls that can succeed later. */
export function createSignedCalls(tokens: AccessTokens, refusalOf: RefusalOf, world: DirectoryWorld) {
  const send = async ({ url, operation, headers = {} }: SignedCall<z.ZodType>) => {
    const token = await tokens.current();
    const signed = { ...headers, authorization: `Bearer ${token}` };
    return { token, answer: await exchange({ method: 'GET', url, operation, headers: signed }, world) };
  };
  /** Sends the request again with a new token after a 401, because an API can refuse a token before it expires. */
  const sendWithFreshToken = async (call: SignedCall<z.ZodType>) => {
    const { token, answer } = await send(call);
    if (answer.status !== 401) return answer;
    tokens.refused(token);
    return (await send(call)).answer;
  };
  return <Body extends z.ZodType>(call: SignedCall<Body>): Promise<ApiAnswer<z.infer<Body>>> =>
    retrying(world, async () => {
      const answer = await sendWithFreshToken(call);
      if (answer.status !== 200) throw refusalOf(call.operation, answer, jsonValue(answer.text));
      return { body: bodyOf(call, answer), asOfMs: answer.asOfMs };
    });
}

/** Returns the body of an answer that has the status 200. */
export function bodyOf<Body extends z.ZodType>(
  { operation, body }: Pick<SignedCall<Body>, 'operation' | 'body'>,
  { text }: DirectoryAnswer,
): z.infer<Body> {
  const json = parseJson(text);
  // The body may have been cut off in transit. A retry can read the whole body.
  if (!json.ok) throw new DirectoryError('unavailable', `${operation}: ${json.message}`);
  const result = body.safeParse(json.value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const place = issue?.path.join('.') ?? '';
  throw new DirectoryError('invalid', `${operation}: ${place === '' ? 'body' : place}: ${issue?.message}`);
}

/** Returns the URL of a path below `baseUrl`. Parameters without a value are left out. */
export function urlOf(
  baseUrl: string,
  path: readonly string[],
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, value]],
  );
  const search = new URLSearchParams(given);
  const target = `${baseUrl}/${path.map(encodeURIComponent).join('/')}`;
  return search.size === 0 ? target : `${target}?${search}`;
}

const MAX_ATTEMPTS = 5;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 16_000;
/** If a directory demands a longer wait, the call is not retried. */
const MAX_RETRY_AFTER_MS = 60_000;

/**
 * Retries a call that failed with `busy` or `unavailable`, with exponential backoff and full jitter ("Directory API:
 * Limits and quotas"). If the directory demands a wait, the jitter is added to this wait. After the last attempt, or if
 * the run would end before the next attempt, the error of the call is thrown.
 * @throws DirectoryError `busy`, even for a 503, instead of a retry after more than a minute
 */
export async function retrying<Result>(world: RetryWorld, call: () => Promise<Result>): Promise<Result> {
  const { untilMs = Number.POSITIVE_INFINITY } = world;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      if (!isTransient(error) || attempt === MAX_ATTEMPTS) throw error;
      const waitMs = waitBefore(attempt, error, world);
      if (world.clock() + waitMs >= untilMs) throw error;
      await world.sleep(waitMs);
    }
  }
}

type RetryWorld = Pick<DirectoryWorld, 'random' | 'sleep' | 'clock' | 'untilMs'>;

function waitBefore(attempt: number, error: DirectoryError, { random }: RetryWorld): number {
  const earliestMs = error.retryAfterMs ?? 0;
  if (earliestMs > MAX_RETRY_AFTER_MS) throw busy(error);
  const longestMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1));
  return earliestMs + Math.ceil(random() * longestMs);
}

const isTransient = (error: unknown): error is DirectoryError =>
  error instanceof DirectoryError && (error.kind === 'busy' || error.kind === 'unavailable');

const busy = (cause: DirectoryError): DirectoryError =>
  new DirectoryError('busy', cause.message, {
    reason: cause.reason,
    retryAfterMs: cause.retryAfterMs,
    cause,
  });
