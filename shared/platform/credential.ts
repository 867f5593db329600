/** The credential of one connection. Many calls may use it at the same time. */
export interface Credential {
  /** Returns the value for `Authorization: Bearer`. A token that is about to expire is refreshed first. */
  accessToken(signal?: AbortSignal): Promise<string>;
  /**
   * Called after a 401 for `token`. Returns true if the credential now has another token, so that a second attempt can
   * succeed.
   */
  renewAfter(token: string, signal?: AbortSignal): Promise<boolean>;
  /** Texts that must never show in a log or an error. */
  secrets(): readonly string[];
}

/** Visible ASCII characters, which are safe in a header (RFC 6750 section 2.1 allows fewer). */
const HEADER_SAFE = /^[\x21-\x7e]+$/;

/**
 * A customer API key, or an access token that never changes.
 * @throws TypeError if the token cannot be sent in a header. The message does not show the token.
 */
export function staticBearer(token: string): Credential {
  if (!HEADER_SAFE.test(token)) {
    throw new TypeError('token: expected visible ASCII characters without spaces');
  }
  return { accessToken: async () => token, renewAfter: async () => false, secrets: () => [token] };
}
