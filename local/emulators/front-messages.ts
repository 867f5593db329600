import type { AwsReply, AwsRequest } from './exchange.ts';

/** A request as it crosses from one thread to another: nothing but plain data. */
type WireRequest = Omit<AwsRequest, 'query' | 'body'> & { readonly query: string; readonly body: string };

/** Either thread asks the other. No reply: there is nobody, or no service, to give one. */
type Crossing =
  | { readonly kind: 'request'; readonly id: number; readonly request: WireRequest }
  | { readonly kind: 'reply'; readonly id: number; readonly reply: AwsReply | undefined };

export type FromWorker =
  | Crossing
  | { readonly kind: 'listening'; readonly url: string }
  | { readonly kind: 'failed'; readonly reason: string };

export type ToWorker = Crossing | { readonly kind: 'close' };

export type Ask = (request: AwsRequest) => Promise<AwsReply | undefined>;

interface Port {
  readonly postMessage: (message: Crossing) => void;
  readonly on: (event: 'message', heard: (message: FromWorker | ToWorker) => void) => unknown;
}

/** Answers what the other thread asks. @returns what asks it in turn, and what ends all waiting once it is gone */
export function startExchange(port: Port, answer: Ask): { readonly ask: Ask; readonly end: () => void } {
  const waiting = new Map<number, (reply: AwsReply | undefined) => void>();
  let asked = 0;
  let isOver = false;
  const settle = (id: number, reply?: AwsReply) => {
    waiting.get(id)?.(reply);
    waiting.delete(id);
  };
  port.on('message', (message) => {
    if (message.kind === 'reply') settle(message.id, message.reply);
    if (message.kind !== 'request') return;
    const { id, request } = message;
    void answer(fromWire(request)).then((reply) => port.postMessage({ kind: 'reply', id, reply }));
  });
  return {
    ask: (request) =>
      new Promise((resolve) => {
        if (isOver) return resolve(undefined);
        asked += 1;
        waiting.set(asked, resolve);
        port.postMessage({ kind: 'request', id: asked, request: toWire(request) });
      }),
    end() {
      isOver = true;
      for (const id of waiting.keys()) settle(id);
    },
  };
}

/** A string of bytes is copied alone; a buffer would take along the pool that it is part of. */
const toWire = ({ query, body, ...request }: AwsRequest): WireRequest => ({
  ...request,
  query: query.toString(),
  body: body.toString('latin1'),
});

const fromWire = ({ query, body, ...request }: WireRequest): AwsRequest => ({
  ...request,
  query: new URLSearchParams(query),
  body: Buffer.from(body, 'latin1'),
});
