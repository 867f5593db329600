import { generateKeyPairSync } from 'node:crypto';

const rsaKey = () =>
  generateKeyPairSync('rsa', { modulusLength: 2_048 })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();

/** Two private keys. All tests of a process share them, because creating a key is slow. */
export const CUSTOMER_KEY = rsaKey();
export const MANAGED_KEY = rsaKey();
