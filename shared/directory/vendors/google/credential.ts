import { importPKCS8, SignJWT } from 'jose';
import type * as z from 'zod';
import { jsonValue } from '../../../contract/json.ts';
import { DirectoryError } from '../../ports.ts';
import { type AccessTokens, type Issued, keepAccessToken, Token } from '../access-tokens.ts';
import { type DirectoryRequest, type DirectoryWorld, exchange } from '../exchange.ts';
import { bodyOf } from '../signed-calls.ts';
import { signInRefusal } from './refusal.ts';
import { type ServiceAccountKey, SignedJwt } from './schemas.ts';

/** The claims of a service account that requests an access token (RFC 7523). Times are seconds since 1970. */
export interface AssertionClaims {
  readonly iss: string;
  readonly sub: string;
  readonly aud: string;
  readonly scope: string;
  readonly iat: number;
  readonly exp: number;
}

/** A service account that groupsync uses with its key, or through a workload identity pool. */
export interface GoogleCredential {
  readonly account: string;
  sign(claims: AssertionClaims): Promise<string>;
}

export const keyCredential = (key: ServiceAccountKey): GoogleCredential => ({
  account: key.client_email,
  async sign(claims) {
    const signer = await importPKCS8(key.private_key, 'RS256').catch(() => {
      throw new DirectoryError('denied', 'key: expected a private key in PKCS #8 form in the key file');
    });
    const header = { alg: 'RS256', typ: 'JWT', kid: key.private_key_id };
    return new SignJWT({ ...claims }).setProtectedHeader(header).sign(signer);
  },
});

interface FederationOptions {
  /** Full name of the provider in the workload identity pool: `//iam.googleapis.com/projects/…`. */
  readonly provider: string;
  readonly serviceAccount: string;
  /** Base URLs of Security Token Service and of IAM Credentials. */
  readonly stsUrl: string;
  readonly iamUrl: string;
}

/** The calls of a sign-in without a stored secret. The command `doctor` tests each call separately. */
export interface Federation extends GoogleCredential {
  /** Returns a token of AWS for the role of this process. */
  webIdentity(): Promise<string>;
  /** @returns a federated access token of Google Cloud */
  exchangeToken(webIdentity: string): Promise<string>;
  signWith(federated: string, claims: AssertionClaims): Promise<string>;
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
/** One of the two scopes that allow the method signJwt of IAM Credentials. The other is the scope of the IAM API. */
const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';

/**
 * Returns the credential of a service account whose key never leaves Google. No secret is stored:
 *
 *     role of the function ──AWS STS──▶ web identity token ──Google STS──▶ federated token ──signJwt──▶ assertion
 */
export function federatedCredential(options: FederationOptions, world: DirectoryWorld): Federation {
  const { provider, serviceAccount, stsUrl, iamUrl } = options;
  const federation: Omit<Federation, 'account' | 'sign'> = {
    // A provider accepts this audience by default ("Configure workload identity federation").
    webIdentity: () => world.webIdentity(`https:${provider}`),

    async exchangeToken(webIdentity) {
      // RFC 8693, section 2.1, defines the names of these fields.
      const form = {
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        audience: provider,
        scope: SCOPE,
        requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
        subject_token: webIdentity,
      };
      const body = new URLSearchParams(form).toString();
      const request = { operation: 'token exchange', url: `${stsUrl}/v1/token`, headers: FORM, body };
      return (await askToSignIn(request, Token, world)).token;
    },

    async signWith(federated, claims) {
      const account = encodeURIComponent(serviceAccount);
      const request = {
        operation: 'signJwt',
        url: `${iamUrl}/v1/projects/-/serviceAccounts/${account}:signJwt`,
        headers: { authorization: `Bearer ${federated}`, 'content-type': 'application/json' },
        body: JSON.stringify({ payload: JSON.stringify(claims) }),
      };
      return (await askToSignIn(request, SignedJwt, world)).signedJwt;
    },
  };
  return {
    ...federation,
    account: serviceAccount,
    sign: async (claims) =>
      federation.signWith(await federation.exchangeToken(await federation.webIdentity()), claims),
  };
}

/**
 * Sends one request of the sign-in.
 * @throws DirectoryError `denied` if the credential is refused (RFC 6749, section 5.2). 408, 429, 5xx and a 403 for a
 * used-up quota are `busy` or `unavailable`
 */
async function askToSignIn<Body extends z.ZodType>(
  request: Omit<DirectoryRequest, 'method'>,
  schema: Body,
  world: DirectoryWorld,
): Promise<z.infer<Body>> {
  const { operation } = request;
  const answer = await exchange({ ...request, method: 'POST' }, world);
  if (answer.status === 200) return bodyOf({ operation, body: schema }, answer);
  throw signInRefusal(operation, answer.status, jsonValue(answer.text));
}

export interface SignInOptions {
  readonly credential: GoogleCredential;
  /** Address of the administrator in whose name the service account reads (domain-wide delegation). */
  readonly administrator: string;
  readonly tokenUrl: string;
  readonly scopes: readonly string[];
}

const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
/** The longest lifetime that Google accepts ("Using OAuth 2.0 for server to server applications"). */
const ASSERTION_SECONDS = 3_600;

/**
 * Signs in as a service account (RFC 7523) at `tokenUrl`. The address of the token endpoint in the key file is ignored.
 */
export const createAccessTokens = (options: SignInOptions, world: DirectoryWorld): AccessTokens =>
  keepAccessToken(async () => {
    const assertion = await options.credential.sign(claimsOf(options, world.clock()));
    return requestToken(options.tokenUrl, assertion, world);
  }, world.clock);

export function claimsOf(
  { credential, administrator, tokenUrl, scopes }: SignInOptions,
  nowMs: number,
): AssertionClaims {
  const iat = Math.floor(nowMs / 1_000);
  return {
    iss: credential.account,
    sub: administrator,
    aud: tokenUrl,
    scope: scopes.join(' '),
    iat,
    exp: iat + ASSERTION_SECONDS,
  };
}

const requestToken = (tokenUrl: string, assertion: string, world: DirectoryWorld): Promise<Issued> =>
  askToSignIn(
    {
      url: tokenUrl,
      operation: 'token',
      headers: FORM,
      body: new URLSearchParams({ grant_type: GRANT_TYPE, assertion }).toString(),
    },
    Token,
    world,
  );
