import type { GroupId } from '../../domain/ids.ts';
import { CONFIRMED_AFTER_MS } from './outcome.ts';
import type { NamedMembership, ReaderGroup } from './reader-group.ts';

/** The maximum number of reported memberships in an item. A few are enough to recognise an old list. */
const MAX_NAMED = 50;

interface Lag {
  readonly nowMs: number;
  /** For this time after a reported change, a list may show the state before the change. */
  readonly lagMs: number;
}

/** Returns the recent reported memberships. A list that disagrees with one of them is too old. */
export const namedWithinLag = ({ named = [] }: Pick<ReaderGroup, 'named'>, { nowMs, lagMs }: Lag) =>
  named.filter(({ atMs }) => nowMs - atMs < CONFIRMED_AFTER_MS + lagMs);

/** Returns the reader's item of a group after a report of memberships in the group or in a nested group. */
export function afterNaming(known: ReaderGroup, added: readonly NamedMembership[], lag: Lag): ReaderGroup {
  if (added.length === 0) return known;
  const latest = new Map<string, NamedMembership>();
  for (const one of [...namedWithinLag(known, lag), ...added].toSorted((a, b) => a.atMs - b.atMs)) {
    const key = `${one.group} ${one.member}`;
    latest.delete(key);
    latest.set(key, one);
  }
  return { ...known, named: [...latest.values()].slice(-MAX_NAMED) };
}

interface ListedMembers {
  readonly group: GroupId;
  /** Digests of the ids and addresses of the members. */
  readonly members: ReadonlySet<string>;
  /** Whether the list shows nested groups in addition to users. */
  readonly showsGroups: boolean;
}

/**
 * Whether a list is older than a report: it lacks a member that was reported as added, or has a member that was
 * reported as removed. Such a list can also lack other members, so the reader must not use the list.
 */
export const isOlderThanReports = (
  { group, members, showsGroups }: ListedMembers,
  named: readonly NamedMembership[],
): boolean =>
  named.some((one) => {
    const isShown = one.isGroup !== true || showsGroups;
    return one.group === group && isShown && members.has(one.member) !== one.isMember;
  });
