import type { MessagePort, Worker } from 'node:worker_threads';
import type { AwsReply, AwsRequest } from './exchange.ts';

/** A request as it crosses from one thread to another: nothing but plain data. */
type WireRequest = Omit<AwsRequest, 'query' | 'body'> & { readonly query: string; readonly body: string };

/** Requests and replies between the two threads. A reply is undefined if no handler or service answers the request. */
interface Crossings {
  readonly kind: 'crossings';
  readonly requests: readonly (readonly [id: number, request: WireRequest])[];
  readonly replies: readonly (readonly [id: number, reply: AwsReply | undefined])[];
}

export type FromWorker =
  | Crossings
  | { readonly kind: 'listening'; readonly url: string }
  | { readonly kind: 'failed'; readonly reason: string };

export type ToWorker = Crossings | { readonly kind: 'close' };

export type Ask = (request: AwsRequest) => Promise<AwsReply | undefined>;

/**
 * Answers what the other thread asks. What crosses in one turn of the event loop does so in one message: waking the
 * other thread is what costs.
 * @returns what asks it in turn, and what ends all waiting once it is gone
 */
export function startExchange(
  port: Worker | MessagePort,
  answer: Ask,
): { readonly ask: Ask; readonly end: () => void } {
  const waiting = new Map<number, (reply: AwsReply | undefined) => void>();
  let asked = 0;
  let isOver = false;
  let requests: Crossings['requests'][number][] = [];
  let replies: Crossings['replies'][number][] = [];
  const sendAll = () => {
    port.postMessage({ kind: 'crossings', requests, replies });
    requests = [];
    replies = [];
  };
  const soon = () => void (requests.length + replies.length === 1 && setImmediate(sendAll));
  const settle = (id: number, reply?: AwsReply) => {
    waiting.get(id)?.(reply);
    waiting.delete(id);
  };
  port.on('message', (message: FromWorker | ToWorker) => {
    if (message.kind !== 'crossings') return;
    for (const [id, reply] of message.replies) settle(id, reply);
    for (const [id, request] of message.requests) {
      void answer(fromWire(request)).then((reply) => {
        replies.push([id, reply]);
        soon();
      });
    }
  });
  return {
    ask: (request) =>
      new Promise((resolve) => {
        if (isOver) return resolve(undefined);
        asked += 1;
        waiting.set(asked, resolve);
        requests.push([asked, toWire(request)]);
        soon();
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
