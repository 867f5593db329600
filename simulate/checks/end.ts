import { DAY_MS } from '../simulation-run.ts';
import { isBoundByMore, unexplained } from './differences.ts';
import type { Checker, Observation, ObservedConnection } from './observation.ts';
import { readItem, storedMember } from './stored.ts';

/**
 * Runs one day after all faults ended. Checks that each platform group equals its directory group, or that its
 * differences have an explanation. Checks also the pending members and the read of the feed.
 */
export const createEnd = (): Checker => (observation) => {
  for (const connection of observation.isEnd ? observation.connections : []) {
    const { gate, name, groups } = connection;
    if (gate !== 'open' && gate !== 'paused') continue;
    for (const group of groups) {
      for (const { cause, sentence } of unexplained(observation, connection, group)) {
        observation.accuse('end', cause, { connection: name, group }, sentence);
      }
      checkPending(observation, connection, group);
    }
    checkFeed(observation, connection);
  }
};

/** Checks that groupsync read the feed in the last twelve hours. */
function checkFeed({ seen, nowMs, accuse }: Observation, { name, gate }: ObservedConnection): void {
  const { readAtMs = 0 } = readItem<{ readAtMs: number }>(seen, `C#${name} FEED`) ?? {};
  if (gate === 'paused' || nowMs - readAtMs <= DAY_MS / 2) return;
  const sentence = `The platform of ${name} has had no fault for a day. Expected a complete read of its feed in the last twelve hours, but the last one was at ${new Date(readAtMs).toISOString()}.`;
  accuse('end', 'feed_not_read', { connection: name }, sentence);
}

/** Checks that each member that cannot be added is shown as pending, with the correct cause. */
function checkPending(observation: Observation, connection: ObservedConnection, group: string): void {
  const { name, isObserving, gate } = connection;
  const { settled, dirtySince, pausedAt, released } = connection.item(group) ?? {};
  const isWorkedOut = (settled === 'in_sync' || settled === 'held') && dirtySince === undefined;
  if (!isWorkedOut || pausedAt !== undefined || released || isObserving || gate === 'paused') return;
  if (observation.isInDeadLetters(group) || connection.hasUncertainRequest(group)) return;
  // The deletion of a group also removes its stored name. groupsync plans the members only after an event has named the
  // group again.
  if (connection.reading.groups.get(group)?.name === undefined) return;
  const { pending, unsure } = connection.expected(group);
  for (const [member, cause] of pending) {
    const shown = storedMember(observation.seen, name, group, member)?.pendingCause;
    // If the person left the company before the first match, groupsync shows `unknown`. Otherwise it shows `inactive`.
    // This check accepts both.
    const isTrue =
      shown === cause || (cause !== 'ambiguous' && (shown === 'unknown' || shown === 'inactive'));
    if (isTrue || unsure.has(member) || isBoundByMore(observation, connection, member)) continue;
    const sentence = `The member ${member} of the group ${group} cannot be written (${cause}). Expected this pending cause to be shown, but the list shows ${shown ?? 'no cause'}.`;
    observation.accuse('end', 'pending_cause', { connection: name, group }, sentence);
  }
}
