import { request } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { serveConsole } from '../../console/local/serve.ts';
import { createHandle } from '../../console/server/handle.ts';

const CHUNK = new Uint8Array(100_000).fill(32);
const handle = createHandle({
  prefix: 'groupsync',
  ports: {} as never,
  describe: String,
  formatCommands: (text) => text,
});

/** Sends this number of chunks, and returns the answer. */
async function post(chunks: number): Promise<{ readonly status: number; readonly body: string }> {
  const served = await serveConsole({ port: 0, token: 't', code: 'c', page: {}, handle });
  onTestFinished(() => served.close());
  const url = new URL('/api/approve?connection=default', served.urlOf('default'));
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers: { 'x-groupsync-token': 't' } }, (answer) => {
      let body = '';
      answer.on('data', (chunk) => {
        body += chunk;
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body }));
    });
    sent.on('error', reject);
    // After its answer, the server closes the connection. Then the client cannot write the remaining body.
    sent.on('socket', (socket) => socket.on('error', () => {}));
    for (let count = 0; count < chunks; count += 1) sent.write(CHUNK);
    sent.end();
  });
}

it('an endless body is refused with 413, and is read only up to the limit', async () => {
  let sent = 0;
  let isCancelled = false;
  const body = new ReadableStream({
    pull(controller) {
      sent += CHUNK.byteLength;
      controller.enqueue(CHUNK);
    },
    cancel() {
      isCancelled = true;
    },
  });
  const init: RequestInit = { method: 'POST', body, duplex: 'half' };
  const answer = await handle(new Request('http://127.0.0.1/api/approve?connection=default', init));
  expect(answer.status).toBe(413);
  expect(isCancelled).toBe(true);
  expect(sent).toBeLessThan(2_500_000);
});

it('a client that sends a body above the limit receives the answer 413', async () => {
  expect(await post(200)).toMatchObject({ status: 413, body: expect.stringContaining('too large') });
});
