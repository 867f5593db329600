import { EventEmitter, once } from 'node:events';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import dynalite from 'dynalite';
import { isOurHost, isOurPage } from '../platform/controls/loopback.ts';
import { AwsFault, type AwsReply, type AwsRequest, type AwsService, answerOf, asFault } from './exchange.ts';
import './expressions.ts';

export interface AwsFront {
  /** Base URL of DynamoDB and of all the given services. */
  readonly url: string;
  /** Answers a request from this process without HTTP. The promise rejects while the server closes. */
  readonly ask: (request: AwsRequest) => Promise<AwsReply>;
  readonly close: () => Promise<void>;
}

/** dynalite has the same limit. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;
/** Maximum time that `drain` waits for requests in flight. A request takes milliseconds. */
const DRAIN_MS = 1000;

/**
 * Starts one loopback server for DynamoDB and the services in `options.services`. The first service that accepts a
 * request answers it. dynalite answers all other requests. The front reads the body before it calls dynalite. Otherwise
 * a client that disconnects during a body would cause an error in dynalite that ends the process.
 * @param dataPath folder of the tables; without a folder, they are in memory
 */
export async function startAwsFront(options: {
  port: number;
  dataPath?: string | undefined;
  services: readonly AwsService[];
}): Promise<AwsFront> {
  const server = dynalite({
    createTableMs: 1,
    path: options.dataPath,
  });
  const dynamoDb = guarded(server.listeners('request')[0] as RequestListener);
  const ask = async (request: AwsRequest): Promise<AwsReply> =>
    (await answerOf(options.services, request)) ?? dynamoDb.ask(request);
  server.removeAllListeners('request');
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    void serve(request, response, ask);
  });
  server.listen(options.port, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    ask,
    async close() {
      await dynamoDb.drain();
      await close(server);
    },
  };
}

/**
 * If a request reaches a closed store, dynalite throws an error that ends the process. A handler that timed out can
 * still send such a request. Therefore `drain` refuses new requests and waits for the requests in flight.
 */
function guarded(dynamoDb: RequestListener) {
  const inFlight = new Set<Promise<AwsReply>>();
  let isClosing = false;
  return {
    async ask(request: AwsRequest): Promise<AwsReply> {
      if (isClosing) throw new Error('the store is closing');
      const reply = replyOf(dynamoDb, request);
      inFlight.add(reply);
      return reply.finally(() => inFlight.delete(reply));
    },
    async drain() {
      isClosing = true;
      await Promise.race([Promise.allSettled(inFlight), delay(DRAIN_MS)]);
    },
  };
}

/** Returns dynalite's reply. The fake response has only the members that dynalite uses. */
function replyOf(dynamoDb: RequestListener, { method, path, query, headers, body }: AwsRequest) {
  return new Promise<AwsReply>((resolve) => {
    const sent: Record<string, string> = {};
    const response = {
      statusCode: 200,
      setHeader(name: string, value: unknown) {
        sent[name.toLowerCase()] = String(value);
      },
      end: (text = '') => resolve({ status: response.statusCode, headers: sent, body: text }),
    };
    const url = query.size === 0 ? path : `${path}?${query}`;
    const replayed = Object.assign(new EventEmitter(), { headers, method, url });
    dynamoDb(replayed as unknown as IncomingMessage, response as never);
    if (body.length > 0) replayed.emit('data', body);
    replayed.emit('end');
  });
}

const delay = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms).unref());

/** The error for a request of a web page, which can reach this port by a name that resolves to 127.0.0.1. */
const NOT_LOCAL = new AwsFault(
  'AccessDeniedException',
  'expected a request from a program on this machine',
  403,
);

async function serve(request: IncomingMessage, response: ServerResponse, ask: AwsFront['ask']) {
  const body = await readAll(request);
  if (body === undefined) return;
  if (!isOurHost(request.headers) || !isOurPage(request.headers)) return send(response, asFault(NOT_LOCAL));
  const { pathname: path, searchParams: query } = new URL(request.url ?? '/', 'http://127.0.0.1');
  const { method = 'GET', headers } = request;
  const reply = await ask({ method, path, query, headers, body }).catch(() => undefined);
  if (reply === undefined) response.destroy();
  else send(response, reply);
}

/** Returns the whole body; undefined if the client disconnected or the body is too large. */
async function readAll(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > MAX_BODY_BYTES) return undefined;
      chunks.push(chunk);
    }
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks);
}

function send(response: ServerResponse, reply: AwsReply): void {
  response.writeHead(reply.status, { ...reply.headers, 'content-length': Buffer.byteLength(reply.body) });
  response.end(reply.body);
}

/** Ends open connections. dynalite's own `close` then closes the store. */
function close(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.close((error) => (error instanceof Error ? reject(error) : resolve()));
    server.closeAllConnections();
  });
}
