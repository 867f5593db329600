import type { AwsReply, AwsRequest } from './exchange.ts';

/** A request as it crosses from one thread to another: nothing but plain data. */
export type WireRequest = Omit<AwsRequest, 'query' | 'body'> & {
  readonly query: string;
  readonly body: Uint8Array;
};

export type FromWorker =
  | { readonly kind: 'listening'; readonly url: string }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'request'; readonly id: number; readonly request: WireRequest };

export type ToWorker =
  /** No reply: no service takes the request. */
  | { readonly kind: 'reply'; readonly id: number; readonly reply: AwsReply | undefined }
  | { readonly kind: 'close' };

export const toWire = ({ query, ...request }: AwsRequest): WireRequest => ({
  ...request,
  query: query.toString(),
});

export const fromWire = ({ query, body, ...request }: WireRequest): AwsRequest => ({
  ...request,
  query: new URLSearchParams(query),
  body: Buffer.from(body),
});
