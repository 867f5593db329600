/** The credential of one connection. Concurrent calls may use it. */
export interface Credential {
  /** Returns the token for `Authorization: Bearer`. If the token is about to expire, it is refreshed first. */
  accessToken(signal?: AbortSignal): Promise<string>;
  /**
   * Called after a 401 for `token`. Returns true if another token is available now, so that the caller can repeat the
   * call.
   */
  renewAfter(token: string, signal?: AbortSignal): Promise<boolean>;
  /** Returns the texts that must never appear in a log or an error. */
  secrets(): readonly string[];
}

/** Visible ASCII characters. All of them are safe in a header, although RFC 6750 section 2.1 allows fewer. */
const HEADER_SAFE = /^[\x21-\x7e]+$/;

/**
 * Creates a credential from a customer API key, or from an access token that never changes. @throws TypeError if the
 * token cannot be sent in a header. The message does not contain the token.
 */
export function staticBearer(token: string): Credential {
  if (!HEADER_SAFE.test(token)) {
    throw new TypeError('token: expected visible ASCII characters without spaces');
  }
  return { accessToken: async () => token, renewAfter: async () => false, secrets: () => [token] };
}
