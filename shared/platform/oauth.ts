import type { Dispatcher } from 'undici';
import * as z from 'zod';
import type { OAuthSecret } from '../sync/ports/secrets.ts';
import { parseSecureUrl } from './base-url.ts';
import type { Credential } from './credential.ts';
import { decode } from './decode.ts';
import {
  AbortedError,
  errorOfStatus,
  InvalidGrantError,
  PlatformError,
  type PlatformErrorFacts,
  ServerError,
  UnauthorizedError,
} from './errors.ts';
import { ACCEPTED_ENCODINGS, type ExchangeResponse, exchange, factsOf } from './exchange.ts';
import { excerptOf, safeCause } from './redact.ts';

/**
 * An OAuth credential that refreshes its own access token (RFC 6749 section 6): before the token expires, and after a
 * 401. Concurrent calls share one refresh. A new refresh token replaces the old one. If the response has none, the old
 * one stays. Errors of the token endpoint have `sent: 'no'`, because the call that needed the token was not sent.
 * @throws InvalidGrantError, UnauthorizedError and other errors of `errors.ts`, from the calls that need a token
 */
export function oauthCredential(options: OAuthOptions): Credential {
  parseSecureUrl(options.tokenUrl, 'tokenUrl', options.publicOnly);
  const state: State = { tokens: options.tokens, unsaved: undefined };
  const may = (cause: 'expired' | 'refused') => options.mayRefresh?.(cause) ?? true;
  let refreshing: Promise<void> | undefined;

  const refreshOnce = (signal?: AbortSignal): Promise<void> => {
    refreshing ??= renew(options, state).finally(() => {
      refreshing = undefined;
    });
    // All callers share one refresh. If one caller ends its call, the refresh continues for the others.
    return abortable(refreshing, signal);
  };
  return {
    async accessToken(signal) {
      if (!isFresh(state.tokens, options.clock())) {
        const refused = 'these credentials were refused, and are not sent again';
        if (!may('expired')) throw new UnauthorizedError(refused, UNSENT);
        await refreshOnce(signal);
      }
      return state.tokens.accessToken ?? '';
    },
    async renewAfter(token, signal) {
      // Another call that got the same 401 may have refreshed already.
      if (state.tokens.accessToken === token && may('refused')) await refreshOnce(signal);
      return state.tokens.accessToken !== token;
    },
    secrets: () => secretsOf(options, state.tokens),
  };
}

/** The text that errors contain instead of the path. */
const TOKEN_ENDPOINT = '(token endpoint)';
/** Facts for an error of the token endpoint: the call that needed the token was not sent. */
export const UNSENT = { method: 'POST', pathTemplate: TOKEN_ENDPOINT, sent: 'no' } as const;

interface State {
  tokens: OAuthTokens;
  /**
   * Tokens of a refresh that could not be stored yet. They must be kept, because the old refresh token may be invalid
   * now.
   */
  unsaved: { readonly old: OAuthTokens; readonly fresh: OAuthTokens } | undefined;
}

function isFresh(tokens: OAuthTokens, nowMs: number): boolean {
  if (tokens.accessToken === undefined) return false;
  return tokens.refreshAtMs === undefined || nowMs < tokens.refreshAtMs;
}

/**
 * Refreshes, if no other process has done so. New tokens are stored before the lease ends and before a call uses them.
 */
function renew(options: OAuthOptions, state: State): Promise<void> {
  const exclusively = options.exclusively ?? ((work) => work());
  return exclusively(async () => {
    const stored = (await options.reread?.()) ?? state.tokens;
    // True if no tokens are unsaved, or if the stored refresh token is not the old one any more. In the second case,
    // our write succeeded without a response, or another worker stored tokens.
    if (state.unsaved?.old.refreshToken !== stored.refreshToken) {
      if (stored.accessToken !== state.tokens.accessToken && isFresh(stored, options.clock())) {
        Object.assign(state, { tokens: stored, unsaved: undefined });
        return;
      }
      state.unsaved = await freshTokens(options, stored);
    }
    const { old, fresh } = state.unsaved;
    // Secrets Manager keeps about a hundred versions per day, so storing may fail. The failure matters only if the
    // refresh token is new: otherwise other workers can refresh with the old one.
    const isVital = fresh.refreshToken !== old.refreshToken;
    if (!isSame(fresh, old)) await options.onTokens(fresh).catch((error) => isVital && Promise.reject(error));
    Object.assign(state, { tokens: fresh, unsaved: undefined });
  });
}

const isSame = (one: OAuthTokens, other: OAuthTokens): boolean =>
  one.accessToken === other.accessToken && one.refreshToken === other.refreshToken;

async function freshTokens(options: OAuthOptions, stored: OAuthTokens) {
  try {
    return { old: stored, fresh: await requestTokens(options, stored) };
  } catch (error) {
    // Another client may have replaced the refresh token between our read and our request.
    const again = error instanceof InvalidGrantError ? await options.reread?.() : undefined;
    if (again === undefined || again.refreshToken === stored.refreshToken) throw error;
    return { old: again, fresh: await requestTokens(options, again) };
  }
}

function abortable(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      const cause = safeCause(signal.reason);
      reject(new AbortedError('the caller ended the call', { ...UNSENT, cause }));
    };
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/**
 * The tokens after a refresh, which are stored together. `refreshAtMs` is missing if the platform gives no lifetime.
 */
export type OAuthTokens = Pick<OAuthSecret, 'refreshToken' | 'accessToken' | 'refreshAtMs'>;

export interface OAuthOptions {
  /** https, or http to this machine. */
  readonly tokenUrl: string;
  /** Refuses a `tokenUrl` of this machine or of a private network. */
  readonly publicOnly?: boolean | undefined;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly tokens: OAuthTokens;
  readonly clock: () => number;
  readonly dispatcher: () => Dispatcher;
  /** Time limit of the token request, in milliseconds. Default 10,000. */
  readonly timeoutMs?: number | undefined;
  /**
   * Stores new tokens. It must end before the tokens are used: without the new refresh token, the connection cannot
   * continue.
   */
  readonly onTokens: (tokens: OAuthTokens) => Promise<void>;
  /** Reads the tokens that another process may have stored. Called before each refresh and after `invalid_grant`. */
  readonly reread?: (() => Promise<OAuthTokens>) | undefined;
  /** Called before each refresh. False if these credentials were refreshed once and then refused again. */
  readonly mayRefresh?: ((cause: 'expired' | 'refused') => boolean) | undefined;
  /** Runs a refresh while no other process refreshes (a lease). */
  readonly exclusively?: (<T>(work: () => Promise<T>) => Promise<T>) | undefined;
}

/** How long before its expiry a token is refreshed. It is longer than any single call. */
const AHEAD_MS = 60_000;

const TokenAnswer = z.lazy(() =>
  z.object({
    access_token: z.string().regex(/^[\x21-\x7e]+$/),
    expires_in: z.coerce.number().positive().optional().catch(undefined),
    refresh_token: z.string().min(1).optional().catch(undefined),
  }),
);
const ErrorAnswer = z.lazy(() => z.looseObject({ error: z.string() }));

/**
 * Sends one `grant_type=refresh_token` request. It is never repeated by itself, because the first request may have
 * replaced the refresh token.
 */
async function requestTokens(options: OAuthOptions, old: OAuthTokens): Promise<OAuthTokens> {
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
    // The call that needed the token was not sent, even if the token request took effect.
    throw error instanceof PlatformError ? Object.assign(error, { sent: 'no' as const }) : error;
  });
  const facts = { ...factsOf({ method: 'POST', pathTemplate: TOKEN_ENDPOINT }, answer), sent: 'no' as const };
  if (answer.status < 200 || answer.status >= 300) throw refusal(answer, facts, secrets, options.clock());
  const { value } = decode(answer.text, { schema: TokenAnswer, exact: true }, facts);
  const {
    access_token: accessToken,
    refresh_token: refreshToken = old.refreshToken,
    expires_in: life,
  } = value;
  // One minute before expiry. If the lifetime is below ten minutes, after nine tenths of it.
  const lifeMs = life === undefined ? undefined : life * 1000 - Math.min(AHEAD_MS, life * 100);
  return { accessToken, refreshToken, refreshAtMs: lifeMs && options.clock() + lifeMs };
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
  // An error of the token endpoint with 400 or 401 always concerns the credentials, so the whole connection is
  // affected.
  if (answer.status === 400 || answer.status === 401)
    return new UnauthorizedError('no token was given', full);
  // A 404 of the token endpoint says nothing about a group or a person. The statuses in the list have the same meaning
  // as in answers of the platform.
  if (answer.status < 500 && ![402, 403, 408, 429].includes(answer.status))
    return new ServerError('no token was given', full);
  return errorOfStatus(full, answer.headers, nowMs);
}

function errorCode(text: string): string | undefined {
  try {
    return ErrorAnswer.safeParse(JSON.parse(text)).data?.error;
  } catch {
    return undefined;
  }
}

/** Texts that must never be shown: the present tokens, the first tokens, and the client secret in both its forms. */
export function secretsOf(options: OAuthOptions, tokens: OAuthTokens): string[] {
  const { clientId, clientSecret, tokens: first } = options;
  const known = [first, tokens].flatMap(({ refreshToken, accessToken }) => [refreshToken, accessToken]);
  return [...known, clientSecret, basic(clientId, clientSecret)].filter((secret) => secret !== undefined);
}
