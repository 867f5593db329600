import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import * as z from 'zod';
import { type Algorithm, type SigningKey, signJwt } from './jwt.ts';

/** The issuer of the simulated AWS account's web identity tokens. Every real AWS account has an issuer of its own. */
export const ISSUER = 'https://00000000-0000-4000-8000-000000000001.tokens.sts.global.api.aws';
/** The role in the simulated AWS account. At the start, each simulated vendor trusts this role. */
export const ROLE_ARN = 'arn:aws:iam::111122223333:role/groupsync-directory';

/** The keys of the simulated AWS account. Creating an RSA key is slow, so each key is created at its first use. */
export interface WebIdentityKeys {
  readonly webIdentity: (algorithm: Algorithm) => SigningKey;
  /** Returns the keys that have signed a token. */
  readonly ofWebIdentity: () => readonly SigningKey[];
}

export function createWebIdentityKeys(): WebIdentityKeys {
  const made = new Map<Algorithm, SigningKey>();
  return {
    webIdentity(algorithm) {
      const key = made.get(algorithm) ?? makeKey(algorithm);
      made.set(algorithm, key);
      return key;
    },
    ofWebIdentity: () => (['RS256', 'ES384'] as const).flatMap((algorithm) => made.get(algorithm) ?? []),
  };
}

export function makeKey(algorithm: Algorithm): SigningKey {
  const { privateKey } =
    algorithm === 'RS256'
      ? generateKeyPairSync('rsa', { modulusLength: 2_048 })
      : generateKeyPairSync('ec', { namedCurve: 'P-384' });
  return keyOf(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), algorithm);
}

/** Returns the signing key of a PEM file. Its id is the digest of the public key. */
export function keyOf(pem: string, algorithm: Algorithm): SigningKey {
  const publicKey = createPublicKey(pem);
  const id = createHash('sha1')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('hex');
  return { id, algorithm, privateKey: createPrivateKey(pem), publicKey };
}

export const webIdentityRequest = (usual: {
  readonly audience: string;
  readonly algorithm: 'RS256' | 'ES384';
}) =>
  z.strictObject({
    subject: z.string().default(ROLE_ARN),
    audience: z.string().default(usual.audience),
    durationSeconds: z.int().min(60).max(3_600).default(300),
    algorithm: z.enum(['RS256', 'ES384']).default(usual.algorithm),
  });
type WebIdentityRequest = z.infer<ReturnType<typeof webIdentityRequest>>;

interface Issuing extends WebIdentityRequest {
  readonly issuer: string;
  readonly nowMs: number;
}

/** Returns a token in the form of AWS STS (`GetWebIdentityToken`). */
export function webIdentityToken(keys: WebIdentityKeys, issuing: Issuing): string {
  const { issuer, subject, audience, durationSeconds, algorithm, nowMs } = issuing;
  const iat = Math.floor(nowMs / 1_000);
  const claims = { iss: issuer, sub: subject, aud: audience, iat, exp: iat + durationSeconds };
  return signJwt(keys.webIdentity(algorithm), claims);
}
