import { type KeyObject, sign, verify } from 'node:crypto';
import * as z from 'zod';

const HASHES = {
  RS256: 'sha256',
  RS384: 'sha384',
  RS512: 'sha512',
  ES256: 'sha256',
  ES384: 'sha384',
  ES512: 'sha512',
} as const;
export type Algorithm = keyof typeof HASHES;
export const ALGORITHMS = Object.keys(HASHES) as Algorithm[];
/** In JWS, an ECDSA signature is the concatenation of its two numbers (RFC 7518, section 3.4). */
const FORM = { dsaEncoding: 'ieee-p1363' } as const;
/** The curve of each algorithm, by Node's name. */
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
const text = z.string().optional();
const Claims = z.looseObject({
  iss: text,
  sub: text,
  aud: z.union([z.string(), z.array(z.string())]).optional(),
  exp: z.number().optional(),
  iat: z.number().optional(),
  scope: text,
  jti: text,
  htm: text,
  htu: text,
  ath: text,
  nonce: text,
});
export type Claims = z.infer<typeof Claims>;

/** The error for a token that is not a JWT or has an invalid signature. */
export class JwtError extends Error {
  override readonly name = 'JwtError';
}

export interface SigningKey {
  readonly id: string;
  readonly algorithm: Algorithm;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

export function signJwt(
  { id, algorithm, privateKey }: Omit<SigningKey, 'publicKey'>,
  claims: unknown,
  typ = 'JWT',
): string {
  const content = `${encode({ alg: algorithm, kid: id, typ })}.${encode(claims)}`;
  const signature = sign(HASHES[algorithm], Buffer.from(content), { key: privateKey, ...FORM });
  return `${content}.${signature.toString('base64url')}`;
}

interface ParsedJwt {
  readonly header: z.infer<typeof Header>;
  readonly claims: Claims;
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

/** The algorithms that AWS STS, Google and Microsoft use. */
const ACCEPTED_ALGORITHMS: readonly Algorithm[] = ['RS256', 'ES384'];

/**
 * Returns the claims of a token that one of `keys` has signed. The caller must check times and audience.
 * @throws {JwtError} for any other token
 */
export function verifyJwt(
  token: string,
  keysFor: (keyId: string | undefined) => readonly KeyObject[],
): Claims {
  const parsed = parseJwt(token);
  if (parsed === undefined || !ACCEPTED_ALGORITHMS.includes(parsed.header.alg)) {
    throw new JwtError(
      `expected a JWT with three parts and the algorithm ${ACCEPTED_ALGORITHMS.join(' or ')}`,
    );
  }
  if (!keysFor(parsed.header.kid).some(parsed.isSignedBy)) throw new JwtError('Invalid JWT Signature.');
  return parsed.claims;
}
