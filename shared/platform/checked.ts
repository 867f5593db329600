import type * as z from 'zod';
import type { Call } from './call.ts';
import { type Endpoint, targetOf } from './endpoint.ts';
import { InvalidRequestError } from './errors.ts';

/** Path and query of a call. @throws InvalidRequestError where an id cannot stand in a path. */
export function checkedTarget<T>({ endpoint, ids, query }: Call<T>): string {
  try {
    return targetOf(endpoint, ids, query);
  } catch (thrown) {
    throw invalid(endpoint, thrown instanceof Error ? thrown.message : 'no valid path');
  }
}

/** The body as it is sent, or none. @throws InvalidRequestError naming the field. */
export function checkedBody<T>({ endpoint, body }: Call<T>): string | undefined {
  return body === undefined ? undefined : JSON.stringify(checked(body.schema, body.value, endpoint));
}

/** Checks what is about to be sent. @throws InvalidRequestError naming the field. */
export function checked<T>(schema: z.ZodType<T>, value: unknown, endpoint: Endpoint): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw invalid(endpoint, `${issue?.path.join('.') || 'argument'}: ${issue?.message ?? 'not as specified'}`);
}

function invalid(endpoint: Endpoint, what: string): InvalidRequestError {
  return new InvalidRequestError(what, { method: endpoint.method, pathTemplate: endpoint.path, sent: 'no' });
}
