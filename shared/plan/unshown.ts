import type { PlatformUserId } from '../domain/ids.ts';
import type { View } from '../domain/view.ts';
import { type DraftInput, draftPlan } from './draft.ts';
import type { Facts, Wanted } from './facts.ts';
import type { Plan } from './plan.ts';

/*
 * A successful answer that lacks a user proves nothing, because it may be older than its own write. So the user stays
 * wanted and is sent with every write of the group. Such users alone cause a write after one hour, then after 2, 4, 8
 * and 16 hours, then once a day:
 *
 *     POST [a b] ──▶ 200 [a] ──▶ GET [a] ──▶ b pending ──▶ a quarter of an hour later: GET ──▶ an hour later: PATCH [a b]
 */

/** Returns the wanted users who may be in the group although no read showed them. */
export const hiddenWanted = ({ views, wanted }: Pick<Facts, 'views' | 'wanted'>): readonly PlatformUserId[] =>
  [...(views?.base?.unshown?.keys() ?? [])].filter((user) => wanted?.group?.users.has(user));

/** Returns the users that the last write did not show, and for which no separate write is due. */
function unshownLately({ membersByUser }: Wanted, current: View | undefined): ReadonlySet<PlatformUserId> {
  const users = new Set<PlatformUserId>();
  for (const [user, some] of membersByUser) {
    const isLate = some.length > 0 && some.every(({ unshown }) => unshown === 'lately');
    if (isLate && current?.users.has(user) !== true) users.add(user);
  }
  return users;
}

/**
 * Drafts the plan. Users that a write lately did not show cause no write alone. These users are sent with any other
 * change.
 */
export function draftRested(input: DraftInput, wanted: Wanted): Plan {
  const plan = draftPlan(input);
  const lately = unshownLately(wanted, input.current);
  if (lately.size === 0 || input.current === undefined) return plan;
  const others = draftPlan({ ...input, excluded: new Set([...(input.excluded ?? []), ...lately]) });
  return others.action === 'none' ? others : plan;
}
