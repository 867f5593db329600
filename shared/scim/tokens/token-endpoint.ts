import type { ConnectionName } from '../../domain/ids.ts';
import type { ConnectionStore, Ports } from '../../sync/ports/bundles.ts';
import type { OAuthClient, OAuthServer } from '../../sync/ports/oauth.ts';
import { ScimError } from '../protocol/errors.ts';
import type { ScimReply } from '../server/context.ts';
import type { HttpRequest } from '../server/http.ts';
import { type RateLimiter, UNKNOWN_TOKEN_RATE, waitFor } from '../server/limiter.ts';
import { accessSeconds, issueAccess, validSecret } from './clients.ts';

/** The path of the token endpoint below the base URL. */
export const TOKEN_PATH = '/oauth/token';

/** The maximum size of the form. Id, secret and grant need only about 150 bytes. */
const MAX_FORM_BYTES = 4_096;

export interface TokenEndpointPorts extends Pick<Ports, 'tokens' | 'clock' | 'randomHex'> {
  readonly connections: Pick<ConnectionStore, 'find' | 'list'>;
  readonly limiter: RateLimiter;
  readonly oauth: OAuthServer;
}

/**
 * The token endpoint of OAuth 2.0 clients (RFC 6749 sections 3.2 and 4.4). The requests of each address share one limit
 * with the address's requests with unknown tokens. A client needs about one request an hour.
 * @returns also the connection of the client, if the client's secret is valid
 * @throws ScimError 405 or 429, for which OAuth has no error
 */
export async function answerTokenRequest(request: HttpRequest, ports: TokenEndpointPorts) {
  if (request.method.toUpperCase() !== 'POST') {
    throw new ScimError(405, 'expected the method POST', { headers: { allow: 'POST' } });
  }
  waitFor(ports.limiter.take(`address ${request.source ?? ''}`, UNKNOWN_TOKEN_RATE));
  let connection: ConnectionName | undefined;
  const clientOf = async (id: string, text: string): Promise<OAuthClient | undefined> => {
    const secret = await validSecret({ id, secret: text }, ports);
    const found = secret && (await ports.connections.find(secret.connection));
    if (secret === undefined || found === undefined) return undefined;
    connection = found.name;
    const seconds = accessSeconds(secret, ports.clock());
    return { id, accessSeconds: seconds, issue: () => issueAccess(secret, seconds, ports) };
  };
  const form = formOf(request);
  if (typeof form === 'string') return { reply: refused(form), connection };
  const { status, headers, body } = await ports.oauth.answer({ headers: headersOf(request), form }, clientOf);
  return { reply: { status, headers: { ...headers, ...UNSTORED }, body }, connection };
}

/** The headers that RFC 6749 section 5.1 requires. */
const UNSTORED = { 'content-type': 'application/json', 'cache-control': 'no-store', pragma: 'no-cache' };

const refused = (description: string): ScimReply => ({
  status: 400,
  headers: UNSTORED,
  body: { error: 'invalid_request', error_description: description },
});

/** Returns the parameters, or an error message. No parameter may be repeated (RFC 6749 section 3.2). */
function formOf({ body = '', headers }: HttpRequest): Readonly<Record<string, string>> | string {
  if (Buffer.byteLength(body) > MAX_FORM_BYTES) return `expected a body of at most ${MAX_FORM_BYTES} bytes`;
  const parameters = [...new URLSearchParams(Buffer.from(body).toString('utf8'))];
  const form = Object.fromEntries(parameters);
  if (Object.keys(form).length < parameters.length) return 'expected each parameter once';
  // RFC 6749 section 2.3: a client must not use more than one method in a request.
  const isTwice = headers['authorization'] !== undefined && form['client_secret'] !== undefined;
  return isTwice ? 'expected the client secret in the header Authorization or in the body, got both' : form;
}

/** Returns only the headers that the protocol uses. */
function headersOf({ headers, body = '' }: HttpRequest): Readonly<Record<string, string>> {
  const named = ['authorization', 'content-type'].flatMap((name) => {
    const value = headers[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(named), 'content-length': String(Buffer.byteLength(body)) };
}
