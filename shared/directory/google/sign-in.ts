import { type AccessTokens, keepAccessToken, Token } from '../access-tokens.ts';
import type { DirectoryWorld } from '../exchange.ts';
import { askToSignIn, type Claims, type Credential } from './credential.ts';

export interface SignInOptions {
  readonly credential: Credential;
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
): Claims {
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

const requestToken = (tokenUrl: string, assertion: string, world: DirectoryWorld): Promise<Token> =>
  askToSignIn(
    {
      url: tokenUrl,
      operation: 'token',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ grant_type: GRANT_TYPE, assertion }).toString(),
    },
    Token,
    world,
  );
