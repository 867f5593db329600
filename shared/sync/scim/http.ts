export interface HttpRequest {
  readonly method: string;
  /** Path of the URL, not decoded. */
  readonly path: string;
  readonly query: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Text, or bytes if they are not decoded yet; undefined for no body. */
  readonly body: string | Uint8Array | undefined;
  /** Scheme and host that the client used. */
  readonly origin: string;
  /** Address of the client, if known. */
  readonly source?: string | undefined;
}

export interface HttpReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}
