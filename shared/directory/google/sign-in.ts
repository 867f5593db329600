import { importPKCS8, SignJWT } from 'jose';
import { parseJson } from '../../contract/json.ts';
import { DirectoryError } from '../../sync/ports/directory.ts';
import { type DirectoryWorld, exchange } from '../exchange.ts';
import { refusal } from './refusal.ts';
import { type ServiceAccountKey, Token } from './schemas.ts';

export interface AccessTokens {
  current(): Promise<string>;
  /** Forgets the token that the API refused, so that the next call gets another one. */
  refused(token: string): void;
}

export interface SignInOptions {
  readonly key: ServiceAccountKey;
  /** Address of an administrator, in whose name the service account reads (domain-wide delegation). */
  readonly administrator: string;
  readonly tokenUrl: string;
  readonly scopes: readonly string[];
}

const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
/** The longest life that Google admits ("Using OAuth 2.0 for server to server applications"). */
const ASSERTION_SECONDS = 3_600;
/** A token is renewed so long before its end. */
const EARLY_MS = 300_000;

/** Signs in with the key of a service account (RFC 7523). The address in the key file is not used. */
export function createAccessTokens(options: SignInOptions, world: DirectoryWorld): AccessTokens {
  let held: { readonly token: string; readonly untilMs: number } | undefined;
  let pending: Promise<string> | undefined;
  const renew = async (): Promise<string> => {
    const startedMs = world.clock();
    const { access_token: token, expires_in } = await requestToken(options, world);
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

async function requestToken(options: SignInOptions, world: DirectoryWorld): Promise<Token> {
  const assertion = await assertionOf(options, world.clock());
  const answer = await exchange(
    {
      method: 'POST',
      url: options.tokenUrl,
      operation: 'token',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ grant_type: GRANT_TYPE, assertion }).toString(),
    },
    world,
  );
  const json = parseJson(answer.text);
  const value = json.ok ? json.value : undefined;
  if (answer.status === 200) {
    const token = Token.safeParse(value);
    if (token.success) return token.data;
    throw new DirectoryError('odd', 'token: expected access_token and expires_in');
  }
  const error = refusal('token', answer.status, value);
  // The token endpoint refuses a credential with 400 or 401 (RFC 6749, section 5.2).
  throw error.kind === 'odd' ? new DirectoryError('denied', error.message) : error;
}

async function assertionOf(options: SignInOptions, nowMs: number): Promise<string> {
  const { key, administrator, tokenUrl, scopes } = options;
  const nowSeconds = Math.floor(nowMs / 1_000);
  const signer = await importPKCS8(key.private_key, 'RS256').catch(() => {
    throw new DirectoryError('denied', 'token: expected a private key in PKCS #8 form in the key file');
  });
  return new SignJWT({ scope: scopes.join(' ') })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: key.private_key_id })
    .setIssuer(key.client_email)
    .setSubject(administrator)
    .setAudience(tokenUrl)
    .setIssuedAt(nowSeconds)
    .setExpirationTime(nowSeconds + ASSERTION_SECONDS)
    .sign(signer);
}
