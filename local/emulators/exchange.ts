import type { z } from 'zod';

export interface AwsRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

export interface AwsReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** An emulated service. It returns undefined for a request that belongs to another service. */
export type AwsService = (request: AwsRequest) => Promise<AwsReply> | undefined;

/** Returns the reply of the first service that accepts the request; undefined if no service accepts it. */
export async function answerOf(services: readonly AwsService[], request: AwsRequest) {
  for (const service of services) {
    const reply = service(request);
    if (reply !== undefined) return reply.catch(asFault);
  }
  return undefined;
}

/** An error with an AWS error code. The SDK's clients throw an exception with this code as its name. */
export class AwsFault extends Error {
  readonly code: string;
  readonly status: number;

  constructor(code: string, message: string, status = 400) {
    super(message);
    this.name = 'AwsFault';
    this.code = code;
    this.status = status;
  }
}

/** A reply in the AWS JSON 1.1 format. REST-JSON clients can read it too. */
export const jsonReply = (body: unknown, status = 200, headers: Record<string, string> = {}): AwsReply => ({
  status,
  headers: { 'content-type': 'application/x-amz-json-1.1', ...headers },
  body: JSON.stringify(body),
});

/**
 * Returns the reply for an error. It has `__type` for AWS JSON clients and `x-amzn-errortype` for REST-JSON clients. An
 * error that is not an AwsFault is a defect of the emulator and becomes a 500.
 */
export function asFault(error: unknown): AwsReply {
  const fault =
    error instanceof AwsFault
      ? error
      : new AwsFault('InternalServiceError', error instanceof Error ? error.message : String(error), 500);
  const { code, message, status } = fault;
  const body = { __type: code, message, Message: message, Type: 'User' };
  return jsonReply(body, status, { 'x-amzn-errortype': code });
}

/** Reads the JSON body of a request. @throws AwsFault if the body does not match the schema */
export function readBody<Schema extends z.ZodType>(request: AwsRequest, schema: Schema): z.infer<Schema> {
  let value: unknown;
  try {
    value = request.body.length === 0 ? {} : JSON.parse(request.body.toString('utf8'));
  } catch {
    throw new AwsFault('SerializationException', 'expected a JSON body');
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'body'}: ${message}`);
  throw new AwsFault('ValidationException', issues.join('; '));
}
