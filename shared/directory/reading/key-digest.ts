import { createHash } from 'node:crypto';

/** Hashes the key of a user or group. A key can be an address, and addresses are stored only with the person. */
export const keyDigest = (key: string): string =>
  createHash('sha256').update(key).digest('base64url').slice(0, 16);

/** Hashes a set of members, whatever their order. */
export const contentDigest = (members: Iterable<string>): string =>
  keyDigest(JSON.stringify([...members].toSorted()));

/** Hashes the id or address of a member without regard to case, which may differ between reports and lists. */
export const memberDigest = (idOrAddress: string): string => keyDigest(idOrAddress.toLowerCase());
