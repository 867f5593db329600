import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import * as z from 'zod';
import { DEFAULT_CONNECTION } from '../../shared/contract/names.ts';
import { randomHex } from '../../shared/runtime/clock.ts';
import { createScimTokenStore } from '../../shared/store/scim-token-store.ts';
import type { Table } from '../../shared/store/table.ts';
import { createToken } from '../../shared/sync/scim/tokens.ts';
import type { DeployedFunction } from './deployed-function.ts';

const Reply = z.object({ statusCode: z.number(), body: z.string() });
const Resource = z.object({ id: z.string().default('') });

export type ScimClient = (
  method: string,
  target: string,
  expected: number,
  body?: object,
) => Promise<z.infer<typeof Resource>>;

/**
 * Returns a client that sends requests as API Gateway does, with a new token of the default connection. @throws for a
 * status other than the expected one
 */
export async function scimClient(server: DeployedFunction, table: Table): Promise<ScimClient> {
  const tokens = createScimTokenStore(table);
  const { token } = await createToken(DEFAULT_CONNECTION, { tokens, clock: Date.now, randomHex });
  return async (method, target, expected, body) => {
    const answer = await server.invoke(eventOf({ method, target, token, body }));
    const { statusCode, body: text } = Reply.parse(answer);
    if (statusCode !== expected) throw new Error(`${method} ${target}: ${statusCode} ${text}`);
    return Resource.parse(text === '' ? {} : JSON.parse(text));
  };
}

/**
 * Payload format 2.0 with the fields that the function reads. The body is base64, because it is not `application/json`.
 */
function eventOf(request: {
  readonly method: string;
  readonly target: string;
  readonly token: string;
  readonly body: object | undefined;
}): Partial<APIGatewayProxyEventV2> {
  const { method, target, token, body } = request;
  const [path = '', query = ''] = target.split('?');
  const http = { method, path: `/scim/v2${path}`, protocol: 'HTTP/1.1', sourceIp: '', userAgent: '' };
  return {
    version: '2.0',
    rawPath: http.path,
    rawQueryString: query,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
    requestContext: { domainName: 'scim.acme.test', http } as APIGatewayProxyEventV2['requestContext'],
    ...(body === undefined
      ? { isBase64Encoded: false }
      : { body: Buffer.from(JSON.stringify(body)).toString('base64'), isBase64Encoded: true }),
  };
}
