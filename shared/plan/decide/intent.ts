import type { Intent } from '../../domain/group-state.ts';
import type { ObservedGroup, View } from '../../domain/view.ts';
import { type Decision, type Drop, READ_GROUP } from '../decision.ts';
import { emptiedFields, shows, viewOf } from '../external-change.ts';
import type { Facts, Views } from '../facts.ts';
import { decideDeletion, LISTING_AGE_MS } from '../gone.ts';
import { decideIncompleteList } from '../incomplete-list.ts';
import { foldName, renamedTo } from '../names.ts';
import { decideExternal, decideMissingUsers, decideUnreadable, waitForProof } from './drift.ts';
import { MAX_SEARCHES, notShownYet } from './missing.ts';

/** The platform may add one user to a new group. If more users were added, another client added them. */
const ADDED_BY_PLATFORM = 1;

/**
 * Decides how an open intent ends. The function compares the platform group with the intended result of the intent, not
 * with the current desired state.
 *
 *     the platform shows            | create                 | patch, put            | delete
 *     ------------------------------|------------------------|-----------------------|----------------------
 *     the version from before       | –                      | drop                  | see `decideDeletion`
 *     the result of the intent      | observe                | observe               | –
 *     possibly an outdated state    | wait                   | wait; drop if refused | see `decideDeletion`
 *     any other content             | observe                | observe               | see `decideDeletion`
 *     nothing (404, not listed)     | wait, then drop        | drop                  | see `decideDeletion`
 *     nothing, in an untrusted list | `decideIncompleteList` | –                     | –
 */
export function decideIntent(facts: Facts, intent: Intent): Decision {
  const { fetched, rejected } = facts;
  if (fetched === undefined) return READ_GROUP;
  const dropped: Drop = {
    kind: 'drop',
    intent,
    // The guard's record stays, because the request may still take effect after the fetch. The next write uses the same
    // record, because only one of two writes from the same version can succeed.
    owed: rejected === undefined ? intent.reserved : rejected.owed,
  };
  if (intent.action === 'delete') return decideDeletion(facts, intent, dropped);
  if (intent.action === 'create' && fetched === 'gone') return decideMissingCreation(facts, dropped);
  if (fetched === 'gone' || (intent.action !== 'create' && fetched.version === intent.versionBefore))
    return dropped;
  return decideOutcome(facts, fetched, dropped);
}

function decideMissingCreation(facts: Facts, dropped: Drop): Decision {
  const { intent } = dropped;
  const { tries = 0 } = intent;
  if (facts.isCounted !== true) return { kind: 'note', what: { ...intent, tries: tries + 1 } };
  const isGivenUp = tries >= MAX_SEARCHES && facts.nowMs - intent.atMs >= facts.createSettleMs;
  return isGivenUp ? (decideIncompleteList(facts, intent) ?? dropped) : notShownYet(facts);
}

function decideOutcome(facts: Facts, observed: ObservedGroup, dropped: Drop): Decision {
  const { views } = facts;
  const { intent } = dropped;
  if (views === undefined) return { kind: 'read', what: ['views'] };
  const { base } = views;
  const prepared = asMade(views.prepared, observed, intent, base);
  if (prepared !== undefined && shows(observed, prepared)) {
    const emptied = emptiedFields(observed, [prepared], facts.listed, [LISTING_AGE_MS]);
    if ('kind' in emptied) return emptied;
    if (emptied.size === 0)
      return { kind: 'observe', intent, observed, view: viewOf(observed, base, prepared) };
  }
  return facts.rejected === undefined
    ? decideOther(facts, observed, { views, prepared })
    : decideOtherAfterRefusal(facts, observed, { views, dropped });
}

/** Decides about a group whose new version differs from the intended result. */
function decideOther(
  facts: Facts,
  observed: ObservedGroup,
  { views, prepared }: { readonly views: Views; readonly prepared: View | undefined },
): Decision {
  const unproven = waitForProof(facts, observed);
  if (unproven !== undefined) return unproven;
  if (views.isUnreadable) return decideUnreadable(facts, observed);
  const knownViews = [views.base, prepared];
  return decideMissingUsers(facts, observed, knownViews) ?? decideExternal(facts, observed, knownViews);
}

/**
 * Decides after the platform refused the write. The refused write had no effect. So if the group shows the same
 * additions, another client made them.
 */
function decideOtherAfterRefusal(
  facts: Facts,
  observed: ObservedGroup,
  { views, dropped }: { readonly views: Views; readonly dropped: Drop },
): Decision {
  if (waitForProof(facts, observed) !== undefined) return dropped;
  return views.isUnreadable
    ? decideUnreadable(facts, observed)
    : decideExternal(facts, observed, [views.base]);
}

/**
 * Returns the view that the write produces, with the name in the platform's form. After a creation, the view may
 * contain one user that the platform added.
 */
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
