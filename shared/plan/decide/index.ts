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
 * What to do with a group next: the only place that knows the policy. Apply carries it out and asks again, until it is
 * `settle`, `fail` or `wait`; `plan` and `explain` only print it. The first line that fits decides:
 *
 *     the group                                          | decision
 *     ---------------------------------------------------|------------------------------------------------
 *     has an open intent                                 | its outcome: see `decideIntent`
 *     was released by a person                           | see `decideRelease`, then settle excluded
 *     had one that the platform refused                  | fail, a change the second time; gone, name taken: below
 *     is left out by the settings                        | end a hold that waits, settle excluded
 *     is put right and undone again and again            | wait for the rest of the hour; see `decideRest`
 *     has a suspected change                             | read the group, observe; see `decideFetched`
 *     otherwise                                          | see `decideWanted`
 */
export function decide(facts: Facts): Decision {
  const { state, rejected, fetched } = facts;
  if (state.intent !== undefined) return decideIntent(facts, state.intent);
  if (state.released) return decideReleased(facts);
  // The version of a group that answers 404 means nothing: the group is not listed yet, or another client deleted it.
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

/** A group that the settings exclude asks no operator. A decided hold stays, in case the group is included again. */
const decideExcluded = ({ state }: Facts): Decision =>
  state.hold?.decision.kind === 'waiting' ? endHold('hold') : settle('excluded');

/** If names are unique, a group waits until another group gives up its name; its other changes are written. */
function decideRejected(facts: Facts, { name }: Rejected): Decision {
  const { state, listed, fetched } = facts;
  // It is not known yet whether this was a conflict.
  const unproven = fetched === undefined || fetched === 'gone' ? undefined : waitForProof(facts, fetched);
  if (unproven !== undefined) return unproven;
  if (name === undefined) return failing(facts);
  if (listed === undefined || listed.ageMs > 0) return readList(0);
  if (!listed.groups.some((one) => one.id !== state.link?.id && isWhole(one) && isSameName(one, name)))
    return failing(facts);
  return state.link === undefined ? NAME_IN_USE : decideWanted(facts, treatmentOf(facts));
}

/**
 * Whether a change was a conflict shows by the version; but what is shown may be the past. So a change is refused twice
 * before that counts, so far apart that the platform shows the present.
 */
function failing({ state: { link, lastError }, nowMs }: Facts): Decision {
  const before = lastError !== undefined && ONCE_REFUSED.has(lastError.code) ? lastError : undefined;
  const isAgain = before !== undefined && nowMs - before.atMs >= READS_BEHIND_MS;
  if (link === undefined || isAgain) return { kind: 'fail' };
  return { kind: 'fail', firstly: { ...REFUSED, why: before ?? REFUSED.why } };
}

const isSameName = (group: ObservedGroup, name: string) => foldName(group.name) === foldName(name);
