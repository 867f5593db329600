import { READS_BEHIND_MS } from '../../domain/group-state.ts';
import { isWhole, type ObservedGroup } from '../../domain/view.ts';
import { type Decision, readList } from '../decision.ts';
import type { Facts, Rejected } from '../facts.ts';
import { foldName } from '../names.ts';
import { decideRelease } from '../release.ts';
import { treatmentOf } from '../treatment.ts';
import { decideDamping } from './damping.ts';
import { clear, decideFetched, waitForProof } from './drift.ts';
import { settleUnheld } from './holds.ts';
import { decideIntent } from './intent.ts';
import { decideMissing } from './missing.ts';
import { NAME_IN_USE, ONCE_REFUSED, REFUSED } from './refusal.ts';
import { settle } from './settle.ts';
import { decideWanted } from './write.ts';

/**
 * Returns the next decision about a group. Only this function knows the policy. Apply performs the decision and calls
 * the function again, until the decision is `settle`, `fail` or `wait`. `plan` and `explain` use the same decisions and
 * write nothing. The first matching line counts:
 *
 *     the group                                          | decision
 *     ---------------------------------------------------|------------------------------------------------
 *     has an open intent                                 | settle the intent; see `decideIntent`
 *     was released, by an operator or a takeover         | see `decideRelease`, then settle as `excluded`
 *     had an intent that the platform refused            | see `decideRejected`, and `decideMissing` after a 404
 *     is excluded by the settings                        | settle as `excluded`
 *     was restored repeatedly within an hour             | wait for the rest of the hour; see `decideDamping`
 *     has a suspected change                             | read the group, observe; see `decideFetched`
 *     otherwise                                          | see `decideWanted`
 */
export function decide(facts: Facts): Decision {
  const { state, rejected, fetched } = facts;
  if (state.intent !== undefined) return decideIntent(facts, state.intent);
  if (state.released)
    return state.link === undefined ? settleUnheld(facts, settle('excluded')) : decideRelease(facts);
  // After a 404 there is no version to compare. Either the platform does not show the group yet, or another client
  // deleted the group.
  if (rejected !== undefined)
    return fetched === 'gone' ? decideMissing(facts) : decideRejected(facts, rejected);
  const treatment = treatmentOf(facts);
  if (treatment.excluded) return settleUnheld(facts, settle('excluded'));
  const damping = decideDamping(facts);
  if (damping !== undefined) return damping;
  if (state.suspectedChange !== undefined) return decideFetched(facts) ?? clear(facts);
  return decideWanted(facts, treatment);
}

/**
 * Decides after the platform refused a write. If another platform group has the sent name, the creation of a group
 * waits until the name is free. An existing group keeps its old name, and its other changes are written without the
 * name.
 */
function decideRejected(facts: Facts, { name }: Rejected): Decision {
  const { state, listed, fetched } = facts;
  // Soon after a write, the fetch may show an old version. Such a fetch cannot show whether the refusal was a version
  // conflict.
  const unproven = fetched === undefined || fetched === 'gone' ? undefined : waitForProof(facts, fetched);
  if (unproven !== undefined) return unproven;
  if (name === undefined) return failing(facts);
  if (listed === undefined || listed.ageMs > 0) return readList(0);
  if (!listed.groups.some((one) => one.id !== state.link?.id && isWhole(one) && isSameName(one, name)))
    return failing(facts);
  return state.link === undefined ? NAME_IN_USE : decideWanted(facts, treatmentOf(facts));
}

/**
 * Returns the decision after a refusal. A change of an existing group fails only after two refusals that are at least
 * `READS_BEHIND_MS` apart. Within that time the platform may show an old version, so the first refusal may come from a
 * version conflict.
 */
function failing({ state: { link, lastError }, nowMs }: Facts): Decision {
  const before = lastError !== undefined && ONCE_REFUSED.has(lastError.code) ? lastError : undefined;
  const isAgain = before !== undefined && nowMs - before.atMs >= READS_BEHIND_MS;
  if (link === undefined || isAgain) return { kind: 'fail' };
  return { kind: 'retry', after: { ...REFUSED, why: before ?? REFUSED.why } };
}

const isSameName = (group: ObservedGroup, name: string) => foldName(group.name) === foldName(name);
