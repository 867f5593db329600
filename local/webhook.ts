import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Starts a server that receives notifications instead of Slack or Teams, and calls `show` for each of them. */
export async function startWebhook(show: (text: string) => void) {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const { text } = JSON.parse(body) as { readonly text: string };
    show(`notification: ${text.replaceAll('\n', '\n      ')}`);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, stop: () => void server.close().closeAllConnections() };
}
