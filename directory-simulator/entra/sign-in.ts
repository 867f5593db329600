import * as z from 'zod';
import { type Endpoint, endpoint } from '../engine/dialect.ts';
import { type Claims, JwtError, verifyJwt } from '../engine/jwt.ts';
import { type Application, CLIENT_ID, GRAPH_HOSTS, issueToken } from './application.ts';
import { tokenError } from './errors.ts';

const JWT_BEARER = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const SUFFIX = '/.default';
const SCOPES: readonly string[] = Object.values(GRAPH_HOSTS).map((host) => `${host}${SUFFIX}`);

const TokenRequest = z.object({
  grant_type: z.string().optional(),
  client_id: z.string().optional(),
  scope: z.string().optional(),
  client_secret: z.string().optional(),
  client_assertion_type: z.string().optional(),
  client_assertion: z.string().optional(),
});
type TokenRequest = z.infer<typeof TokenRequest>;

/** Returns the token endpoint ("Microsoft identity platform and the OAuth 2.0 client credentials flow"). */
export const tokenEndpoint = (application: Application): Endpoint =>
  endpoint({
    method: 'POST',
    path: '/:tenant/oauth2/v2.0/token',
    operation: 'oauth2.v2.0.token',
    params: z.object({ tenant: z.string() }),
    handle({ params: { tenant }, body }) {
      refuseOtherTenants(application, tenant);
      const request = TokenRequest.safeParse(body).data ?? {};
      refuseIncomplete(request);
      refuseOtherClouds(application, request);
      if (request.client_id !== CLIENT_ID) throw unknownApplication(request.client_id ?? '');
      if (request.client_assertion === undefined) checkSecret(application, request.client_secret);
      else checkAssertion(application, request.client_assertion);
      const { accessTokenLifetimeSeconds } = application.simulation.settings();
      const expires_in = Math.max(1, accessTokenLifetimeSeconds - 1);
      return {
        token_type: 'Bearer',
        expires_in,
        ext_expires_in: expires_in,
        access_token: issueToken(application),
      };
    },
  });

function refuseOtherTenants({ simulation }: Application, tenant: string): void {
  const { customerId, domain } = simulation.directory();
  if (tenant === customerId || tenant === domain) return;
  throw tokenError({
    status: 400,
    error: 'invalid_request',
    code: 90_002,
    description: `Tenant '${tenant}' not found. Check to make sure you have the correct tenant ID.`,
  });
}

/** The application of Microsoft Graph exists in each cloud, but only with the address of this cloud. */
function refuseOtherClouds({ cloud, simulation }: Application, { scope = '' }: TokenRequest): void {
  if (scope === `${GRAPH_HOSTS[cloud]}${SUFFIX}`) return;
  const resource = scope.slice(0, -SUFFIX.length);
  throw tokenError({
    status: 400,
    error: 'invalid_resource',
    code: 500_011,
    description: `The resource principal named ${resource} was not found in the tenant named ${simulation.directory().domain}.`,
  });
}

function refuseIncomplete(request: TokenRequest): void {
  const { grant_type, client_id, scope, client_secret, client_assertion, client_assertion_type } = request;
  if (grant_type === undefined) throw missing('grant_type');
  if (grant_type !== 'client_credentials') {
    throw tokenError({
      status: 400,
      error: 'unsupported_grant_type',
      code: 70_003,
      description: `The app requested an unsupported grant type '${grant_type}'.`,
    });
  }
  if (client_id === undefined) throw missing('client_id');
  if (scope === undefined) throw missing('scope');
  if (!SCOPES.includes(scope)) {
    throw tokenError({
      status: 400,
      error: 'invalid_scope',
      code: 1_002_012,
      description: `The provided value for scope ${scope} is not valid. Client credential flows must have a scope value with /.default suffixed to the resource identifier (application ID URI).`,
    });
  }
  if (client_secret === undefined && client_assertion === undefined) {
    throw tokenError({
      status: 401,
      error: 'invalid_client',
      code: 7_000_218,
      description:
        "The request body must contain the following parameter: 'client_assertion' or 'client_secret'.",
    });
  }
  if (client_assertion !== undefined && client_assertion_type !== JWT_BEARER) {
    throw missing('client_assertion_type');
  }
}

const missing = (name: string) =>
  tokenError({
    status: 400,
    error: 'invalid_request',
    code: 900_144,
    description: `The request body must contain the following parameter: '${name}'.`,
  });

const unknownApplication = (clientId: string) =>
  tokenError({
    status: 400,
    error: 'unauthorized_client',
    code: 700_016,
    description: `Application with identifier '${clientId}' was not found in the directory.`,
  });

const invalidClient = (code: number, description: string) =>
  tokenError({ status: 401, error: 'invalid_client', code, description });

function checkSecret({ clientSecret }: Application, given: string | undefined): void {
  if (given === clientSecret) return;
  throw invalidClient(7_000_215, 'Invalid client secret provided.');
}

function checkAssertion(application: Application, assertion: string): void {
  const { issuer, subject, audience } = application.federation;
  const claims = verifiedClaims(application, assertion);
  const { iss, sub, aud, exp, iat } = claims;
  const nowSeconds = application.simulation.clock() / 1_000;
  const noMatch = 'No matching federated identity record found for presented assertion';
  if (iss !== issuer) throw invalidClient(700_211, `${noMatch} issuer '${iss}'.`);
  if (sub !== subject) throw invalidClient(700_213, `${noMatch} subject '${sub}'.`);
  if (![aud].flat().includes(audience)) throw invalidClient(700_212, `${noMatch} audience '${aud}'.`);
  if (exp === undefined || exp <= nowSeconds || (iat ?? 0) > nowSeconds + 300) {
    throw invalidClient(700_024, 'Client assertion is not within its valid time range.');
  }
}

/**
 * Returns the claims of a signed assertion. Only RS256 is supported, because other algorithms "may work, but have not
 * been tested" ("Important considerations and restrictions for federated identity credentials").
 */
function verifiedClaims({ federation, keys }: Application, assertion: string): Claims {
  const own = keys.ofWebIdentity().map(({ publicKey }) => publicKey);
  const known = federation.issuerKeys.length > 0 ? federation.issuerKeys : own;
  try {
    return verifyJwt(assertion, () => known.filter(({ asymmetricKeyType }) => asymmetricKeyType === 'rsa'));
  } catch (error) {
    if (!(error instanceof JwtError)) throw error;
    throw invalidClient(700_027, `Client assertion failed signature validation: ${error.message}`);
  }
}
