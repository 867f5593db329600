import type { PlatformUserId } from '../domain/ids.ts';
import type { View } from '../domain/view.ts';
import { type DraftInput, draftPlan } from './draft.ts';
import type { Facts, Wanted } from './facts.ts';
import type { Plan } from './plan.ts';

/*
 * A successful answer that lacks a user proves nothing, because it may be older than its own write. So the user stays
 * wanted and is sent with every write of the group. Such users alone cause a write an hour later, then after two hours,
 * four, eight and sixteen, then once a day:
 *
 *     POST [a b] ──▶ 200 [a] ──▶ GET [a] ──▶ b pending ──▶ a quarter of an hour later: GET ──▶ an hour later: PATCH [a b]
 */

/** Wanted users who may be in the group although no read showed them. */
export const hiddenWanted = ({ views, wanted }: Pick<Facts, 'views' | 'wanted'>): readonly PlatformUserId[] =>
  [...(views?.base?.unshown?.keys() ?? [])].filter((user) => wanted?.group?.users.has(user));

/** Users that the last write did not show, and that no write by themselves is due for. */
function unshownLately({ membersByUser }: Wanted, current: View | undefined): ReadonlySet<PlatformUserId> {
  const users = new Set<PlatformUserId>();
  for (const [user, some] of membersByUser) {
    const isLate = some.length > 0 && some.every(({ unshown }) => unshown === 'lately');
    if (isLate && current?.users.has(user) !== true) users.add(user);
  }
  return users;
}

/** Such users alone cause no write; they are sent with any other change. */
export function draftRested(input: DraftInput, wanted: Wanted): Plan {
  const plan = draftPlan(input);
  const lately = unshownLately(wanted, input.current);
  if (lately.size === 0 || input.current === undefined) return plan;
  const others = draftPlan({ ...input, excluded: new Set([...(input.excluded ?? []), ...lately]) });
  return others.action === 'none' ? others : plan;
}
