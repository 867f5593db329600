import type { Intent } from '../../domain/group-state.ts';
import type { ObservedGroup, View } from '../../domain/view.ts';
import { decideDeletion, LISTING_AGE_MS } from '../absence.ts';
import { type Decision, READ_GROUP } from '../decision.ts';
import type { Facts } from '../facts.ts';
import { isSpokeIdLost, shows, viewOf } from '../foreign.ts';
import { foldName, renamedTo } from '../names.ts';
import { decideUnlisted } from '../unlisted.ts';
import { decideForeign, decideLacking, decideUnreadable, waitForProof } from './drift.ts';
import { CREATE_MISSES, notShownYet } from './missing.ts';

/** Number of users that the platform may add to a new group: its installer. More users were added by another client. */
const ADDED_BY_PLATFORM = 1;

/**
 * Settles an open intent by its own name, spokeId and users, whatever the directory wants by now.
 *
 *     the platform shows            | create              | patch, put | delete
 *     ------------------------------|---------------------|------------|----------------------
 *     the version from before       | –                   | drop       | see `decideDeletion`
 *     what the intent would make    | observe             | observe    | –
 *     perhaps what was earlier      | –                   | wait; drop what was refused | see `decideDeletion`
 *     something else                | –                   | observe    | see `decideDeletion`
 *     nothing (404, not listed)     | drop after 3 misses | drop       | see `decideDeletion`
 *     … and other groups not listed | wait                | –          | –
 */
export function decideIntent(facts: Facts, intent: Intent): Decision {
  const { look, rejected } = facts;
  if (look === undefined) return READ_GROUP;
  const dropped: Extract<Decision, { kind: 'drop' }> = {
    kind: 'drop',
    intent,
    // The guard's record stays: that a look did not find the write says nothing of a request that is still on its way.
    // No more than one of two writes from the same version can succeed, so the next one takes the record over.
    owed: rejected === undefined ? intent.reserved : rejected.owed,
  };
  if (intent.action === 'create') {
    if (look !== 'gone') return decideOutcome(facts, look, dropped);
    const misses = (intent.misses ?? 0) + 1;
    const isGivenUp = misses >= CREATE_MISSES && facts.nowMs - intent.atMs >= facts.createSettleMs;
    const noting = { ...intent, misses };
    return isGivenUp ? (decideUnlisted(facts, noting) ?? dropped) : { ...notShownYet(facts), noting };
  }
  if (intent.action === 'delete') return decideDeletion(facts, intent, dropped);
  if (look === 'gone' || look.version === intent.versionBefore) return dropped;
  return decideOutcome(facts, look, dropped);
}

function decideOutcome(
  facts: Facts,
  observed: ObservedGroup,
  dropped: Extract<Decision, { kind: 'drop' }>,
): Decision {
  const { views, rejected } = facts;
  const { intent } = dropped;
  if (views === undefined) return { kind: 'read', what: ['views'] };
  const { base } = views;
  const prepared = asMade(views.prepared, observed, intent, base);
  if (prepared !== undefined && shows(observed, prepared)) {
    const isLost = isSpokeIdLost(observed, [prepared], facts.listed, [LISTING_AGE_MS]);
    if (typeof isLost !== 'boolean') return isLost;
    if (!isLost) return { kind: 'observe', intent, observed, view: viewOf(observed, base, prepared) };
  }
  const unproven = waitForProof(facts, observed);
  if (unproven !== undefined) return rejected === undefined ? unproven : dropped;
  if (views.isUnreadable) return decideUnreadable(facts, observed);
  // What a refused write would have added is nobody's but theirs, where it is there all the same.
  const ours = rejected === undefined ? [base, prepared] : [base];
  const lacking = rejected === undefined ? decideLacking(facts, observed, ours) : undefined;
  return lacking ?? decideForeign(facts, observed, ours);
}

/** What the write would have made, with the form of the name that the platform stores and the user that it adds. */
function asMade(
  prepared: View | undefined,
  observed: ObservedGroup,
  { action }: Intent,
  base: View | undefined,
): View | undefined {
  if (prepared === undefined) return undefined;
  const made = asNamed(prepared, observed, base);
  const added = observed.users.filter((user) => !prepared.users.has(user));
  if (action !== 'create' || added.length > ADDED_BY_PLATFORM) return made;
  return { ...made, users: new Map([...viewOf(observed, prepared).users, ...prepared.users]) };
}

function asNamed(made: View, observed: ObservedGroup, before: View | undefined): View {
  const isNameSent = before?.name !== made.name && foldName(made.name) === foldName(observed.name);
  return isNameSent ? renamedTo(made, observed) : made;
}
