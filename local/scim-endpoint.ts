import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ConnectionName } from '../shared/domain/ids.ts';
import { randomHex } from '../shared/runtime/clock.ts';
import { endpointOf, reportDeliveries, reportScim } from '../shared/runtime/report.ts';
import type { wireScim } from '../shared/runtime/wire-scim.ts';
import { MAX_BODY_BYTES } from '../shared/scim/protocol/limits.ts';
import { handleScim, SCIM_PATH } from '../shared/scim/server/handle.ts';
import type { HttpReply, HttpRequest } from '../shared/scim/server/http.ts';
import { createToken } from '../shared/scim/tokens/tokens.ts';

export interface ScimEndpoint {
  /** Base URL in the form that the admin page of an identity provider expects. */
  readonly url: string;
  /** A token for the given connection, valid until `stop`. */
  readonly token: string;
  readonly stop: () => Promise<void>;
}

/**
 * Limit of a request without its body. A filter of the maximum length fits even if each character is percent-encoded.
 * With Node's default of 16 KB, Node would answer such a request itself, with a response that is not SCIM.
 */
const MAX_HEAD_BYTES = 128 * 1024;

/** The local endpoint does not use the list of allowed addresses, because only this machine can reach it. */
type Wired = Omit<ReturnType<typeof wireScim>, 'admits'>;

/** Serves SCIM on this machine only, as API Gateway and the function `scim` do when deployed. */
export async function startScim(
  { port, connection }: { readonly port: number; readonly connection: ConnectionName },
  wired: Wired,
): Promise<ScimEndpoint> {
  const { ports } = wired;
  const { token, kept } = await createToken(connection, { ...ports, randomHex });
  const server = createServer(
    { maxHeaderSize: MAX_HEAD_BYTES },
    (request, response) => void serve(request, response, wired),
  );
  const origin = `http://127.0.0.1:${await listen(server, port)}`;
  return {
    url: `${origin}${SCIM_PATH}`,
    token,
    async stop() {
      server.close().closeAllConnections();
      await once(server, 'close');
      // With `--data`, the table is kept after the process ends, so the token must be revoked.
      await ports.tokens.revoke(connection, kept.prefix, ports.clock());
    },
  };
}

async function serve(incoming: IncomingMessage, response: ServerResponse, { ports, logger }: Wired) {
  const startedMs = ports.clock();
  const body = await readBody(incoming);
  if (body === undefined) return;
  const request = requestOf(incoming, body);
  const report = await handleScim(request, ports);
  const call = { method: request.method, endpoint: endpointOf(request.path) };
  reportScim(report, { ...call, elapsedMs: ports.clock() - startedMs }, logger);
  await reportDeliveries(report.deliveries, ports, logger);
  send(response, report.reply);
}

function requestOf(
  { method = 'GET', url = '/', headers, socket }: IncomingMessage,
  body: Buffer,
): HttpRequest {
  const [path = '/', ...query] = url.split('?');
  return {
    method,
    path,
    query: query.join('?'),
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
    ),
    body,
    origin: `http://${headers.host ?? '127.0.0.1'}`,
    source: socket.remoteAddress,
  };
}

/**
 * Returns the body; undefined if the client disconnected. If the body is above the limit, the result is the start of
 * the body, just above the limit.
 */
async function readBody(incoming: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      if (length <= MAX_BODY_BYTES) chunks.push(chunk);
      length += chunk.length;
    }
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks);
}

function send(response: ServerResponse, { status, headers, body }: HttpReply): void {
  const hasBody = body !== '';
  if (hasBody) response.setHeader('content-length', Buffer.byteLength(body));
  response.writeHead(status, headers);
  response.end(hasBody ? body : undefined);
}

async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
