import * as z from 'zod';
import { httpEvent } from '../../local/console-login/http-event.ts';
import { DEFAULT_CONNECTION } from '../../shared/contract/names.ts';
import { randomHex } from '../../shared/runtime/clock.ts';
import { createScimTokenStore } from '../../shared/scim/store/scim-token-store.ts';
import { createToken } from '../../shared/scim/tokens/tokens.ts';
import type { Table } from '../../shared/store/table.ts';
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
 * Returns a client that sends requests as API Gateway does, with a new token of the default connection. @throws for an
 * unexpected status
 */
export async function scimClient(server: DeployedFunction, table: Table): Promise<ScimClient> {
  const tokens = createScimTokenStore(table);
  const { token } = await createToken(DEFAULT_CONNECTION, { tokens, clock: Date.now, randomHex });
  return async (method, target, expected, body) => {
    const request = {
      method,
      target: `/scim/v2${target}`,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
      body: body && JSON.stringify(body),
    };
    const answer = await server.invoke(httpEvent(request));
    const { statusCode, body: text } = Reply.parse(answer);
    if (statusCode !== expected) throw new Error(`${method} ${target}: ${statusCode} ${text}`);
    return Resource.parse(text === '' ? {} : JSON.parse(text));
  };
}
