import { timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { problem } from '../server/handle.ts';
import { HEADERS, type Page } from '../server/page-files.ts';

export interface ServeOptions {
  readonly port: number;
  /** The token that admits requests while the console runs. */
  readonly token: string;
  /** The fragment of the printed URL. The page exchanges it for the token. */
  readonly code: string;
  readonly page: Page;
  readonly handle: (request: Request) => Promise<Response>;
  readonly clock?: () => number;
}

/**
 * How long the code of the printed URL is valid after its first use. The code expires, because browsers keep the URL in
 * their history.
 */
export const CODE_VALID_MS = 15 * 60_000;

/**
 * Serves the console to this machine only. The page itself contains no data, so any local user may load it. An API
 * request needs the token or, until it expires, the code. The page gets the token in exchange for the code. The code is
 * only in the fragment of the printed URL, and browsers never send the fragment. The headers Host, Origin and
 * Sec-Fetch-* are checked, because another web page can reach this server through its own host name (DNS rebinding).
 */
export async function serveConsole(options: ServeOptions) {
  const admits = admission(options);
  const server = createServer((request, response) => {
    const { port } = server.address() as AddressInfo;
    answer(request, response, { ...options, admits, port }).catch(() => response.destroy());
  });
  server.listen(options.port, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    urlOf: (connection: string) => `http://127.0.0.1:${port}/c/${connection}#${options.code}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { token, page, handle, admits, port }: ServeOptions & { readonly admits: Admission },
): Promise<void> {
  const { method = 'GET', url: path = '/', headers } = incoming;
  const aborting = new AbortController();
  outgoing.on('close', () => aborting.abort());
  const refusal = refusalOf(headers, port);
  let response: Response;
  if (refusal !== undefined) response = problem(403, refusal);
  else if (!path.startsWith('/api/')) response = staticFile(method, path, page);
  else if (!admits(headers['x-groupsync-token'])) {
    response = problem(
      401,
      'not admitted: open the address that `groupsync console` printed, or run the command again',
    );
  } else if (path === '/api/token') response = Response.json({ token });
  else {
    const body = method === 'POST' ? bodyOf(incoming) : null;
    const init: RequestInit = { method, signal: aborting.signal, body, duplex: 'half' };
    const request = new Request(`http://127.0.0.1:${port}${path}`, init);
    response = await handle(request);
  }
  outgoing.writeHead(response.status, { ...HEADERS, ...Object.fromEntries(response.headers) });
  if (response.body === null) outgoing.end();
  else await pipeline(Readable.fromWeb(response.body as never), outgoing);
}

/**
 * Returns the body as a web stream. If the handler cancels the stream, the remaining body is received and discarded, so
 * that the client can read the answer. `Readable.toWeb` would close the connection.
 */
function bodyOf(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  const chunks = incoming.iterator({ destroyOnReturn: false });
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done === true) controller.close();
      else controller.enqueue(new Uint8Array(value));
    },
    async cancel() {
      await chunks.return?.();
      incoming.on('error', () => undefined).resume();
    },
  });
}

function refusalOf(headers: IncomingMessage['headers'], port: number): string | undefined {
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`];
  if (!hosts.includes(headers.host ?? '')) return 'refused: unexpected Host header';
  if (headers.origin !== undefined && headers.origin !== `http://${headers.host}`)
    return 'refused: request from another page';
  const site = headers['sec-fetch-site'];
  const isOurs = site === undefined || site === 'same-origin' || site === 'none';
  const isOpening = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
  return isOurs || isOpening ? undefined : 'refused: request from another page';
}

/** Returns the file of a path. A path without a file returns the page, whose script shows the view for the path. */
function staticFile(method: string, path: string, page: Page): Response {
  if (method !== 'GET' && method !== 'HEAD') return problem(405, 'only GET');
  const [name = '/'] = path.split('?');
  const file = page[name] ?? page['/'];
  if (file === undefined) return problem(404, 'not found');
  return new Response(method === 'HEAD' ? null : file.body, { headers: { 'content-type': file.type } });
}

type Admission = (given: string | string[] | undefined) => boolean;

/** Returns a function that admits the token always, and the code until `CODE_VALID_MS` after its first use. */
function admission({ token, code, clock = Date.now }: ServeOptions): Admission {
  let firstUseMs: number | undefined;
  return (given) => {
    if (isSame(given, token)) return true;
    if (!isSame(given, code)) return false;
    firstUseMs ??= clock();
    return clock() - firstUseMs < CODE_VALID_MS;
  };
}

function isSame(given: string | string[] | undefined, token: string): boolean {
  const [a, b] = [Buffer.from(String(given ?? '')), Buffer.from(token)];
  return a.length === b.length && timingSafeEqual(a, b);
}
