import type { Intent } from '../domain/group-state.ts';
import { type Decision, readList } from './decision.ts';
import type { Facts } from './facts.ts';

/**
 * Decides whether the list can prove that a creation of unknown outcome made no group. A list that lacks existing
 * groups is truncated, late, or from a wrong route. Such a list proves nothing. Another POST could then create a
 * duplicate.
 *
 *   known and managed groups                          | decision
 *   --------------------------------------------------|---------------------------
 *   not compared with the list yet                    | read
 *   one is shown by its id and not listed             | wait
 *   the connection manages some, and none is listed   | wait
 *   all are listed, or answer 404                     | undefined: the list counts
 *
 * @param noting the intent, with this search included in its count
 */
export function decideUnlisted({ listed }: Facts, noting: Intent): Decision | undefined {
  if (listed === undefined || listed.ageMs > 0) return readList(0);
  const { unlisted } = listed;
  if (unlisted === undefined) return { kind: 'read', what: ['unlisted'] };
  const { existing, hidesAllManaged } = unlisted;
  if (existing === undefined && !hidesAllManaged) return undefined;
  const lacks = existing === undefined ? 'every group that groupsync manages' : `the group ${existing}`;
  const message = `the outcome of a creation is unknown, and the list of groups lacks ${lacks}: groupsync will search for the new group again`;
  return { kind: 'wait', waitMs: undefined, why: { code: 'list_incomplete', message }, noting };
}
