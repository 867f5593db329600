import type { FastifyInstance } from 'fastify';

export interface Sent {
  readonly token?: string | null;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** Returns a function that sends a request such as `GET /path` to a server without a socket. */
export const sendTo =
  (app: Pick<FastifyInstance, 'inject'>) =>
  async (request: string, { token = null, body, headers = {} }: Sent = {}) => {
    const [method = 'GET', url = ''] = request.split(/ (.*)/s);
    const isText = body === undefined || typeof body === 'string';
    const response = await app.inject({
      method: method as 'GET',
      url,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(isText ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { payload: isText ? body : JSON.stringify(body) }),
    });
    const isJson = String(response.headers['content-type']).includes('json');
    return {
      status: response.statusCode,
      headers: response.headers,
      text: response.body,
      json: isJson ? response.json() : undefined,
    };
  };
