import { policyFor } from '../contract/group-policy.ts';
import { GROUP_FIELDS } from '../domain/group-fields.ts';
import type { View } from '../domain/view.ts';
import type { Decision } from './decision.ts';
import type { Facts } from './facts.ts';
import { fieldMatches } from './names.ts';
import type { Plan } from './plan.ts';

/** The number of tries to clear the external id. After these tries, the group is released in any case. */
const MAX_TRIES = 3;

const RELEASE: Decision = { kind: 'release', reason: 'a person released this group' };

/**
 * Decides how a group is released. groupsync first clears the external id that it had set. Otherwise two platform
 * groups would have this id if the directory group adopted another platform group later. If the external id cannot be
 * cleared, the group is still released:
 *
 *   the platform group                           | decision
 *   ---------------------------------------------|------------------------------
 *   was written or fetched in this attempt       | release; the id was cleared or refused, or the group is gone
 *   is only observed or excluded by the settings | release
 *   does not carry the group's external id       | release
 *   had three failed attempts                    | release
 *   otherwise                                    | PATCH without an external id
 */
export function decideRelease(facts: Facts): Decision {
  const { state, settings, fetched, rejected, views, wanted } = facts;
  const { mode, excluded } = policyFor(settings, state.ref.group, state.registers.name?.value);
  const isAnswered = fetched !== undefined || rejected !== undefined;
  if (isAnswered || excluded || mode === 'report' || state.attempts >= MAX_TRIES) return RELEASE;
  if (wanted === undefined || views === undefined) return { kind: 'read', what: ['wanted', 'views'] };
  const { base } = views;
  if (base === undefined || base.spokeId === null || !fieldMatches(base, 'spokeId', state.ref.group))
    return RELEASE;
  return {
    kind: 'write',
    plan: withoutSpokeId(base, base.spokeId),
    held: new Set(),
    consumes: undefined,
    isReserved: false,
    known: [],
  };
}

const withoutSpokeId = (base: View, spokeId: string): Plan => ({
  action: 'patch',
  changes: [
    {
      kind: GROUP_FIELDS.spokeId.change,
      before: spokeId,
      after: null,
      reason: 'a person released this group',
    },
  ],
  after: { ...base, spokeId: null },
  removals: [],
  departs: false,
});
