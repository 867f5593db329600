import { createHash } from 'node:crypto';
import { exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose';
import { once } from '../../../domain/once.ts';
import { DirectoryError } from '../../ports.ts';
import { type Issued, keepAccessToken } from '../access-tokens.ts';
import { type DirectoryAnswer, type DirectoryWorld, exchange, headersOf } from '../exchange.ts';
import { bodyOf } from '../signed-calls.ts';
import type { NewId } from './ids.ts';
import type { RateLimits } from './rate-limits.ts';
import { tokenReasonOf, tokenRefusal } from './refusal.ts';
import { type PrivateJwk, Token } from './schemas.ts';

interface AccessToken {
  readonly text: string;
  readonly isBound: boolean;
}

export type SignIn = ReturnType<typeof createSignIn>;

interface SignInOptions {
  /** The base URL of the organisation, without a slash at the end. */
  readonly orgUrl: string;
  readonly clientId: string;
  readonly signer: Signer;
  readonly scopes: readonly string[];
  readonly newId: NewId;
}

/** The lifetime of an assertion. A request uses its assertion within seconds. Okta accepts at most an hour. */
const ASSERTION_SECONDS = 300;
/** A sign-in can need three requests: the first request, one with a proof, and one with a nonce. */
const MAX_REQUESTS = 3;
const JWT_BEARER = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/**
 * Signs in as an application, with a signed assertion (RFC 7523). An organisation can require tokens that are bound to
 * a key (RFC 9449). The first request has no proof. If Okta asks for a proof, all later requests contain a proof:
 *
 *     request ──400 invalid_dpop_proof──▶ with proof ──400 use_dpop_nonce──▶ with nonce ──▶ bound token
 */
export function createSignIn(options: SignInOptions, world: DirectoryWorld, limits: RateLimits) {
  const key = createProofKey(options.newId);
  let needsProof = false;
  let nonce: string | undefined;

  const keepNonce = (answer: DirectoryAnswer) => {
    const [given] = headersOf(answer, 'dpop-nonce');
    nonce = given ?? nonce;
    return given !== undefined;
  };
  /** Returns whether the request should be repeated, because Okta asks for a proof or for a nonce. */
  const asksForProof = (answer: DirectoryAnswer): boolean => {
    const hasNonce = keepNonce(answer);
    const reason = answer.status === 400 ? tokenReasonOf(answer) : undefined;
    const isRepeated =
      reason === 'use_dpop_nonce' ? hasNonce : reason === 'invalid_dpop_proof' && !needsProof;
    needsProof ||= isRepeated;
    return isRepeated;
  };
  const tokens = keepAccessToken(async () => {
    for (let request = 1; ; request += 1) {
      const proof = needsProof ? { key, nonce } : undefined;
      const answer = await limits.run('token', () => requestToken(options, world, proof));
      const isRepeated = asksForProof(answer);
      if (!isRepeated || request === MAX_REQUESTS) return tokenIn(answer, options.scopes);
    }
  }, world.clock);
  return {
    ...tokens,
    /** Stores the nonce of an answer for the next proofs. Returns false if the answer has no nonce. */
    keepNonce,
    proofFor: (url: string, { text: token }: AccessToken) =>
      key.proofOf({ method: 'GET', url, nowMs: world.clock(), nonce, token }),
  };
}

const tokenUrlOf = (orgUrl: string): string => `${orgUrl}/oauth2/v1/token`;

export function claimsOf(
  { orgUrl, clientId, newId }: Pick<SignInOptions, 'orgUrl' | 'clientId' | 'newId'>,
  nowMs: number,
): Claims {
  const iat = Math.floor(nowMs / 1_000);
  return {
    iss: clientId,
    sub: clientId,
    aud: tokenUrlOf(orgUrl),
    jti: newId(),
    iat,
    exp: iat + ASSERTION_SECONDS,
  };
}

interface Proof {
  readonly key: ProofKey;
  readonly nonce: string | undefined;
}

/** Requests a token. Each request has a new assertion, because Okta accepts each assertion once. */
async function requestToken(options: SignInOptions, world: DirectoryWorld, proof: Proof | undefined) {
  const nowMs = world.clock();
  const url = tokenUrlOf(options.orgUrl);
  const form = {
    grant_type: 'client_credentials',
    scope: options.scopes.join(' '),
    client_assertion_type: JWT_BEARER,
    client_assertion: await options.signer.sign(claimsOf(options, nowMs)),
  };
  const dpop = await proof?.key.proofOf({ method: 'POST', url, nowMs, nonce: proof.nonce });
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    ...(dpop !== undefined && { dpop }),
  };
  const body = new URLSearchParams(form).toString();
  return exchange({ method: 'POST', url, operation: 'token', headers, body }, world);
}

/** @throws DirectoryError `denied` if the application or a scope is refused; another kind for an unusable answer */
function tokenIn(answer: DirectoryAnswer, scopes: readonly string[]): Issued<AccessToken> {
  if (answer.status !== 200) throw tokenRefusal('token', answer);
  const data = bodyOf({ operation: 'token', body: Token }, answer);
  const granted = data.scope?.split(' ');
  const missing = granted === undefined ? [] : scopes.filter((scope) => !granted.includes(scope));
  if (missing.length > 0) {
    const message = `token: expected the scopes ${scopes.join(' ')}, got no ${missing.join(' ')}`;
    throw new DirectoryError('denied', message, { reason: 'missing_scope' });
  }
  const isBound = data.token_type.toLowerCase() === 'dpop';
  return { token: { text: data.access_token, isBound }, seconds: data.expires_in };
}

/** A key of this process that proves the possession of access tokens (RFC 9449). */
interface ProofKey {
  proofOf(request: ProvenRequest): Promise<string>;
}

interface ProvenRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
  /** The latest nonce of the server. */
  readonly nonce: string | undefined;
  /** The access token of an API call; undefined for a token request. */
  readonly token?: string;
}

const ALGORITHM = 'ES256';

/** Returns a key that is created at the first proof, because an organisation may require no proof. */
function createProofKey(newId: NewId): ProofKey {
  const pair = once(async () => {
    const { privateKey, publicKey } = await generateKeyPair(ALGORITHM);
    return { privateKey, jwk: await exportJWK(publicKey) };
  });
  return {
    async proofOf({ method, url, nowMs, nonce, token }) {
      const { privateKey, jwk } = await pair();
      const { origin, pathname } = new URL(url);
      const claims = {
        jti: newId(),
        htm: method,
        htu: `${origin}${pathname}`,
        iat: Math.floor(nowMs / 1_000),
        ...(nonce !== undefined && { nonce }),
        ...(token !== undefined && { ath: createHash('sha256').update(token).digest('base64url') }),
      };
      return new SignJWT(claims)
        .setProtectedHeader({ alg: ALGORITHM, typ: 'dpop+jwt', jwk })
        .sign(privateKey);
    },
  };
}

/** The claims of an application that requests an access token (RFC 7523). Times are seconds since 1970. */
interface Claims {
  readonly iss: string;
  readonly sub: string;
  readonly aud: string;
  readonly jti: string;
  readonly iat: number;
  readonly exp: number;
}

export interface Signer {
  sign(claims: Claims): Promise<string>;
}

/** The algorithm by curve (RFC 7518, section 3.4), for a key without `alg`. A key without a curve is an RSA key. */
const ALGORITHM_OF_CURVE: Readonly<Record<string, string>> = {
  'P-256': 'ES256',
  'P-384': 'ES384',
  'P-521': 'ES512',
};

export const keySigner = (jwk: PrivateJwk): Signer => ({
  async sign(claims) {
    const alg = jwk.alg ?? ALGORITHM_OF_CURVE[jwk.crv ?? ''] ?? 'RS256';
    try {
      const key = await importJWK(jwk as JWK, alg);
      return await new SignJWT({ ...claims }).setProtectedHeader({ alg, kid: jwk.kid }).sign(key);
    } catch {
      // The error has no `cause`, because the text of the cause can quote the key.
      throw new DirectoryError('denied', 'key: expected a private RSA or EC key as JWK');
    }
  },
});

/**
 * Returns a signer with a key that never leaves KMS. The public key must have the id of the KMS key as its `kid` in
 * Okta.
 * @param keyArn the ARN of an RSA key that signs and verifies
 */
export const kmsSigner = (keyArn: string, { kmsSign }: Pick<DirectoryWorld, 'kmsSign'>): Signer => ({
  async sign(claims) {
    if (kmsSign === undefined) {
      throw new DirectoryError('denied', 'signature: only the deployed function can sign with a key in KMS');
    }
    const header = { alg: 'RS256', kid: keyIdOf(keyArn) };
    const input = [header, claims].map((part) => encode(JSON.stringify(part))).join('.');
    return `${input}.${encode(await kmsSign(keyArn, Buffer.from(input)))}`;
  },
});

const encode = (bytes: string | Uint8Array): string => Buffer.from(bytes as string).toString('base64url');

/** Returns the id of a key: the last part of `arn:aws:kms:REGION:ACCOUNT:key/ID`. */
export const keyIdOf = (keyArn: string): string => keyArn.split('/').at(-1) ?? '';
