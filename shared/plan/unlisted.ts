import type { Intent } from '../domain/group-state.ts';
import { type Decision, readList, type Wait } from './decision.ts';
import { absenceLimits } from './existence.ts';
import type { Facts } from './facts.ts';

/*
 * If a list lacks groups that exist, it is truncated or outdated, or the base URL is wrong. Such a list does not prove
 * that a group does not exist, so a POST could create a duplicate.
 */

/**
 * Decides whether the list can prove that a creation whose outcome is unknown created no group.
 *
 *   known and managed groups                          | decision
 *   --------------------------------------------------|----------------------------------------------
 *   not compared with the list yet                    | read
 *   one is shown by its id and not listed             | wait
 *   the connection manages some, and none is listed   | wait; after an hour, undefined
 *   all are listed, or answer 404                     | undefined: the list counts
 *
 * @param noting the intent, with this search included in its count
 */
export function decideUnlisted(facts: Facts, noting: Intent): Decision | undefined {
  const { listed, nowMs, createSettleMs } = facts;
  if (listed === undefined || listed.ageMs > 0) return readList(0);
  const { unlisted } = listed;
  if (unlisted === undefined) return { kind: 'read', what: ['unlisted'] };
  const { existing, hidesAllManaged } = unlisted;
  if (existing !== undefined) return { ...lacking('the outcome of a creation is unknown', existing), noting };
  const isRecent = nowMs - noting.atMs < absenceLimits(createSettleMs).uncertainMs;
  return hidesAllManaged && isRecent
    ? { ...lacking('the outcome of a creation is unknown'), noting }
    : undefined;
}

/**
 * Decides whether the list can prove that the group to create does not exist yet. If the list is incomplete, groupsync
 * still creates the group after an hour, because a platform may never list all of its groups.
 * @returns undefined if the list is accepted as a proof
 */
export function decideListedWhole(facts: Facts): Decision | undefined {
  const { state, settings, nowMs, createSettleMs } = facts;
  if (settings.adoptExisting === 'never' || facts.listed === undefined) return undefined;
  const { dirtySinceMs = nowMs } = state;
  if (nowMs - dirtySinceMs >= absenceLimits(createSettleMs).uncertainMs) return undefined;
  const { unlisted, ageMs } = facts.listed;
  if (unlisted === undefined) return { kind: 'read', what: ['unlisted'] };
  if (unlisted.existing === undefined) return undefined;
  return ageMs > 0 ? readList(0) : lacking('the group may exist already', unlisted.existing);
}

function lacking(why: string, existing?: string): Wait {
  const what = existing === undefined ? 'every group that groupsync manages' : `the group ${existing}`;
  const message = `${why}, and the list of groups lacks ${what}: groupsync will search for the new group again`;
  return { kind: 'wait', waitMs: undefined, why: { code: 'list_incomplete', message } };
}
