import type { Dispatcher } from 'undici';
import * as z from 'zod';
import { ACCEPTED_ENCODINGS } from './body.ts';
import { decode } from './decode.ts';
import {
  errorOfStatus,
  InvalidGrantError,
  PlatformError,
  type PlatformErrorFacts,
  UnauthorizedError,
} from './errors.ts';
import { type ExchangeResponse, exchange, factsOf } from './exchange.ts';
import { excerptOf } from './redact.ts';

/** What a refresh leaves behind, to be stored together. */
export interface OAuthTokens {
  readonly refreshToken: string;
  readonly accessToken?: string | undefined;
  /** Instant from which a new one is fetched, milliseconds since 1970; absent where the platform tells no life. */
  readonly refreshAtMs?: number | undefined;
}

export interface OAuthOptions {
  /** https, or http for loopback. */
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly tokens: OAuthTokens;
  readonly clock: () => number;
  readonly dispatcher: () => Dispatcher;
  /** Limit of the token request, in milliseconds. Default 10,000. */
  readonly timeoutMs?: number | undefined;
  /** Stores new tokens. Awaited before they are used: a rotated refresh token that is lost ends the connection. */
  readonly onTokens: (tokens: OAuthTokens) => Promise<void>;
  /** Reads what another process may have stored since; asked before each refresh and after `invalid_grant`. */
  readonly reread?: (() => Promise<OAuthTokens>) | undefined;
  /** false where these credentials had their one refresh, and were refused again; asked before each refresh. */
  readonly mayRefresh?: ((cause: 'expired' | 'refused') => boolean) | undefined;
  /** Runs a refresh while no other process does (a lease). */
  readonly exclusively?: (<T>(work: () => Promise<T>) => Promise<T>) | undefined;
}

/** How long before its end a token is refreshed: longer than any one call. */
const AHEAD_MS = 60_000;
/** Stands for the path in errors. */
export const TOKEN_ENDPOINT = '(token endpoint)';

const TokenAnswer = z.lazy(() =>
  z.object({
    access_token: z.string().regex(/^[\x21-\x7e]+$/),
    expires_in: z.coerce.number().positive().optional().catch(undefined),
    refresh_token: z.string().min(1).optional().catch(undefined),
  }),
);
const ErrorAnswer = z.lazy(() => z.looseObject({ error: z.string() }));

/** One `grant_type=refresh_token` request, never repeated by itself: the first may have rotated the token. */
export async function requestTokens(options: OAuthOptions, old: OAuthTokens): Promise<OAuthTokens> {
  const secrets = secretsOf(options, old);
  const url = new URL(options.tokenUrl);
  const answer = await exchange(options.dispatcher(), {
    method: 'POST',
    origin: url.origin,
    path: url.pathname,
    pathTemplate: TOKEN_ENDPOINT,
    headers: {
      authorization: `Basic ${basic(options.clientId, options.clientSecret)}`,
      accept: 'application/json',
      'accept-encoding': ACCEPTED_ENCODINGS,
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: new URLSearchParams({ grant_type: 'refresh_token', refresh_token: old.refreshToken }).toString(),
    timeoutMs: options.timeoutMs ?? 10_000,
    maxBodyBytes: 2 ** 20,
    secrets,
  }).catch((error: unknown) => {
    throw error instanceof PlatformError ? asUnsent(error) : error;
  });
  const facts = { ...factsOf({ method: 'POST', pathTemplate: TOKEN_ENDPOINT }, answer), sent: 'no' as const };
  if (answer.status < 200 || answer.status >= 300) throw refusal(answer, facts, secrets, options.clock());
  const { value } = decode(answer.text, { schema: TokenAnswer, exact: true }, facts);
  return {
    accessToken: value.access_token,
    refreshToken: value.refresh_token ?? old.refreshToken,
    refreshAtMs: value.expires_in === undefined ? undefined : refreshAt(options.clock(), value.expires_in),
  };
}

/** A minute before the end, or after nine tenths of a short life. */
function refreshAt(nowMs: number, lifeSeconds: number): number {
  const lifeMs = lifeSeconds * 1000;
  return nowMs + lifeMs - Math.min(AHEAD_MS, lifeMs / 10);
}

/** RFC 6749 section 2.3.1: id and secret are form-encoded before they are joined. */
function basic(clientId: string, clientSecret: string): string {
  const encode = (text: string) => new URLSearchParams({ '': text }).toString().slice(1);
  return Buffer.from(`${encode(clientId)}:${encode(clientSecret)}`).toString('base64');
}

function refusal(
  answer: ExchangeResponse,
  facts: PlatformErrorFacts & { readonly status: number },
  secrets: readonly string[],
  nowMs: number,
): PlatformError {
  const code = errorCode(answer.text);
  const full = { ...facts, excerpt: excerptOf(code ?? answer.text, secrets) };
  if (code === 'invalid_grant') return new InvalidGrantError('the refresh token is no longer good', full);
  // Whatever else is wrong with our own credentials is a state of the connection as well.
  if (answer.status === 400 || answer.status === 401)
    return new UnauthorizedError('no token was given', full);
  return errorOfStatus(full, answer.headers, nowMs);
}

function errorCode(text: string): string | undefined {
  try {
    return ErrorAnswer.safeParse(JSON.parse(text)).data?.error;
  } catch {
    return undefined;
  }
}

/** The same error, saying that the call which needed the token was not sent. */
function asUnsent(error: PlatformError): PlatformError {
  return Object.assign(error, { sent: 'no' as const });
}

/** Texts that must not show: present tokens, those of the start, and the client's secret in both forms. */
export function secretsOf(options: OAuthOptions, tokens: OAuthTokens): string[] {
  const all = [options.clientSecret, options.tokens.refreshToken, options.tokens.accessToken];
  return [
    ...all,
    tokens.refreshToken,
    tokens.accessToken,
    basic(options.clientId, options.clientSecret),
  ].filter((secret) => secret !== undefined);
}
