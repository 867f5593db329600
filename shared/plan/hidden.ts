import type { PlatformUserId } from '../domain/ids.ts';
import type { View } from '../domain/view.ts';
import { type DraftInput, draftPlan } from './draft.ts';
import type { Facts, Wanted } from './facts.ts';
import type { Plan } from './plan.ts';

/*
 * If a successful answer lacks a user that was sent, the user may be in the group: the answer may show the state from
 * before the write. Every later write of the group sends the user again. If the group needs no other change, groupsync
 * sends a separate write for such users after 1, 2, 4, 8 and 16 hours, and then once a day:
 *
 *     POST [a b] ──▶ 200 [a] ──▶ GET [a] ──▶ b pending ──▶ a quarter of an hour later: GET ──▶ an hour later: PATCH [a b]
 */

/** Returns the wanted users who may be in the group although no read showed them. */
export const hiddenWanted = ({ views, wanted }: Pick<Facts, 'views' | 'wanted'>): readonly PlatformUserId[] =>
  [...(views?.base?.hidden?.keys() ?? [])].filter((user) => wanted?.group?.users.has(user));

/** Returns the users that the answer to a recent write lacked, and for which no write of their own is due. */
function hiddenLately({ membersByUser }: Wanted, current: View | undefined): ReadonlySet<PlatformUserId> {
  const users = new Set<PlatformUserId>();
  for (const [user, some] of membersByUser) {
    const isLate = some.length > 0 && some.every(({ hidden }) => hidden === 'lately');
    if (isLate && current?.users.has(user) !== true) users.add(user);
  }
  return users;
}

/**
 * Returns the plan. Users that the answer to a recent write lacked are sent with other changes, but no write is made
 * only for these users.
 */
export function draftWithHidden(input: DraftInput, wanted: Wanted): Plan {
  const plan = draftPlan(input);
  const lately = hiddenLately(wanted, input.current);
  if (lately.size === 0 || input.current === undefined) return plan;
  const others = draftPlan({ ...input, isolated: new Set([...(input.isolated ?? []), ...lately]) });
  return others.action === 'none' ? others : plan;
}
