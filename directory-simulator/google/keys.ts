import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import type { Algorithm, SigningKey } from './jwt.ts';

/** The keys that sign. Making an RSA key takes a moment, so each is made when it is first needed. */
export interface Keys {
  /** The key whose private half a customer downloads. */
  readonly customer: () => SigningKey;
  /** The key with which Google signs for the service account. */
  readonly managed: () => SigningKey;
  /** The keys above, without the managed one if nothing was signed with it. */
  readonly ofServiceAccount: () => readonly SigningKey[];
  /** The keys of the simulated AWS account that issues web identity tokens. */
  readonly webIdentity: (algorithm: Algorithm) => SigningKey;
  /** Those of the keys above that have signed. */
  readonly ofWebIdentity: () => readonly SigningKey[];
}

/** Private RSA keys as PEM; one that is left out is made. */
export interface GivenKeys {
  /** What clients have already. */
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
