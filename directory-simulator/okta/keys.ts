import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import type { Jwk } from '../engine/jwt.ts';

/** Returns the public key of a JWK; undefined if the JWK is invalid. */
export function publicKeyOf(jwk: Jwk): KeyObject | undefined {
  try {
    return createPublicKey({ key: jwk as never, format: 'jwk' });
  } catch {
    return undefined;
  }
}

/** Returns the thumbprint of a public key (RFC 7638). */
export function thumbprintOf({ kty, crv, e, n, x, y }: Jwk): string {
  const members = kty === 'RSA' ? { e, kty, n } : { crv, kty, x, y };
  return createHash('sha256').update(JSON.stringify(members)).digest('base64url');
}
