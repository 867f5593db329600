interface WireRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface WireAnswer {
  readonly status: number;
  readonly body: unknown;
}

/**
 * Returns a request handler that answers an AWS SDK client in the same process. The SDK does all its work except the
 * transfer over a socket. Each response takes one turn of the event loop, so counts do not depend on the machine.
 */
export const inProcess = (answer: (operation: string, input: unknown) => WireAnswer) => ({
  handle: async (request: WireRequest) => {
    const operation = (request.headers['x-amz-target'] ?? '').split('.').at(-1) ?? '';
    const { status, body } = answer(operation, JSON.parse(textOf(request.body)));
    await new Promise((resolve) => setImmediate(resolve));
    return {
      response: {
        statusCode: status,
        headers: { 'content-type': 'application/x-amz-json-1.0' },
        body: new TextEncoder().encode(JSON.stringify(body)),
      },
    };
  },
});

const textOf = (body: unknown): string =>
  typeof body === 'string' ? body : new TextDecoder().decode(body as Uint8Array);

export const CREDENTIALS = { accessKeyId: 'bench', secretAccessKey: 'bench' };
export const REGION = 'us-east-1';
