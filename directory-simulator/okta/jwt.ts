import { createHash, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import * as z from 'zod';

/** "Okta supports RS256, RS384, RS512, ES256, ES384 and ES512" for client assertions and DPoP proofs. */
const HASHES = {
  RS256: 'sha256',
  RS384: 'sha384',
  RS512: 'sha512',
  ES256: 'sha256',
  ES384: 'sha384',
  ES512: 'sha512',
} as const;
export const ALGORITHMS = Object.keys(HASHES) as (keyof typeof HASHES)[];
/** JWS concatenates the two numbers of an ECDSA signature (RFC 7518, section 3.4). */
const FORM = { dsaEncoding: 'ieee-p1363' } as const;
/** The curve of an algorithm, in the name that Node uses. */
const CURVES: Readonly<Record<string, string>> = {
  ES256: 'prime256v1',
  ES384: 'secp384r1',
  ES512: 'secp521r1',
};

export const Jwk = z.looseObject({
  kty: z.enum(['RSA', 'EC']),
  kid: z.string().optional(),
  d: z.string().optional(),
  n: z.string().optional(),
  e: z.string().optional(),
  crv: z.string().optional(),
  x: z.string().optional(),
  y: z.string().optional(),
});
export type Jwk = z.infer<typeof Jwk>;

const Header = z.looseObject({
  alg: z.enum(ALGORITHMS),
  typ: z.string().optional(),
  kid: z.string().optional(),
  jwk: Jwk.optional(),
});
const Claims = z.looseObject({
  iss: z.string().optional(),
  sub: z.string().optional(),
  aud: z.union([z.string(), z.array(z.string())]).optional(),
  exp: z.number().optional(),
  iat: z.number().optional(),
  jti: z.string().optional(),
  htm: z.string().optional(),
  htu: z.string().optional(),
  ath: z.string().optional(),
  nonce: z.string().optional(),
});

export interface ParsedJwt {
  readonly header: z.infer<typeof Header>;
  readonly claims: z.infer<typeof Claims>;
  isSignedBy(key: KeyObject): boolean;
}

/** Returns the parts of a signed token without any check; undefined if the text is not such a token. */
export function parseJwt(token: string): ParsedJwt | undefined {
  const [head = '', payload = '', signature = '', ...rest] = token.split('.');
  const header = Header.safeParse(decoded(head)).data;
  const claims = Claims.safeParse(decoded(payload)).data;
  if (header === undefined || claims === undefined || signature === '' || rest.length > 0) return undefined;
  const content = Buffer.from(`${head}.${payload}`);
  return {
    header,
    claims,
    isSignedBy: (key) => {
      const { alg } = header;
      const isFitting = alg.startsWith('RS')
        ? key.asymmetricKeyType === 'rsa'
        : key.asymmetricKeyDetails?.namedCurve === CURVES[alg];
      return isFitting && verify(HASHES[alg], content, { key, ...FORM }, Buffer.from(signature, 'base64url'));
    },
  };
}

function decoded(part: string): unknown {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Returns an access token in the form of a JWT. Only its text counts, so its signature needs no public key. */
export function signAccessToken(key: KeyObject, claims: unknown): string {
  const content = `${encode({ alg: 'RS256', kid: 'simulated', typ: 'application/okta-internal-at+jwt' })}.${encode(claims)}`;
  return `${content}.${sign('sha256', Buffer.from(content), key).toString('base64url')}`;
}

/** Returns the key; undefined for a JWK that is no valid public key. */
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
