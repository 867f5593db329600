import { type KeyObject, sign, verify } from 'node:crypto';
import * as z from 'zod';

export type Algorithm = 'RS256' | 'ES384';

const Header = z.looseObject({ alg: z.enum(['RS256', 'ES384']), kid: z.string().optional() });
const Claims = z.looseObject({
  iss: z.string().optional(),
  sub: z.string().optional(),
  aud: z.union([z.string(), z.array(z.string())]).optional(),
  exp: z.number().optional(),
  iat: z.number().optional(),
  scope: z.string().optional(),
});
export type Claims = z.infer<typeof Claims>;

/** Reports a token that is not a JWT, or has an invalid signature. */
export class JwtError extends Error {
  override readonly name = 'JwtError';
}

export interface SigningKey {
  readonly id: string;
  readonly algorithm: Algorithm;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

const HASHES = { RS256: 'sha256', ES384: 'sha384' } as const;
/** JWS concatenates the two numbers of an ECDSA signature (RFC 7518, section 3.4). */
const FORM = { dsaEncoding: 'ieee-p1363' } as const;

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const decode = (text: string): unknown => JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));

export function signJwt(key: SigningKey, claims: unknown): string {
  const content = `${encode({ alg: key.algorithm, kid: key.id, typ: 'JWT' })}.${encode(claims)}`;
  const signature = sign(HASHES[key.algorithm], Buffer.from(content), { key: key.privateKey, ...FORM });
  return `${content}.${signature.toString('base64url')}`;
}

/**
 * Returns the claims of a token that one of the keys has signed. The caller must check times and audience.
 * @throws {JwtError} for any other text
 */
export function verifyJwt(
  token: string,
  keysFor: (keyId: string | undefined) => readonly KeyObject[],
): Claims {
  const [header = '', payload = '', signature = '', ...rest] = token.split('.');
  if (signature === '' || rest.length > 0) throw new JwtError('expected three parts with dots between them');
  const { alg, kid } = parsed(Header, header);
  const content = Buffer.from(`${header}.${payload}`);
  const signed = Buffer.from(signature, 'base64url');
  const isSigned = keysFor(kid).some((key) => verifies(alg, content, key, signed));
  if (!isSigned) throw new JwtError('Invalid JWT Signature.');
  return parsed(Claims, payload);
}

function verifies(alg: Algorithm, content: Buffer, key: KeyObject, signature: Buffer): boolean {
  const isFitting = key.asymmetricKeyType === (alg === 'RS256' ? 'rsa' : 'ec');
  return isFitting && verify(HASHES[alg], content, { key, ...FORM }, signature);
}

function parsed<T extends z.ZodType>(schema: T, part: string): z.infer<T> {
  try {
    return schema.parse(decode(part));
  } catch (cause) {
    throw new JwtError('a part of the token is not the JSON that was expected', { cause });
  }
}
