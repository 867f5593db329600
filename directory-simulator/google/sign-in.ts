import * as z from 'zod';
import { type Endpoint, endpoint } from '../engine/dialect.ts';
import { type Claims, JwtError, verifyJwt } from '../engine/jwt.ts';
import type { Simulation } from '../engine/simulation.ts';
import { type AccessTokens, createAccessTokens } from './access-tokens.ts';
import { oauthError } from './errors.ts';
import { createKeys, type GivenKeys, type Keys } from './keys.ts';
import { READ_ALL } from './scopes.ts';

export const SERVICE_ACCOUNT = {
  email: 'groupsync@directory-simulator.iam.gserviceaccount.com',
  clientId: '104276000000000000001',
  projectId: 'directory-simulator',
};

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const LONGEST_VALIDITY_SECONDS = 3_600;
/** Maximum time by which the clock of a client can be ahead. */
const SKEW_SECONDS = 300;

/** The administrator's configuration, and the issued tokens. */
export interface SignIn {
  readonly simulation: Simulation;
  readonly keys: Keys;
  readonly tokens: AccessTokens;
  /** Scopes that the service account can use on behalf of users (domain-wide delegation). */
  delegatedScopes: readonly string[];
}

export const createSignIn = (simulation: Simulation, given: GivenKeys): SignIn => ({
  simulation,
  keys: createKeys(given),
  tokens: createAccessTokens(simulation),
  delegatedScopes: READ_ALL,
});

/** Returns the token endpoint for service accounts ("Using OAuth 2.0 for server to server applications"). */
export const tokenEndpoint = (signIn: SignIn): Endpoint =>
  endpoint({
    method: 'POST',
    path: '/token',
    operation: 'oauth2.token',
    handle({ body }) {
      const form = z.object({ grant_type: z.string(), assertion: z.string() }).safeParse(body).data;
      if (form?.grant_type !== JWT_BEARER) {
        throw oauthError(400, 'unsupported_grant_type', `Invalid grant_type: expected ${JWT_BEARER}`);
      }
      const claims = verifiedClaims(signIn, form.assertion);
      refuseWrongTimes(claims, signIn.simulation.clock() / 1_000);
      const scopes = requestedScopes(claims);
      const subject = claims.sub === undefined || claims.sub === claims.iss ? undefined : claims.sub;
      if (subject !== undefined) refuseUndelegated(signIn, subject, scopes);
      const access_token = signIn.tokens.issue({
        kind: subject === undefined ? 'serviceAccount' : 'user',
        subject: subject ?? SERVICE_ACCOUNT.email,
        scopes,
      });
      const expires_in = signIn.simulation.settings().accessTokenLifetimeSeconds;
      return { access_token, expires_in, scope: scopes.join(' '), token_type: 'Bearer' };
    },
  });

function verifiedClaims({ keys }: SignIn, assertion: string): Claims {
  const known = keys.ofServiceAccount();
  try {
    const claims = verifyJwt(assertion, (id) =>
      known.filter((key) => id === undefined || key.id === id).map(({ publicKey }) => publicKey),
    );
    if (claims.iss !== SERVICE_ACCOUNT.email) {
      throw oauthError(400, 'invalid_grant', 'Invalid grant: account not found');
    }
    if (!isTokenEndpoint(claims.aud))
      throw oauthError(400, 'invalid_grant', 'Invalid JWT: Failed audience check.');
    return claims;
  } catch (error) {
    if (error instanceof JwtError) throw oauthError(400, 'invalid_grant', error.message);
    throw error;
  }
}

/** Returns whether the audience is the public address of the token endpoint, or its address in this simulator. */
const isTokenEndpoint = (audience: Claims['aud']) =>
  typeof audience === 'string' &&
  /^https:\/\/(oauth2|www)\.googleapis\.com\/(token|oauth2\/v4\/token)$|^http:\/\/(127\.0\.0\.1|localhost)(:\d+)?\/token$/.test(
    audience,
  );

function refuseWrongTimes({ iat, exp }: Claims, nowSeconds: number): void {
  const isFitting =
    iat !== undefined &&
    exp !== undefined &&
    exp - iat <= LONGEST_VALIDITY_SECONDS &&
    iat <= nowSeconds + SKEW_SECONDS &&
    exp > nowSeconds;
  if (isFitting) return;
  const expected =
    'Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe.';
  throw oauthError(400, 'invalid_grant', `${expected} Check your iat and exp values in the JWT claim.`);
}

function requestedScopes({ scope }: Claims): readonly string[] {
  const scopes = (scope ?? '').split(' ').filter((one) => one !== '');
  const isKnown = (one: string) =>
    /^https:\/\/(www\.googleapis\.com\/auth|apps-apis\.google\.com)\/./.test(one);
  if (scopes.length > 0 && scopes.every(isKnown)) return scopes;
  throw oauthError(400, 'invalid_scope', 'Invalid OAuth scope or ID token audience provided.');
}

function refuseUndelegated(signIn: SignIn, subject: string, scopes: readonly string[]): void {
  const { simulation, delegatedScopes } = signIn;
  if (!scopes.every((scope) => delegatedScopes.includes(scope))) {
    const reason = 'Client is unauthorized to retrieve access tokens using this method,';
    const detail = `${reason} or client not authorized for any of the scopes requested.`;
    throw oauthError(401, 'unauthorized_client', detail);
  }
  const user = simulation.directory().viewAt(simulation.clock()).user(subject);
  if (user === undefined) throw oauthError(400, 'invalid_grant', 'Invalid email or User ID');
  if (user.suspended || user.archived) throw oauthError(400, 'invalid_grant', 'Account has been suspended.');
}
