/** What proves who is calling. One credential serves many concurrent calls. */
export interface Credential {
  /** Returns the value for `Authorization: Bearer`. A token that is about to expire is refreshed first. */
  accessToken(signal?: AbortSignal): Promise<string>;
  /** Told of a 401 that `token` got. True if another token is there now, so that one more try makes sense. */
  renewAfter(token: string, signal?: AbortSignal): Promise<boolean>;
  /** Texts that must never show in a log or an error. */
  secrets(): readonly string[];
}

/** Visible ASCII: what fits a header (RFC 6750 section 2.1 allows less). */
const HEADER_SAFE = /^[\x21-\x7e]+$/;

/**
 * A customer API key or an access token that never changes.
 * @throws TypeError if the token cannot stand in a header; the message does not show it.
 */
export function staticBearer(token: string): Credential {
  if (!HEADER_SAFE.test(token)) {
    throw new TypeError('token: expected visible ASCII characters without spaces');
  }
  return { accessToken: async () => token, renewAfter: async () => false, secrets: () => [token] };
}
