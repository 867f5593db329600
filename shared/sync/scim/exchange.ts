import { badRequest } from '../../scim/errors.ts';
import { isObject, type ScimObject, type ScimValue } from '../../scim/value.ts';

/** One HTTP request, whatever brought it: API Gateway, a local listener, a line of a bulk request. */
export interface ScimRequest {
  readonly method: string;
  /** Below the base URL, decoded in no way: `/Users/2819c223`. */
  readonly path: string;
  readonly query: ScimObject;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: ScimValue | undefined;
}

export interface ScimReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** undefined: the answer has no body. */
  readonly body: ScimObject | undefined;
}

export const ok = (body: ScimObject, headers: Readonly<Record<string, string>> = {}): ScimReply => ({
  status: 200,
  headers,
  body,
});

export const noContent = (headers: Readonly<Record<string, string>> = {}): ScimReply => ({
  status: 204,
  headers,
  body: undefined,
});

/** @throws ScimError invalidSyntax where the request has no object as its body */
export function objectBody({ body }: ScimRequest): ScimObject {
  if (!isObject(body)) throw badRequest('invalidSyntax', 'expected a JSON object as the body');
  return body;
}
