export interface HttpRequest {
  readonly method: string;
  /** The path of the URL, not decoded. */
  readonly path: string;
  readonly query: string;
  /** The headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The body as text, or as bytes that are not decoded yet; undefined if there is no body. */
  readonly body: string | Uint8Array | undefined;
  /** The scheme and host of the URL that the client used. */
  readonly origin: string;
  /** The IP address of the client, if known. */
  readonly source?: string | undefined;
}

export interface HttpReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}
