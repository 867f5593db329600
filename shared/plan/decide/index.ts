import { READS_BEHIND_MS } from '../../domain/group-state.ts';
import { isWhole, type ObservedGroup } from '../../domain/view.ts';
import { type Decision, readList } from '../decision.ts';
import type { Facts, Rejected } from '../facts.ts';
import { foldName } from '../names.ts';
import { decideRelease } from '../release.ts';
import { treatmentOf } from '../treatment.ts';
import { decideRest } from './damping.ts';
import { clear, decideFetched, waitForProof } from './drift.ts';
import { endHold, settleUnheld } from './holds.ts';
import { decideIntent } from './intent.ts';
import { decideMissing } from './missing.ts';
import { NAME_IN_USE, ONCE_REFUSED, REFUSED } from './refusal.ts';
import { settle } from './settle.ts';
import { decideWanted } from './write.ts';

/**
 * Returns the next decision about a group. Only this function knows the policy. Apply carries out the decision and
 * calls the function again, until the decision is `settle`, `fail` or `wait`. `plan` and `explain` only print the
 * decision. The first matching line counts:
 *
 *     the group                                          | decision
 *     ---------------------------------------------------|------------------------------------------------
 *     has an open intent                                 | settle the intent; see `decideIntent`
 *     was released by an operator                        | see `decideRelease`, then settle excluded
 *     had an intent that the platform refused            | fail, a change the second time; gone, name taken: below
 *     is excluded by the settings                        | end a hold that waits, settle excluded
 *     was restored repeatedly within an hour             | wait for the rest of the hour; see `decideRest`
 *     has a suspected change                             | read the group, observe; see `decideFetched`
 *     otherwise                                          | see `decideWanted`
 */
export function decide(facts: Facts): Decision {
  const { state, rejected, fetched } = facts;
  if (state.intent !== undefined) return decideIntent(facts, state.intent);
  if (state.released) return decideReleased(facts);
  // The version of a group that answers 404 proves nothing. The group is not listed yet, or another client deleted it.
  if (rejected !== undefined)
    return fetched === 'gone' ? decideMissing(facts) : decideRejected(facts, rejected);
  const treatment = treatmentOf(facts);
  if (treatment.excluded) return decideExcluded(facts);
  const rest = decideRest(facts);
  if (rest !== undefined) return rest;
  if (state.suspectedChange !== undefined) return decideFetched(facts) ?? clear(facts);
  return decideWanted(facts, treatment);
}

const decideReleased = (facts: Facts): Decision =>
  facts.state.link === undefined ? settleUnheld(facts, 'excluded') : decideRelease(facts);

/**
 * Settles a group that the settings exclude. A waiting hold ends, so that no operator must decide. A decided hold
 * stays, in case the group is included again.
 */
const decideExcluded = ({ state }: Facts): Decision =>
  state.hold?.decision.kind === 'waiting' ? endHold('hold') : settle('excluded');

/**
 * Decides after a refusal. If names are unique, a group waits until another group gives up its name. Its other changes
 * are written.
 */
function decideRejected(facts: Facts, { name }: Rejected): Decision {
  const { state, listed, fetched } = facts;
  // This fetch cannot prove yet whether the refusal was a conflict.
  const unproven = fetched === undefined || fetched === 'gone' ? undefined : waitForProof(facts, fetched);
  if (unproven !== undefined) return unproven;
  if (name === undefined) return failing(facts);
  if (listed === undefined || listed.ageMs > 0) return readList(0);
  if (!listed.groups.some((one) => one.id !== state.link?.id && isWhole(one) && isSameName(one, name)))
    return failing(facts);
  return state.link === undefined ? NAME_IN_USE : decideWanted(facts, treatmentOf(facts));
}

/**
 * Returns the decision to fail. The version shows whether a change was a conflict, but the platform may show an old
 * version. So a change of an existing group must be refused twice. The time between the refusals is long enough for the
 * platform to show the current version.
 */
function failing({ state: { link, lastError }, nowMs }: Facts): Decision {
  const before = lastError !== undefined && ONCE_REFUSED.has(lastError.code) ? lastError : undefined;
  const isAgain = before !== undefined && nowMs - before.atMs >= READS_BEHIND_MS;
  if (link === undefined || isAgain) return { kind: 'fail' };
  return { kind: 'fail', firstly: { ...REFUSED, why: before ?? REFUSED.why } };
}

const isSameName = (group: ObservedGroup, name: string) => foldName(group.name) === foldName(name);
