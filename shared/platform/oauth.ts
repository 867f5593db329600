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
 * Creates an OAuth credential (RFC 6749 section 6). It refreshes its access token before the token expires, and after
 * the status 401. Concurrent calls share one refresh. If the response contains a new refresh token, the new refresh
 * token replaces the old one. Errors of the token endpoint have `sent: 'no'`, because the call that needed the token
 * was not sent.
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
    // Several callers wait for the same refresh. If one caller ends its call, the refresh continues for the other
    // callers.
    return abortable(refreshing, signal);
  };
  return {
    async accessToken(signal) {
      if (!isFresh(state.tokens, options.clock())) {
        const refused = 'the platform refused these credentials, so they are not sent again';
        if (!may('expired')) throw new UnauthorizedError(refused, UNSENT);
        await refreshOnce(signal);
      }
      return state.tokens.accessToken ?? '';
    },
    async renewAfter(token, signal) {
      // Another call with the same token may already have refreshed it after its own 401.
      if (state.tokens.accessToken === token && may('refused')) await refreshOnce(signal);
      return state.tokens.accessToken !== token;
    },
    secrets: () => secretsOf(options, state.tokens),
  };
}

/** Errors contain this text instead of a path. */
const TOKEN_ENDPOINT = '(token endpoint)';
/** Facts for an error of the token endpoint. `sent` describes the call that needed the token: it was not sent. */
export const UNSENT = { method: 'POST', pathTemplate: TOKEN_ENDPOINT, sent: 'no' } as const;

interface State {
  tokens: OAuthTokens;
  /** Tokens of a refresh that could not be stored yet. The old refresh token may already be invalid. */
  unsaved: { readonly old: OAuthTokens; readonly fresh: OAuthTokens } | undefined;
}

function isFresh(tokens: OAuthTokens, nowMs: number): boolean {
  if (tokens.accessToken === undefined) return false;
  return tokens.refreshAtMs === undefined || nowMs < tokens.refreshAtMs;
}

/** Refreshes the tokens, if no other process has done so. New tokens are stored before any call uses them. */
function renew(options: OAuthOptions, state: State): Promise<void> {
  const exclusively = options.exclusively ?? ((work) => work());
  return exclusively(async () => {
    const stored = (await options.reread?.()) ?? state.tokens;
    // The stored tokens are current in two cases. 1: no tokens are unsaved. 2: the stored refresh token has changed,
    // because a write without an answer took effect, or because another worker stored tokens.
    if (state.unsaved?.old.refreshToken !== stored.refreshToken) {
      if (stored.accessToken !== state.tokens.accessToken && isFresh(stored, options.clock())) {
        Object.assign(state, { tokens: stored, unsaved: undefined });
        return;
      }
      state.unsaved = await freshTokens(options, stored);
    }
    const { old, fresh } = state.unsaved;
    // Storing may fail, because Secrets Manager keeps only about a hundred versions per day. If the refresh token has
    // not changed, this failure is ignored, because other workers can still refresh with it.
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
    // Another client may have replaced the refresh token after we read it and before our request arrived.
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

/** The tokens of a refresh. They are stored together. `refreshAtMs` is missing if the platform returns no lifetime. */
export type OAuthTokens = Pick<OAuthSecret, 'refreshToken' | 'accessToken' | 'refreshAtMs'>;

export interface OAuthOptions {
  /** An https URL, or an http URL of this machine. */
  readonly tokenUrl: string;
  /** If true, a `tokenUrl` of this machine or of a private network is refused. */
  readonly publicOnly?: boolean | undefined;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly tokens: OAuthTokens;
  readonly clock: () => number;
  readonly dispatcher: () => Dispatcher;
  /**
   * Stores new tokens. Its promise resolves before any call uses the tokens: if the new refresh token were lost, the
   * connection could not continue.
   */
  readonly onTokens: (tokens: OAuthTokens) => Promise<void>;
  /** Reads the tokens that another process may have stored. Called before each refresh and after `invalid_grant`. */
  readonly reread?: (() => Promise<OAuthTokens>) | undefined;
  /** Called before each refresh. Returns false if another refresh would not help. */
  readonly mayRefresh?: ((cause: 'expired' | 'refused') => boolean) | undefined;
  /** Runs `work` while no other process refreshes the same tokens (a lease). */
  readonly exclusively?: (<T>(work: () => Promise<T>) => Promise<T>) | undefined;
}

/** A token with a lifetime of ten minutes or more is refreshed this long before it expires. */
const AHEAD_MS = 60_000;

const TokenAnswer = z.lazy(() =>
  z.object({
    access_token: z.string().regex(/^[\x21-\x7e]+$/),
    expires_in: z.coerce.number().positive().optional().catch(undefined),
    refresh_token: z.string().min(1).optional().catch(undefined),
  }),
);
const ErrorAnswer = z.lazy(() => z.looseObject({ error: z.string() }));

/** Sends one `grant_type=refresh_token` request. It is not repeated, because it may have replaced the refresh token. */
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
    timeoutMs: 10_000,
    maxBodyBytes: 2 ** 20,
    secrets,
  }).catch((error: unknown) => {
    // `sent` describes the call that needed the token. That call was not sent, whether or not the token request took
    // effect.
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
  // The token is refreshed one minute before it expires. If its lifetime is below ten minutes, it is refreshed after
  // nine tenths of the lifetime.
  const lifeMs = life === undefined ? undefined : life * 1000 - Math.min(AHEAD_MS, life * 100);
  return { accessToken, refreshToken, refreshAtMs: lifeMs && options.clock() + lifeMs };
}

/** Encodes client id and client secret as a form before it joins them (RFC 6749 section 2.3.1). */
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
  if (code === 'invalid_grant') return new InvalidGrantError('the refresh token is expired or revoked', full);
  // If the token endpoint answers 400 or 401, the credentials are wrong, so every call of the connection would fail.
  if (answer.status === 400 || answer.status === 401)
    return new UnauthorizedError('the token endpoint refused the credentials', full);
  // A 404 of the token endpoint is not about a group or a person, so it must not become a NotFoundError. The listed
  // statuses mean the same here as in answers of the platform.
  if (answer.status < 500 && ![402, 403, 408, 429].includes(answer.status))
    return new ServerError('the token endpoint returned no token', full);
  return errorOfStatus(full, answer.headers, nowMs);
}

function errorCode(text: string): string | undefined {
  try {
    return ErrorAnswer.safeParse(JSON.parse(text)).data?.error;
  } catch {
    return undefined;
  }
}

/**
 * Returns the texts that must never appear in a log or an error: the current tokens, the first tokens, and the client
 * secret, plain and encoded for Basic authentication.
 */
function secretsOf(options: OAuthOptions, tokens: OAuthTokens): string[] {
  const { clientId, clientSecret, tokens: first } = options;
  const known = [first, tokens].flatMap(({ refreshToken, accessToken }) => [refreshToken, accessToken]);
  return [...known, clientSecret, basic(clientId, clientSecret)].filter((secret) => secret !== undefined);
}
