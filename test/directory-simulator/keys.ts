import { generateKeyPairSync } from 'node:crypto';

const rsaKey = () =>
  generateKeyPairSync('rsa', { modulusLength: 2_048 })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();

/** One pair of keys for all tests of a process, because creating a key is slow. */
export const CUSTOMER_KEY = rsaKey();
export const MANAGED_KEY = rsaKey();
