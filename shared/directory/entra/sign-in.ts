import { parseJson } from '../../contract/json.ts';
import { DirectoryError } from '../../sync/ports/directory.ts';
import { type AccessTokens, keepAccessToken, Token } from '../access-tokens.ts';
import { type DirectoryWorld, exchange } from '../exchange.ts';
import { tokenRefusal } from './refusal.ts';

/** How the application authenticates: with a client secret, or with the AWS role of this process. */
export type Credential =
  | { readonly kind: 'secret'; readonly clientSecret: string }
  | { readonly kind: 'federation'; readonly audience: string };

interface SignInOptions {
  /** The id or a domain of the tenant. */
  readonly tenant: string;
  readonly clientId: string;
  readonly credential: Credential;
  /** Base URL of the token endpoints. */
  readonly loginUrl: string;
  readonly scope: string;
}

const JWT_BEARER = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

/**
 * Signs in as an application ("Microsoft identity platform and the OAuth 2.0 client credentials flow"). With a
 * federated credential no secret is stored:
 *
 *     role of the function ──AWS STS──▶ web identity token ──as client assertion──▶ access token
 */
export const createAccessTokens = (options: SignInOptions, world: DirectoryWorld): AccessTokens =>
  keepAccessToken(
    async () => requestToken(options, await proofOf(options.credential, world), world),
    world.clock,
  );

type Proof = Readonly<Record<string, string>>;

/** Returns the credential fields of the token request: the client secret, or a client assertion. */
async function proofOf(credential: Credential, world: DirectoryWorld): Promise<Proof> {
  if (credential.kind === 'secret') return { client_secret: credential.clientSecret };
  const assertion = await world.webIdentity(credential.audience);
  return { client_assertion_type: JWT_BEARER, client_assertion: assertion };
}

/** @throws DirectoryError `denied` if the credential is refused */
async function requestToken(
  { tenant, clientId, loginUrl, scope }: SignInOptions,
  proof: Proof,
  world: DirectoryWorld,
): Promise<Token> {
  const operation = 'token';
  const url = `${loginUrl}/${encodeURIComponent(tenant)}/oauth2/v2.0/token`;
  const form = { grant_type: 'client_credentials', client_id: clientId, scope, ...proof };
  const body = new URLSearchParams(form).toString();
  const answer = await exchange({ method: 'POST', operation, url, headers: FORM, body }, world);
  const json = parseJson(answer.text);
  const value = json.ok ? json.value : undefined;
  if (answer.status !== 200) throw tokenRefusal(operation, answer, value, world.clock());
  const parsed = Token.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new DirectoryError('odd', `${operation}: expected access_token and expires_in`);
}
