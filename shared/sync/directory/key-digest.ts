import { createHash } from 'node:crypto';

/** Hashes the key of a user or group. A key can be a person's address, and addresses are stored only with the person. */
export const keyDigest = (key: string): string =>
  createHash('sha256').update(key).digest('base64url').slice(0, 16);

/** Hashes an id or an address as a membership names it. Reports and lists may write an address in different cases. */
export const memberDigest = (idOrAddress: string): string => keyDigest(idOrAddress.toLowerCase());
