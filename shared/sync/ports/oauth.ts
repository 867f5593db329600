export interface OAuthClient {
  readonly id: string;
  readonly accessSeconds: number;
  /** Issues an access token. Stores the hash of the token, and returns the token. */
  readonly issue: () => Promise<string>;
}

interface TokenRequest {
  /** The headers of the request, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The form in the body. Each parameter occurs once. */
  readonly form: Readonly<Record<string, string>>;
}

export interface TokenReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, string | number>>;
}

/** The grant `client_credentials` of OAuth 2.0 (RFC 6749 section 4.4). */
export interface OAuthServer {
  /**
   * Answers a POST to the token endpoint. The result may be an error response (RFC 6749 sections 5.1 and 5.2).
   * @param clientOf returns the client with this id; undefined if the secret is wrong
   * @throws the errors of `clientOf` and `issue`
   */
  answer(
    request: TokenRequest,
    clientOf: (id: string, secret: string) => Promise<OAuthClient | undefined>,
  ): Promise<TokenReply>;
}
