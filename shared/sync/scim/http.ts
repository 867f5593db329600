/** One HTTP request as it came. */
export interface HttpRequest {
  readonly method: string;
  /** Of the URL, not decoded. */
  readonly path: string;
  readonly query: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** As text, or as its bytes where they were not read yet; undefined for none. */
  readonly body: string | Uint8Array | undefined;
  /** Scheme and host under which the client reached us. */
  readonly origin: string;
  /** Address of the client, where it is known. */
  readonly source?: string | undefined;
}

export interface HttpReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}
