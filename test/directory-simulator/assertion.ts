import { createSign } from 'node:crypto';
import { SERVICE_ACCOUNT } from '../../directory-simulator/google/sign-in.ts';
import { CUSTOMER_KEY } from './keys.ts';

export const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Returns a signed assertion of the service account. `claims` overrides default claims. */
export function serviceAccountAssertion(
  nowMs: number,
  claims: Record<string, unknown>,
  key: string = CUSTOMER_KEY,
): string {
  const iat = Math.floor(nowMs / 1_000);
  const usual = {
    iss: SERVICE_ACCOUNT.email,
    aud: 'https://oauth2.googleapis.com/token',
    iat,
    exp: iat + 3_600,
  };
  const content = `${encode({ alg: 'RS256', typ: 'JWT' })}.${encode({ ...usual, ...claims })}`;
  return `${content}.${createSign('RSA-SHA256').update(content).sign(key, 'base64url')}`;
}
