import { FIELD_NAMES, formOf, type WrittenFields } from './group-fields.ts';
import type { View } from './view.ts';

type Content = WrittenFields & { readonly users: Iterable<string> };

/** Returns a 52-bit hash, not secure against deliberate collisions. `node:crypto` is forbidden here. */
function hashOf(text: string): number {
  let [high, low] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    high = Math.imul(high ^ unit, 2654435761);
    low = Math.imul(low ^ unit, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return 4294967296 * (1048575 & low) + (high >>> 0);
}

/** Returns the sum of the hashes of all distinct users. The order and the repetition of users do not change the sum. */
function usersDigest(users: Iterable<string>): string {
  const distinct = new Set(users);
  let sum = 0;
  for (const user of distinct) sum = (sum + hashOf(user)) % 2 ** 52;
  return `${distinct.size}.${sum.toString(36)}`;
}

const NOT_SHOWN = '-';

/** Returns a digest of the content of a platform group. The time is linear in the number of users. */
export function contentDigest({ users, ...fields }: Content): string {
  const shown = FIELD_NAMES.map((field) => {
    const value = fields[field];
    return value == null ? NOT_SHOWN : hashOf(formOf(field, value)).toString(36);
  });
  return [usersDigest(users), ...shown].join(' ');
}

export const viewDigest = ({ users, ...view }: View): string =>
  contentDigest({ ...view, users: users.keys() });

/** Whether two digests describe the same content. A field without a value in one of the digests is not compared. */
export function isSameContent(one: string, other: string): boolean {
  const [first, second] = [one.split(' '), other.split(' ')];
  const isSame = (part: string, at: number) =>
    part === second[at] || part === NOT_SHOWN || second[at] === NOT_SHOWN;
  return first.length === second.length && first.every(isSame);
}
