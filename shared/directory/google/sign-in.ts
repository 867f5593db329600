import type { DirectoryWorld } from '../exchange.ts';
import { askToSignIn, type Claims, type Credential } from './credential.ts';
import { Token } from './schemas.ts';

export interface AccessTokens {
  current(): Promise<string>;
  /** Forgets a token that the API refused, so that the next call requests a new token. */
  refused(token: string): void;
}

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
/** A token is renewed this time before its end. */
const EARLY_MS = 300_000;

/**
 * Signs in as a service account (RFC 7523). The sign-in uses `tokenUrl`, and ignores the address of the token endpoint
 * in the key file.
 */
export function createAccessTokens(options: SignInOptions, world: DirectoryWorld): AccessTokens {
  let held: { readonly token: string; readonly untilMs: number } | undefined;
  let pending: Promise<string> | undefined;
  const renew = async (): Promise<string> => {
    const startedMs = world.clock();
    const assertion = await options.credential.sign(claimsOf(options, startedMs));
    const { access_token: token, expires_in } = await requestToken(options.tokenUrl, assertion, world);
    held = { token, untilMs: startedMs + expires_in * 1_000 - EARLY_MS };
    return token;
  };
  return {
    async current() {
      if (held !== undefined && world.clock() < held.untilMs) return held.token;
      pending ??= renew().finally(() => {
        pending = undefined;
      });
      return pending;
    },
    refused(token) {
      if (held?.token === token) held = undefined;
    },
  };
}

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
