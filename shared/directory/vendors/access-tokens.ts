import * as z from 'zod';

/** An answer of a token endpoint (RFC 6749, section 5.1). */
export const Token = z
  .object({ access_token: z.string().min(1), expires_in: z.number().positive() })
  .transform(({ access_token, expires_in }) => ({ token: access_token, seconds: expires_in }));

/** A new access token, and its lifetime. */
export interface Issued<Value = string> {
  readonly token: Value;
  readonly seconds: number;
}

export interface AccessTokens<Value = string> {
  current(): Promise<Value>;
  /** Forgets a token that the API refused, so that the next call requests a new token. */
  refused(token: Value): void;
}

/** A call requests a new token if the kept token expires within this time. */
const EARLY_MS = 300_000;

/** Keeps an access token until five minutes before it expires. Concurrent calls share one request for a token. */
export function keepAccessToken<Value>(
  requestToken: () => Promise<Issued<Value>>,
  clock: () => number,
): AccessTokens<Value> {
  let held: { readonly token: Value; readonly untilMs: number } | undefined;
  let pending: Promise<Value> | undefined;
  const renew = async (): Promise<Value> => {
    const startedMs = clock();
    const { token, seconds } = await requestToken();
    held = { token, untilMs: startedMs + seconds * 1_000 - EARLY_MS };
    return token;
  };
  return {
    async current() {
      if (held !== undefined && clock() < held.untilMs) return held.token;
      pending ??= renew().finally(() => {
        pending = undefined;
      });
      return pending;
    },
    refused(token) {
      if (held?.token === token) held = undefined;
    },
  };
}
