import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import type { handler } from '../../functions/console.ts';
import { httpEvent } from './http-event.ts';

type Handler = typeof handler;

/** The largest body that API Gateway accepts. */
const MAX_BODY_BYTES = 10_000_000;

/** Serves the function `console` on this machine, as API Gateway does (payload format 2.0). */
export const createGateway = (load: () => Promise<Handler>) =>
  createServer(
    (request, response) =>
      void answer(request, response, load).catch(() => {
        response.writeHead(500).end();
      }),
  );

async function answer(request: IncomingMessage, response: ServerResponse, load: () => Promise<Handler>) {
  const call = await load();
  const {
    statusCode = 200,
    headers = {},
    cookies = [],
    body = '',
    isBase64Encoded,
  } = await call(await eventOf(request), { awsRequestId: 'local' });
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, String(value));
  if (cookies.length > 0) response.setHeader('set-cookie', cookies);
  response.writeHead(statusCode).end(isBase64Encoded ? Buffer.from(body, 'base64') : body);
}

async function eventOf(request: IncomingMessage): Promise<APIGatewayProxyEventV2> {
  const { method = 'GET', url: target = '/' } = request;
  const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)]);
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  return httpEvent({ method, target, headers: Object.fromEntries(headers), body: Buffer.concat(chunks) });
}
