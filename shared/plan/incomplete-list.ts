import type { Intent } from '../domain/group-state.ts';
import { type Decision, readList, type Wait } from './decision.ts';
import { existenceLimits } from './existence.ts';
import type { Facts } from './facts.ts';

/*
 * A list that lacks existing groups is truncated or outdated, or the base URL is wrong. Such a list does not prove that
 * a group does not exist. So a POST could create a duplicate.
 */

/**
 * Decides about a creation with an unknown outcome whose group was not found. Returns undefined if the list proves that
 * the creation made no group. The table is about the managed groups, and the groups from before the creation:
 *
 *   these groups                                        | decision
 *   ----------------------------------------------------|----------------------------------------------
 *   were not compared with the list yet                 | read
 *   include one that a GET shows but the list lacks     | wait
 *   include managed groups, and the list shows none     | wait; after an hour, undefined
 *   are all in the list, or the platform answers 404    | undefined
 */
export function decideIncompleteList(facts: Facts, { atMs }: Intent): Decision | undefined {
  const { listed, nowMs, createSettleMs } = facts;
  if (listed === undefined || listed.ageMs > 0) return readList(0);
  const { missing } = listed;
  if (missing === undefined) return { kind: 'read', what: ['missing'] };
  const { existing, showsNoManaged } = missing;
  if (existing !== undefined) return incomplete('the outcome of a creation is unknown', existing);
  const isRecent = nowMs - atMs < existenceLimits(createSettleMs).uncertainMs;
  return showsNoManaged && isRecent ? incomplete('the outcome of a creation is unknown') : undefined;
}

/**
 * Decides whether the list proves that the group to create does not exist yet. After an hour with an incomplete list,
 * groupsync creates the group, because a platform may never list all of its groups.
 * @returns undefined if groupsync accepts the list as a proof
 */
export function decideListedWhole(facts: Facts): Decision | undefined {
  const { state, nowMs, createSettleMs } = facts;
  if (facts.listed === undefined) return undefined;
  const { dirtySinceMs = nowMs } = state;
  if (nowMs - dirtySinceMs >= existenceLimits(createSettleMs).uncertainMs) return undefined;
  const { missing, ageMs } = facts.listed;
  if (missing === undefined) return { kind: 'read', what: ['missing'] };
  if (missing.existing === undefined) return undefined;
  return ageMs > 0 ? readList(0) : incomplete('the group may exist already', missing.existing);
}

function incomplete(why: string, existing?: string): Wait {
  const what = existing === undefined ? 'every group that groupsync manages' : `the group ${existing}`;
  const message = `${why}, and the list of groups lacks ${what}: groupsync will search for the new group again`;
  return { kind: 'wait', waitMs: undefined, why: { code: 'list_incomplete', message } };
}
