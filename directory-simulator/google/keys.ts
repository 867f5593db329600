import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import type { Algorithm, SigningKey } from './jwt.ts';

/** The signing keys. Creating an RSA key takes time, so each key is created at first use. */
export interface Keys {
  /** Returns the key whose private key a customer downloads. */
  readonly customer: () => SigningKey;
  /** Returns the key with which Google signs for the service account. */
  readonly managed: () => SigningKey;
  /** Returns the keys above, without the managed key if it has signed nothing. */
  readonly ofServiceAccount: () => readonly SigningKey[];
  /** Returns a key of the simulated AWS account that issues web identity tokens. */
  readonly webIdentity: (algorithm: Algorithm) => SigningKey;
  /** Returns the keys of the simulated AWS account that have signed. */
  readonly ofWebIdentity: () => readonly SigningKey[];
}

/** Private RSA keys as PEM. A missing key is created. */
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
    webIdentity: (algorithm) => once(algorithm, () => makeKey(algorithm)),
    ofWebIdentity: () => (['RS256', 'ES384'] as const).flatMap((algorithm) => made.get(algorithm) ?? []),
  };
}

function makeKey(algorithm: Algorithm): SigningKey {
  const { privateKey } =
    algorithm === 'RS256'
      ? generateKeyPairSync('rsa', { modulusLength: 2_048 })
      : generateKeyPairSync('ec', { namedCurve: 'P-384' });
  return keyOf(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), algorithm);
}

function keyOf(pem: string, algorithm: Algorithm): SigningKey {
  const publicKey = createPublicKey(pem);
  const id = createHash('sha1')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('hex');
  return { id, algorithm, privateKey: createPrivateKey(pem), publicKey };
}
