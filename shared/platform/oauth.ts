import { parseSecureUrl } from './base-url.ts';
import type { Credential } from './credential.ts';
import { AbortedError, InvalidGrantError, UnauthorizedError } from './errors.ts';
import { safeCause } from './redact.ts';
import {
  type OAuthOptions,
  type OAuthTokens,
  requestTokens,
  secretsOf,
  TOKEN_ENDPOINT,
} from './token-request.ts';

/**
 * An OAuth credential that keeps itself fresh (RFC 6749 section 6): refreshed ahead of expiry, once for any number of
 * concurrent calls, and after a 401. A new refresh token replaces the old one; where none comes the old one stays.
 * Errors of the token endpoint have `sent: 'no'`, for the call that needed the token was not sent.
 * @throws InvalidGrantError, UnauthorizedError and the others of `errors.ts`, from the calls that need a token.
 */
export function oauthCredential(options: OAuthOptions): Credential {
  parseSecureUrl(options.tokenUrl, 'tokenUrl');
  const state: State = { tokens: options.tokens, unsaved: undefined };
  const may = (cause: 'expired' | 'refused') => options.mayRefresh?.(cause) ?? true;
  let refreshing: Promise<void> | undefined;

  const refreshOnce = (signal?: AbortSignal): Promise<void> => {
    refreshing ??= renew(options, state).finally(() => {
      refreshing = undefined;
    });
    // One caller giving up must not end the refresh of all: each waits with its own signal.
    return abortable(refreshing, signal);
  };
  return {
    async accessToken(signal) {
      if (!isFresh(state.tokens, options.clock())) {
        if (!may('expired')) throw refusedBefore();
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

/** The call that needed a token was not sent. */
const UNSENT = { method: 'POST', pathTemplate: TOKEN_ENDPOINT, sent: 'no' } as const;

const refusedBefore = () =>
  new UnauthorizedError('these credentials were refused, and are not sent again', UNSENT);

interface State {
  tokens: OAuthTokens;
  /** Tokens that could not be stored. They are all there is, for the old refresh token may be void. */
  unsaved: OAuthTokens | undefined;
}

function isFresh(tokens: OAuthTokens, nowMs: number): boolean {
  if (tokens.accessToken === undefined) return false;
  return tokens.refreshAtMs === undefined || nowMs < tokens.refreshAtMs;
}

/** Refreshes, unless another process has. Tokens that are new are stored before the lease ends and before they are used. */
function renew(options: OAuthOptions, state: State): Promise<void> {
  const exclusively = options.exclusively ?? ((work) => work());
  return exclusively(async () => {
    if (state.unsaved === undefined) {
      const stored = (await options.reread?.()) ?? state.tokens;
      if (stored.accessToken !== state.tokens.accessToken && isFresh(stored, options.clock())) {
        state.tokens = stored;
        return;
      }
      const fresh = await freshTokens(options, stored);
      if (isSame(fresh, stored)) {
        state.tokens = fresh;
        return;
      }
      state.unsaved = fresh;
    }
    await options.onTokens(state.unsaved);
    state.tokens = state.unsaved;
    state.unsaved = undefined;
  });
}

const isSame = (one: OAuthTokens, other: OAuthTokens): boolean =>
  one.accessToken === other.accessToken && one.refreshToken === other.refreshToken;

async function freshTokens(options: OAuthOptions, stored: OAuthTokens): Promise<OAuthTokens> {
  try {
    return await requestTokens(options, stored);
  } catch (error) {
    // Someone may have rotated the token between our reading and our request.
    const again = error instanceof InvalidGrantError ? await options.reread?.() : undefined;
    if (again === undefined || again.refreshToken === stored.refreshToken) throw error;
    return requestTokens(options, again);
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
