import type { MessagePort, Worker } from 'node:worker_threads';
import type { AwsReply, AwsRequest } from './exchange.ts';

/** A request as plain data, which can be posted to another thread. */
type WireRequest = Omit<AwsRequest, 'query' | 'body'> & { readonly query: string; readonly body: string };

/** Requests and replies between the two threads. The reply to a request that no service accepts is undefined. */
interface ExchangeBatch {
  readonly kind: 'batch';
  readonly requests: readonly (readonly [id: number, request: WireRequest])[];
  readonly replies: readonly (readonly [id: number, reply: AwsReply | undefined])[];
}

export type FromWorker =
  | ExchangeBatch
  | { readonly kind: 'listening'; readonly url: string }
  | { readonly kind: 'failed'; readonly reason: string };

export type ToWorker = ExchangeBatch | { readonly kind: 'close' };

export type Ask = (request: AwsRequest) => Promise<AwsReply | undefined>;

/**
 * Connects the two threads. `answer` serves the other thread's requests. All messages of one iteration of the event
 * loop are sent together, because waking the other thread is the main cost.
 * @returns `ask`, which sends a request to the other thread, and `end`, which resolves all open requests as undefined
 */
export function startExchange(
  port: Worker | MessagePort,
  answer: Ask,
): { readonly ask: Ask; readonly end: () => void } {
  const waiting = new Map<number, (reply: AwsReply | undefined) => void>();
  let lastId = 0;
  let isEnded = false;
  let requests: ExchangeBatch['requests'][number][] = [];
  let replies: ExchangeBatch['replies'][number][] = [];
  const sendAll = () => {
    port.postMessage({ kind: 'batch', requests, replies });
    requests = [];
    replies = [];
  };
  const scheduleSend = () => void (requests.length + replies.length === 1 && setImmediate(sendAll));
  const settle = (id: number, reply?: AwsReply) => {
    waiting.get(id)?.(reply);
    waiting.delete(id);
  };
  port.on('message', (message: FromWorker | ToWorker) => {
    if (message.kind !== 'batch') return;
    for (const [id, reply] of message.replies) settle(id, reply);
    for (const [id, request] of message.requests) {
      void answer(fromWire(request)).then((reply) => {
        replies.push([id, reply]);
        scheduleSend();
      });
    }
  });
  return {
    ask: (request) =>
      new Promise((resolve) => {
        if (isEnded) return resolve(undefined);
        lastId += 1;
        waiting.set(lastId, resolve);
        requests.push([lastId, toWire(request)]);
        scheduleSend();
      }),
    end() {
      isEnded = true;
      for (const id of waiting.keys()) settle(id);
    },
  };
}

/** The body is sent as a string, because posting a small Buffer copies the whole memory pool that contains it. */
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
