import type { PlatformCall, SimulatedPlatform } from '../platform/platform.ts';
import { keptSpokeId } from '../platform/rules.ts';
import type { Seen } from '../world.ts';
import { withMoved } from './observation.ts';

/** The answer of `members --at` for one moment. */
interface PastAnswer {
  readonly connection: string;
  readonly group: string;
  /** The id of the present platform group. */
  readonly linked: string | undefined;
  readonly atMs: number;
  /** The users, with an interval if they are uncertain; undefined if groupsync has no record. */
  readonly members: ReadonlyMap<string, { sinceMs: number; untilMs: number } | undefined> | undefined;
}

/**
 * The number of moments, and of pairs of a moment and a user that was ever in the group. A pair is `unread` if another
 * client changed the user, and apply did not read the group before the next change of the user.
 */
export const NO_PAIRS = { moments: 0, unknown: 0, certain: 0, uncertain: 0, unread: 0 };
export type PastPairs = typeof NO_PAIRS;

/** Compares an answer with the platform, which records each write of each client, and counts the pairs. */
export function checkPast(
  seen: Seen,
  platform: SimulatedPlatform,
  { connection, group, linked, atMs, members }: PastAnswer,
  pairs: PastPairs,
): void {
  pairs.moments += 1;
  if (members === undefined) pairs.unknown += 1;
  const past = pastOf(seen, platform, { connection, group, linked });
  const states = past.statesAt(atMs);
  for (const user of members === undefined ? [] : new Set([...past.users, ...members.keys()])) {
    const interval = members?.get(user);
    const isMember = members?.has(user) === true;
    const isWithin = interval !== undefined && interval.sinceMs <= atMs && atMs <= interval.untilMs;
    if (isWithin) pairs.uncertain += 1;
    else if (states.some((users) => users.has(user) === isMember)) pairs.certain += 1;
    else if (past.isUnread(user, atMs)) pairs.unread += 1;
    else {
      const sentence = `The user ${user} ${isMember ? 'was not' : 'was'} in the platform group of ${group} at ${new Date(atMs).toISOString()}. Expected this answer or an interval, but the answer says the opposite.`;
      seen.runLog.violated({ check: 'past', cause: 'member', connection, group, sentence });
    }
  }
}

/**
 * Returns what the platform recorded about the groups that groupsync wrote with the id of this group, or of its group
 * before a takeover.
 */
export function pastOf(
  seen: Seen,
  platform: SimulatedPlatform,
  { connection, group, linked = '' }: Pick<PastAnswer, 'connection' | 'group'> & Partial<PastAnswer>,
) {
  const { asOf, calls, traits, writes, clientWrites } = platform;
  const moved = withMoved({ seen }, connection, group);
  const spokeIds = new Set<string | null>(moved.map((one) => keptSpokeId(one, traits.spokeIds)));
  const own = writes.filter(({ spokeId }) => spokeIds.has(spokeId));
  const ids = new Set([linked, ...own.map(({ id }) => id)]);
  const changes = [...writes, ...clientWrites]
    .filter(({ id }) => ids.has(id))
    .map((one) => ({ ...one, users: [...one.added, ...one.removed] }))
    .sort((a, b) => a.atMs - b.atMs);
  // An entry has the time of its worker, whose clock may be wrong.
  const skews = seen.run.happenings.map(({ action }) => ('skewMs' in action ? action.skewMs : 0));
  const skewMs = 1 + Math.max(0, ...skews);
  const isWritten = (id: string, untilMs: number) => own.some((one) => one.id === id && one.atMs <= untilMs);
  const groupsAt = (atMs: number) => [...ids].flatMap((id) => asOf(atMs, id) ?? []);
  const isAnswer = ({ id = '', by, platformFaults }: PlatformCall) =>
    ids.has(id) && by.startsWith('apply') && platformFaults.length === 0;
  return {
    users: new Set([...changes, ...groupsAt(seen.nowMs())].flatMap(({ users }) => users)),
    /** The users of the groups at this time, one set for each state that the group may have had. */
    statesAt(atMs: number) {
      const near = changes.map((one) => one.atMs).filter((ms) => Math.abs(ms - atMs) <= skewMs);
      return [atMs - skewMs, atMs, atMs + skewMs, ...near].flatMap((ms) => {
        const groups = groupsAt(ms);
        // A released group no longer counts, and a group that another client created counts after the first write.
        const isOwn = groups.some(({ id, spokeId }) => spokeIds.has(spokeId) && isWritten(id, ms));
        return [...groups.map(({ users }) => new Set(users)), ...(isOwn ? [] : [new Set<string>()])];
      });
    },
    isUnread(user: string, atMs: number) {
      const own = changes.filter(({ users }) => users.includes(user));
      const last = own.findLast((one) => one.atMs <= atMs);
      const untilMs = own.find((one) => one.atMs > atMs)?.atMs ?? seen.nowMs();
      if (last === undefined || !('initiator' in last)) return false;
      const fromMs = last.atMs + traits.getLagMs;
      const during = calls.filter((one) => isAnswer(one) && fromMs <= one.atMs && one.atMs < untilMs);
      // Only two answers of 404 prove that the group is gone. A later group of this directory group proves nothing.
      const [status, least] = last.action === 'delete' ? [404, 2] : [200, 1];
      return during.filter((one) => one.status === status).length < least;
    },
  };
}
