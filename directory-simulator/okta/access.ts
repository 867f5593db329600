import type { IncomingHttpHeaders } from 'node:http';
import { DirectoryError, type Endpoint } from '../engine/dialect.ts';
import type { Group, User, View } from '../engine/directory.ts';
import { ALGORITHMS } from '../engine/jwt.ts';
import type { AccessToken } from './access-tokens.ts';
import { ProofError } from './dpop.ts';
import { accessDenied, invalidToken, notFound } from './errors.ts';
import { groupById, typeOf, usersOf } from './org.ts';
import type { RateLimits } from './rate-limits.ts';
import type { SignIn } from './sign-in.ts';

/** The groups and users that the client's administrator role can see. */
export interface Access {
  shows(group: Group): boolean;
  /**
   * Returns a function that tells whether a user is visible. With a resource set, only users of its groups are visible.
   */
  userTest(view: View): (user: User) => boolean;
}

export const createAccess = ({ client }: SignIn): Access => ({
  shows: (group) =>
    client.resourceSet === null
      ? client.role !== 'USER_ADMIN' || typeOf(group) !== 'BUILT_IN'
      : client.resourceSet.includes(group.id),
  userTest(view) {
    const { resourceSet } = client;
    if (resourceSet === null) return () => true;
    const groups = resourceSet.flatMap((id) => groupById(view, id) ?? []);
    const ids = new Set(groups.flatMap((group) => usersOf(view, group).map(({ id }) => id)));
    return ({ id }) => ids.has(id);
  },
});

interface Request {
  readonly endpoint: Endpoint;
  readonly headers: IncomingHttpHeaders;
  readonly url: string;
}

/** Checks token, proof, limit, scope and role, in this order. */
export function admit(signIn: SignIn, limits: RateLimits, request: Request): void {
  const { endpoint } = request;
  const token = endpoint.scopes === undefined ? undefined : tokenOf(signIn, request);
  limits.count(endpoint);
  if (endpoint.scopes === undefined) return;
  const { client } = signIn;
  const hasScope = (scope: string) => client.grantedScopes.includes(scope) && token?.scopes.includes(scope);
  if (token !== undefined && !endpoint.scopes.some(hasScope)) throw missingScope(signIn, request);
  const isLimited = client.role === 'USER_ADMIN' || client.resourceSet !== null;
  if (isLimited && endpoint.operation === 'listLogEvents') throw accessDenied();
}

/** Returns the access token of a request; undefined for an API token. @throws {DirectoryError} */
function tokenOf(signIn: SignIn, request: Request): AccessToken | undefined {
  const [, scheme = '', text = ''] = /^(\w+) +(\S+) *$/.exec(request.headers.authorization ?? '') ?? [];
  const kind = scheme.toLowerCase();
  if (kind === 'ssws') {
    if (text !== signIn.client.apiToken) throw invalidToken();
    return undefined;
  }
  const token = signIn.tokens.find(text);
  const isBound = token?.boundTo !== undefined;
  if (token === undefined || kind !== (isBound ? 'dpop' : 'bearer')) {
    const description = 'The access token is invalid.';
    throw invalidToken(challenge(signIn, request, { error: 'invalid_token', description }));
  }
  if (isBound) refuseWrongProof(signIn, request, { text, boundTo: token.boundTo ?? '' });
  return token;
}

interface Bound {
  readonly text: string;
  readonly boundTo: string;
}

/**
 * Checks the proof of an API call. The answer to a wrong proof has no body, and the status 400. For a missing or wrong
 * nonce, the status is 401 (RFC 9449) or 400, because Okta uses both.
 */
function refuseWrongProof(signIn: SignIn, request: Request, { text, boundTo }: Bound): void {
  const { org, dpop } = signIn;
  const { settings } = org.simulation;
  const { origin, pathname } = new URL(request.url);
  const header = request.headers['dpop'];
  try {
    const thumbprint = dpop.thumbprint(typeof header === 'string' ? header : undefined, {
      method: request.endpoint.method,
      urls: [origin, org.orgUrl(request.url)].map((base) => `${base}${pathname}`),
      accessToken: text,
      needsNonce: settings().dpop === 'everywhere',
    });
    if (thumbprint !== boundTo) {
      throw new ProofError('invalid_dpop_proof', 'The DPoP proof JWT does not match the access token.');
    }
  } catch (error) {
    if (!(error instanceof ProofError)) throw error;
    const headers = challenge(signIn, request, { error: error.error, description: error.message });
    if (error.error === 'invalid_dpop_proof') throw new DirectoryError(400, '', headers);
    const status = org.simulation.random(`dpop-status/${dpop.nonce()}`).pick([400, 401]);
    throw new DirectoryError(status, '', { ...headers, 'dpop-nonce': dpop.nonce() });
  }
}

interface Challenge {
  readonly error: string;
  readonly description: string;
}

/** Returns the header of the answer to a refused token, in Okta's form. */
function challenge({ org }: SignIn, { endpoint, url }: Request, { error, description }: Challenge) {
  const base = org.orgUrl(url).replace(/^https:/, 'http:');
  const isDpop = org.simulation.settings().dpop !== 'off';
  const parts = [
    ...(isDpop ? [`algs="${ALGORITHMS.join(' ')}"`] : []),
    `authorization_uri="${base}/oauth2/v1/authorize"`,
    `realm="${base}"`,
    `scope="${endpoint.scopes?.[0] ?? ''}"`,
    `error="${error}"`,
    `error_description="${description}"`,
    `resource="${new URL(url).pathname}"`,
  ];
  return { 'www-authenticate': `${isDpop ? 'DPoP' : 'Bearer'} ${parts.join(', ')}` };
}

/**
 * Returns the error for a token without the required scope. With a resource set, the error is the 404 of a missing
 * object.
 */
function missingScope(signIn: SignIn, request: Request): DirectoryError {
  const { pathname } = new URL(request.url);
  if (signIn.client.resourceSet !== null) return notFound('Resource', pathname);
  const description = 'The access token provided does not contain the required scopes.';
  return accessDenied(challenge(signIn, request, { error: 'insufficient_scope', description }));
}
