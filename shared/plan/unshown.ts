import type { PlatformUserId } from '../domain/ids.ts';
import type { View } from '../domain/view.ts';
import type { Wanted } from './facts.ts';

/*
 * A successful answer that lacks a user proves nothing: it may be behind its own write. So the user stays wanted, and is
 * sent with every write of the group. No write is made for such users alone within an hour of the last one:
 *
 *     POST [a b] ──▶ 200 [a] ──▶ GET [a] ──▶ b pending ──▶ a quarter of an hour later: GET ──▶ an hour later: PATCH [a b]
 */

/** Users whom the last write did not show, less than an hour ago: by themselves they cause no write. */
export function unshownLately({ standing }: Wanted, current: View | undefined): ReadonlySet<PlatformUserId> {
  const users = new Set<PlatformUserId>();
  for (const [user, some] of standing) {
    const isLate = some.length > 0 && some.every(({ unshown }) => unshown === 'lately');
    if (isLate && current?.users.has(user) !== true) users.add(user);
  }
  return users;
}
