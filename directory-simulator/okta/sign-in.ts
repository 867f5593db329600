import type { IncomingHttpHeaders } from 'node:http';
import * as z from 'zod';
import { Answer, type Endpoint, endpoint } from '../engine/dialect.ts';
import { ALGORITHMS, parseJwt } from '../engine/jwt.ts';
import type { AccessTokens } from './access-tokens.ts';
import type { Org } from './api.ts';
import { type Client, registeredKeys } from './client.ts';
import { type Dpop, ProofError } from './dpop.ts';
import { oauthError } from './errors.ts';
import { publicKeyOf } from './keys.ts';

const TOKEN_PATH = '/oauth2/v1/token';
const JWT_BEARER = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
/** Okta documents: "The expiration time can't be more than one hour in the future" (JWT with private key). */
const LONGEST_VALIDITY_SECONDS = 3_600;
const SKEW_SECONDS = 300;

export interface SignIn {
  readonly org: Org;
  readonly client: Client;
  readonly tokens: AccessTokens;
  readonly dpop: Dpop;
  /** The identifiers of used client assertions. */
  readonly usedAssertions: Set<string>;
}

const Form = z.looseObject({
  grant_type: z.string().optional(),
  scope: z.string().optional(),
  client_id: z.string().optional(),
  client_assertion_type: z.string().optional(),
  client_assertion: z.string().optional(),
});
type Form = z.infer<typeof Form>;

/** Returns the token endpoint of the org authorization server, and its metadata. */
export const tokenEndpoints = (signIn: SignIn): readonly Endpoint[] => [
  endpoint({
    method: 'POST',
    path: TOKEN_PATH,
    operation: 'token',
    handle({ body, headers, url }) {
      const form = Form.safeParse(body).data ?? {};
      refuseOtherGrants(form);
      const { orgUrl } = signIn.org;
      const audience = [...new Set([orgUrl(url), new URL(url).origin])].map((base) => `${base}${TOKEN_PATH}`);
      refuseWrongAssertion(signIn, form, audience);
      const boundTo = proofKey(signIn, headers, audience);
      const scopes = grantedScopes(signIn.client, form.scope);
      const access_token = signIn.tokens.issue({ scopes, boundTo }, orgUrl(url));
      const expires_in = signIn.org.simulation.settings().accessTokenLifetimeSeconds;
      const token_type = boundTo === undefined ? 'Bearer' : 'DPoP';
      const answer = { token_type, expires_in, access_token, scope: scopes.join(' ') };
      return new Answer(answer, { 'cache-control': 'no-cache, no-store', pragma: 'no-cache' });
    },
  }),
  endpoint({
    method: 'GET',
    path: '/.well-known/oauth-authorization-server',
    operation: 'authorizationServerMetadata',
    handle({ url }) {
      const issuer = signIn.org.orgUrl(url);
      return {
        issuer,
        token_endpoint: `${issuer}${TOKEN_PATH}`,
        authorization_endpoint: `${issuer}/oauth2/v1/authorize`,
        jwks_uri: `${issuer}/oauth2/v1/keys`,
        response_types_supported: ['code'],
        grant_types_supported: ['client_credentials'],
        token_endpoint_auth_methods_supported: ['private_key_jwt'],
        token_endpoint_auth_signing_alg_values_supported: ALGORITHMS,
        dpop_signing_alg_values_supported: ALGORITHMS,
      };
    },
  }),
];

function refuseOtherGrants({ grant_type, client_assertion_type, client_assertion }: Form): void {
  if (grant_type !== 'client_credentials') {
    throw oauthError(400, 'unsupported_grant_type', 'The authorization grant type is not supported.');
  }
  if (client_assertion_type !== JWT_BEARER || client_assertion === undefined) {
    const description =
      'Client Credentials requests to the Org Authorization Server must use the private_key_jwt token_endpoint_auth_method.';
    throw oauthError(401, 'invalid_client', description);
  }
}

const refused = (description: string) => oauthError(401, 'invalid_client', description);

/** Checks the client assertion ("JWT with private key"). Each `jti` is accepted only once. */
function refuseWrongAssertion(signIn: SignIn, form: Form, audience: readonly string[]): void {
  const { client, usedAssertions } = signIn;
  const assertion = parseJwt(form.client_assertion ?? '');
  if (assertion === undefined) throw refused('The client_assertion token is malformed.');
  const { header, claims } = assertion;
  if (claims.iss !== claims.sub || (form.client_id ?? claims.sub) !== claims.sub) {
    throw refused('The issuer and the subject of the client_assertion must be the client_id.');
  }
  if (claims.sub !== client.id) throw refused("Invalid value for 'client_id' parameter.");
  const jwk = registeredKeys(client).find(({ kid }) => kid === header.kid);
  if (header.kid === undefined || jwk === undefined)
    throw refused('The client_assertion JWT kid is invalid.');
  const key = publicKeyOf(jwk);
  if (key === undefined || !assertion.isSignedBy(key)) {
    throw refused('The client_assertion signature is invalid.');
  }
  if (typeof claims.aud !== 'string' || !audience.includes(claims.aud)) {
    throw refused('The audience claim for client_assertion must be the endpoint invoked for the request.');
  }
  refuseWrongTimes(claims, signIn.org.simulation.clock() / 1_000);
  if (claims.jti === undefined) return;
  if (usedAssertions.has(claims.jti)) throw refused('The client_assertion token has already been used.');
  usedAssertions.add(claims.jti);
}

function refuseWrongTimes({ exp, iat }: { exp?: number | undefined; iat?: number | undefined }, now: number) {
  if (exp === undefined) throw refused('The client_assertion token must contain an expiration claim.');
  if (exp <= now) throw refused('The client_assertion token is expired.');
  if (exp > now + LONGEST_VALIDITY_SECONDS) {
    throw refused('The client_assertion token has an expiration too far into the future.');
  }
  if (iat !== undefined && iat > now + SKEW_SECONDS) {
    throw refused('The client_assertion token was issued in the future.');
  }
}

/**
 * Returns the thumbprint of the key to which the token will be bound; undefined for an app without DPoP, which ignores
 * proofs.
 */
function proofKey(
  { org, dpop }: SignIn,
  headers: IncomingHttpHeaders,
  urls: readonly string[],
): string | undefined {
  if (org.simulation.settings().dpop === 'off') return undefined;
  const header = headers['dpop'];
  try {
    return dpop.thumbprint(typeof header === 'string' ? header : undefined, {
      method: 'POST',
      urls,
      needsNonce: true,
    });
  } catch (error) {
    if (!(error instanceof ProofError)) throw error;
    const answered = error.error === 'use_dpop_nonce' ? { 'dpop-nonce': dpop.nonce() } : {};
    throw oauthError(400, error.error, error.message, answered);
  }
}

/** Returns the requested scopes that are granted. A token can have fewer scopes than the client requested. */
function grantedScopes({ grantedScopes: granted }: Client, requested: string | undefined): readonly string[] {
  const scopes = (requested ?? '').split(' ').filter((scope) => scope !== '');
  const isKnown = (scope: string) => /^okta\.[a-zA-Z]+\.(read|manage)$/.test(scope);
  if (scopes.length === 0 || !scopes.every(isKnown)) {
    const description = 'One or more scopes are not configured for the authorization server resource.';
    throw oauthError(400, 'invalid_scope', description);
  }
  const found = scopes.filter((scope) => granted.includes(scope));
  if (found.length === 0) {
    throw oauthError(400, 'consent_required', 'You are not allowed any of the requested scopes.');
  }
  return found;
}
