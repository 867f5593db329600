import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import * as z from 'zod';
import { type DialectControl, DirectoryError, endpoint } from '../engine/dialect.ts';
import { type Claims, JwtError, signJwt, verifyJwt } from '../engine/jwt.ts';
import { ISSUER, ROLE_ARN, webIdentityRequest, webIdentityToken } from '../engine/web-identity.ts';
import { oauthError } from './errors.ts';
import { SIGN_SCOPES } from './scopes.ts';
import { SERVICE_ACCOUNT, type SignIn } from './sign-in.ts';

/** The full name of the provider in the workload identity pool. */
export const PROVIDER =
  '//iam.googleapis.com/projects/104276000001/locations/global/workloadIdentityPools/groupsync/providers/aws';

const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
const SUBJECT_TYPES = ['urn:ietf:params:oauth:token-type:jwt', 'urn:ietf:params:oauth:token-type:id_token'];
/**
 * The longest lifetime of a payload: "No more than 12 hours in the future" (projects.serviceAccounts.signJwt, payload).
 */
const LONGEST_PAYLOAD_SECONDS = 12 * 3_600;

/** The request of a token exchange. A JSON body has names in camel case, and a form has the names of RFC 8693. */
const Exchange = z.preprocess(
  (body) => {
    const entries = Object.entries(typeof body === 'object' && body !== null ? body : {});
    return Object.fromEntries(
      entries.map(([name, value]) => [
        name.replaceAll(/_([a-z])/g, (_, initial) => initial.toUpperCase()),
        value,
      ]),
    );
  },
  z.object({
    grantType: z.literal(TOKEN_EXCHANGE),
    audience: z.string(),
    scope: z.string().min(1),
    requestedTokenType: z.literal(ACCESS_TOKEN),
    subjectToken: z.string(),
    subjectTokenType: z.enum(SUBJECT_TYPES),
  }),
);

/**
 * The issuer that the pool's provider trusts, and the identities that have the right to sign for the service account.
 */
export interface Federation {
  issuer: string;
  /**
   * The public keys of an issuer outside the simulator. If the list is empty, the simulated AWS account is the issuer.
   */
  issuerKeys: readonly KeyObject[];
  allowedSubjects: readonly string[];
}

export const createFederation = (): Federation => ({
  issuer: ISSUER,
  issuerKeys: [],
  allowedSubjects: [ROLE_ARN],
});

/**
 * Returns the method `token` of Google's Security Token Service. It exchanges a token of another cloud for a federated
 * access token.
 */
export const exchangeEndpoint = (signIn: SignIn, federation: Federation) =>
  endpoint({
    method: 'POST',
    path: '/v1/token',
    operation: 'sts.token',
    handle({ body, headers }) {
      // Google documents: "Using the header can cause the request to fail" (method token).
      if (headers.authorization !== undefined) {
        throw oauthError(400, 'invalid_request', 'expected no Authorization header');
      }
      const request = Exchange.safeParse(body);
      if (!request.success) throw oauthError(400, 'invalid_request', z.prettifyError(request.error));
      const { audience, scope, subjectToken } = request.data;
      if (audience !== PROVIDER) throw oauthError(400, 'invalid_target', `unknown provider: ${audience}`);
      const subject = subjectOf(signIn, federation, subjectToken);
      const access_token = signIn.tokens.issue({ kind: 'federated', subject, scopes: scope.split(' ') });
      const expires_in = signIn.simulation.settings().accessTokenLifetimeSeconds;
      return { access_token, issued_token_type: ACCESS_TOKEN, token_type: 'Bearer', expires_in };
    },
  });

function subjectOf(signIn: SignIn, federation: Federation, token: string): string {
  const { keys, simulation } = signIn;
  const own = keys.ofWebIdentity().map(({ publicKey }) => publicKey);
  try {
    const known = federation.issuerKeys.length > 0 ? federation.issuerKeys : own;
    const claims = verifyJwt(token, () => known);
    const fault = faultOfClaims(claims, federation, simulation.clock() / 1_000);
    if (fault !== undefined) throw oauthError(400, 'invalid_grant', fault);
    return claims.sub ?? '';
  } catch (error) {
    if (error instanceof JwtError) throw oauthError(400, 'invalid_grant', error.message);
    throw error;
  }
}

function faultOfClaims(claims: Claims, { issuer }: Federation, nowSeconds: number): string | undefined {
  if (claims.iss !== issuer) return `The issuer in ID Token ${claims.iss} does not match the expected one.`;
  const audiences = [claims.aud ?? []].flat();
  const isForUs = audiences.some((audience) => audience === PROVIDER || audience === `https:${PROVIDER}`);
  if (!isForUs)
    return `The audience in ID Token ${audiences.join(', ')} does not match the expected audience.`;
  if (claims.sub === undefined || claims.sub === '') return 'The subject in ID Token is missing.';
  if (claims.exp === undefined || claims.exp <= nowSeconds) return 'ID Token is stale to sign-in.';
  return undefined;
}

const SignRequest = z.object({ payload: z.string(), delegates: z.array(z.string()).optional() });

/**
 * Returns the method projects.serviceAccounts.signJwt of IAM Credentials. It signs with the key that Google keeps for
 * the account.
 */
export const signJwtEndpoint = (signIn: SignIn) =>
  endpoint({
    method: 'POST',
    path: '/v1/projects/:project/serviceAccounts/:name',
    operation: 'iamcredentials.projects.serviceAccounts.signJwt',
    scopes: SIGN_SCOPES,
    params: z.object({ project: z.string(), name: z.string() }),
    handle({ params: { project, name }, body }) {
      const [account, method] = name.split(':', 2);
      if (method !== 'signJwt') throw iamError(404, 'NOT_FOUND', 'the simulator does not have this method');
      if (project !== '-')
        throw iamError(400, 'INVALID_ARGUMENT', 'expected a name that begins with projects/-');
      if (account !== SERVICE_ACCOUNT.email && account !== SERVICE_ACCOUNT.clientId) throw permissionDenied();
      const request = SignRequest.safeParse(body);
      const claims = request.success ? claimsOf(request.data.payload) : undefined;
      if (claims === undefined) throw iamError(400, 'INVALID_ARGUMENT', 'payload: expected a JSON object');
      refuseLongValidity(claims, signIn.simulation.clock() / 1_000);
      const key = signIn.keys.managed();
      return { keyId: key.id, signedJwt: signJwt(key, claims) };
    },
  });

function claimsOf(payload: string): Record<string, unknown> | undefined {
  try {
    return z.record(z.string(), z.unknown()).safeParse(JSON.parse(payload)).data;
  } catch {
    return undefined;
  }
}

function refuseLongValidity({ exp }: Record<string, unknown>, nowSeconds: number): void {
  if (exp === undefined) return;
  const isFitting =
    Number.isInteger(exp) && Number(exp) > nowSeconds && Number(exp) <= nowSeconds + LONGEST_PAYLOAD_SECONDS;
  if (!isFitting) throw iamError(400, 'INVALID_ARGUMENT', 'exp must be within the next 12 hours');
}

const iamError = (code: number, status: string, message: string) =>
  new DirectoryError(code, { error: { code, message, status } });

export const permissionDenied = () =>
  iamError(
    403,
    'PERMISSION_DENIED',
    "Permission 'iam.serviceAccounts.signJwt' denied on resource (or it may not exist).",
  );

const WebIdentity = webIdentityRequest({ audience: `https:${PROVIDER}`, algorithm: 'ES384' });

const Trust = z.strictObject({
  issuer: z.string().optional(),
  keys: z.array(z.record(z.string(), z.unknown())).optional().describe('Public keys as JSON Web Keys.'),
  allowedSubjects: z.array(z.string()).optional(),
});

/** Returns the controls that issue tokens of AWS STS and change the identities that the pool trusts. */
export const federationControls = (signIn: SignIn, federation: Federation): readonly DialectControl[] => [
  {
    name: 'web-identity',
    body: WebIdentity,
    handle(body) {
      const issuing = { issuer: federation.issuer, nowMs: signIn.simulation.clock() };
      return { token: webIdentityToken(signIn.keys, { ...WebIdentity.parse(body), ...issuing }) };
    },
  },
  {
    name: 'federation',
    body: Trust,
    handle(body) {
      const { issuer, keys, allowedSubjects } = Trust.parse(body);
      federation.issuer = issuer ?? federation.issuer;
      federation.allowedSubjects = allowedSubjects ?? federation.allowedSubjects;
      if (keys !== undefined) {
        federation.issuerKeys = keys.map((key) => createPublicKey({ key: key as JsonWebKey, format: 'jwk' }));
      }
      return { issuer: federation.issuer, provider: PROVIDER, allowedSubjects: federation.allowedSubjects };
    },
  },
];
