import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import dynalite from 'dynalite';
import { AwsFault, type AwsReply, type AwsRequest, type AwsService, faultReply } from './exchange.ts';

export interface AwsFront {
  /** Base URL of DynamoDB and of every service given. */
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** As dynalite's own limit. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

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
  const dynamoDb = server.listeners('request')[0] as RequestListener;
  server.removeAllListeners('request');
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    void serve(request, response, { services: options.services, dynamoDb });
  });
  const port = await listen(server, options.port);
  return { url: `http://127.0.0.1:${port}`, close: () => close(server) };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  to: { services: readonly AwsService[]; dynamoDb: RequestListener },
): Promise<void> {
  const body = await readAll(request);
  if (body === undefined) return;
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
  const replayed = Object.assign(Readable.from(body.length === 0 ? [] : [body]), {
    headers,
    method,
    url: target,
  });
  to.dynamoDb(replayed as unknown as IncomingMessage, response as never);
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

const asFault = (error: unknown): AwsReply =>
  faultReply(
    error instanceof AwsFault
      ? error
      : new AwsFault('InternalServiceError', error instanceof Error ? error.message : String(error), 500),
  );

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
