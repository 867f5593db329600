import type { SigningKey } from '../engine/jwt.ts';
import { createWebIdentityKeys, keyOf, makeKey, type WebIdentityKeys } from '../engine/web-identity.ts';

/** The signing keys. Creating an RSA key is slow, so each key is created at its first use. */
export interface Keys extends WebIdentityKeys {
  /** Returns the key that a customer downloads. */
  readonly customer: () => SigningKey;
  /** Returns the key with which Google signs for the service account. */
  readonly managed: () => SigningKey;
  /** Returns the customer key, and the managed key if it has signed a token. */
  readonly ofServiceAccount: () => readonly SigningKey[];
}

/** Private RSA keys as PEM. The simulator creates missing keys. */
export interface GivenKeys {
  /** The private key that clients already have. */
  readonly customerKey?: string | undefined;
  readonly managedKey?: string | undefined;
}

export function createKeys({ customerKey, managedKey }: GivenKeys): Keys {
  const made = new Map<string, SigningKey>();
  const once = (name: string, make: () => SigningKey) => {
    const key = made.get(name) ?? make();
    made.set(name, key);
    return key;
  };
  const rsa = (pem: string | undefined) => (pem === undefined ? makeKey('RS256') : keyOf(pem, 'RS256'));
  const customer = () => once('customer', () => rsa(customerKey));
  return {
    customer,
    managed: () => once('managed', () => rsa(managedKey)),
    ofServiceAccount: () => [customer(), made.get('managed') ?? []].flat(),
    ...createWebIdentityKeys(),
  };
}
