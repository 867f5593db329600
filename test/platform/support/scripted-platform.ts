import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Strings and bytes are sent unchanged, and every other value as JSON. */
  readonly body?: unknown;
  /**
   * `drop`: the server closes the connection without an answer. `hang`: the server never answers. `cut`: the server
   * closes the connection in the middle of the body. `stall`: the body begins and never ends.
   */
  readonly failure?: 'drop' | 'hang' | 'cut' | 'stall';
}

export interface ScriptedPlatform {
  readonly url: string;
  readonly seen: readonly Seen[];
  close(): Promise<void>;
}

/** Starts an HTTP server on the loopback address. It sends the answers of `script`, and records all requests. */
export async function startScriptedPlatform(
  script: (request: Seen, index: number) => Answer | Promise<Answer>,
): Promise<ScriptedPlatform> {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const url = new URL(request.url ?? '/', 'http://platform.test');
    const one: Seen = {
      method: request.method ?? '',
      path: (request.url ?? '').split('?')[0] ?? '',
      query: Object.fromEntries(url.searchParams),
      headers: request.headers,
      text: Buffer.concat(chunks).toString('utf8'),
    };
    seen.push(one);
    reply(response, await script(one, seen.length - 1));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function reply(response: ServerResponse, { status = 200, headers = {}, body, failure }: Answer): void {
  if (failure === 'hang') return;
  if (failure === 'drop') {
    response.socket?.destroy();
    return;
  }
  const bytes = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  const type = headers['content-type'] ?? 'application/json';
  if (failure === 'cut' || failure === 'stall') {
    response.writeHead(status, { ...headers, 'content-type': type, 'content-length': '1000' });
    response.write(bytes ?? '{', () => failure === 'cut' && response.socket?.destroy());
    return;
  }
  response.writeHead(status, { 'content-type': type, ...headers });
  response.end(bytes);
}
