import { importJWK, type JWK, SignJWT } from 'jose';
import { DirectoryError } from '../../sync/ports/directory.ts';
import type { DirectoryWorld } from '../exchange.ts';
import type { PrivateJwk } from './schemas.ts';

/** The claims of an application that requests an access token (RFC 7523). Times are seconds since 1970. */
export interface Claims {
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
