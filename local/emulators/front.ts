import { EventEmitter } from 'node:events';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import dynalite from 'dynalite';
import { isOurHost, isOurPage } from '../platform/controls/loopback.ts';
import { AwsFault, type AwsReply, type AwsRequest, type AwsService, asFault } from './exchange.ts';
import './expressions.ts';

export interface AwsFront {
  /** Base URL of DynamoDB and of every service given. */
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** As dynalite's own limit. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;
/** How long requests under way are waited for; one takes milliseconds. */
const DRAIN_MS = 1000;

/**
 * One loopback server for DynamoDB and the small services: each request goes to the first service that takes it,
 * what none takes goes to dynalite. Bodies are read before dynalite sees the request, because dynalite throws out of
 * its event handler, and so ends the process, when a client goes away in the middle of one.
 * @param dataPath folder that keeps the tables; without it they live in memory.
 */
export async function startAwsFront(options: {
  port: number;
  dataPath?: string | undefined;
  services: readonly AwsService[];
}): Promise<AwsFront> {
  const server = dynalite({
    createTableMs: 1,
    ...(options.dataPath === undefined ? {} : { path: options.dataPath }),
  });
  const dynamoDb = guarded(server.listeners('request')[0] as RequestListener);
  server.removeAllListeners('request');
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    void serve(request, response, { services: options.services, dynamoDb: dynamoDb.listener });
  });
  const port = await listen(server, options.port);
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      await dynamoDb.drain();
      await close(server);
    },
  };
}

/**
 * dynalite throws, and so ends the process, when a request reaches a store that is closed. A handler that nobody waits
 * for any more may still send one: from `drain` on, requests are cut off, and those under way are waited for.
 */
function guarded(dynamoDb: RequestListener): { listener: RequestListener; drain: () => Promise<void> } {
  const underWay = new Set<Promise<void>>();
  let isClosing = false;
  return {
    listener(request, response) {
      if (isClosing) {
        response.destroy();
        return;
      }
      const done = ended(response);
      underWay.add(done);
      void done.then(() => underWay.delete(done));
      dynamoDb(request, response);
    },
    async drain() {
      isClosing = true;
      await Promise.race([Promise.all(underWay), late(DRAIN_MS)]);
    },
  };
}

/** Resolves when dynalite answers, whether or not anybody is left to hear it. */
function ended(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const end = response.end.bind(response);
    response.end = ((...args: Parameters<typeof end>) => {
      resolve();
      return end(...args);
    }) as typeof response.end;
  });
}

const late = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms).unref());

/** A page in the browser of this machine reaches the port as the simulator's: by a name of its own, or as itself. */
const FOREIGN = new AwsFault('AccessDeniedException', 'expected a request of a program on this machine', 403);

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  to: { services: readonly AwsService[]; dynamoDb: RequestListener },
): Promise<void> {
  const body = await readAll(request);
  if (body === undefined) return;
  if (!isOurHost(request.headers) || !isOurPage(request.headers)) return send(response, asFault(FOREIGN));
  const url = new URL(request.url ?? '/', 'http://127.0.0.1');
  const read: AwsRequest = {
    method: request.method ?? 'GET',
    path: url.pathname,
    query: url.searchParams,
    headers: request.headers,
    body,
  };
  for (const service of to.services) {
    const answer = service(read);
    if (answer !== undefined) return send(response, await answer.catch(asFault));
  }
  const { headers, method, url: target } = request;
  const replayed = Object.assign(new EventEmitter(), { headers, method, url: target });
  to.dynamoDb(replayed as unknown as IncomingMessage, response as never);
  if (body.length > 0) replayed.emit('data', body);
  replayed.emit('end');
}

/** The whole body, or undefined where the client went away or sent too much. */
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

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

/** Ends what is in flight, then dynalite's own `close` ends the store. */
function close(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.close((error) => (error instanceof Error ? reject(error) : resolve()));
    server.closeAllConnections();
  });
}
