import { createHash } from 'node:crypto';
import { exportJWK, type GenerateKeyPairResult, generateKeyPair, type JWK, SignJWT } from 'jose';
import type { NewId } from './ids.ts';

/** A key of this process that proves the possession of access tokens (RFC 9449). */
export interface ProofKey {
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
export function createProofKey(newId: NewId): ProofKey {
  let pair:
    | Promise<{ readonly privateKey: GenerateKeyPairResult['privateKey']; readonly jwk: JWK }>
    | undefined;
  const create = async () => {
    const { privateKey, publicKey } = await generateKeyPair(ALGORITHM);
    return { privateKey, jwk: await exportJWK(publicKey) };
  };
  return {
    async proofOf({ method, url, nowMs, nonce, token }) {
      pair ??= create();
      const { privateKey, jwk } = await pair;
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
