import * as z from 'zod';

/** An answer of a token endpoint (RFC 6749, section 5.1). */
export const Token = z.object({ access_token: z.string().min(1), expires_in: z.number().positive() });
export type Token = Readonly<z.infer<typeof Token>>;

export interface AccessTokens {
  current(): Promise<string>;
  /** Forgets a token that the API refused, so that the next call requests a new token. */
  refused(token: string): void;
}

/** A call requests a new token if the kept token expires within this time. */
export const EARLY_MS = 300_000;

/** Keeps an access token until five minutes before it expires. Concurrent calls share one request for a token. */
export function keepAccessToken(requestToken: () => Promise<Token>, clock: () => number): AccessTokens {
  let held: { readonly token: string; readonly untilMs: number } | undefined;
  let pending: Promise<string> | undefined;
  const renew = async (): Promise<string> => {
    const startedMs = clock();
    const { access_token: token, expires_in } = await requestToken();
    held = { token, untilMs: startedMs + expires_in * 1_000 - EARLY_MS };
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
