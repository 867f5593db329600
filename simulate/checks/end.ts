import type { PlatformWrite } from '../platform/platform.ts';
import { DAY_MS } from '../simulation-run.ts';
import { isBoundByMore, unexplained } from './differences.ts';
import {
  type Checker,
  hasLostItsCredential,
  type Observation,
  type ObservedConnection,
} from './observation.ts';
import { mayNotFindEarlierGroups, wasUnlisted } from './returns.ts';
import { readItem, storedMember } from './stored.ts';

/**
 * Runs one day after all faults ended. Checks that each platform group equals its directory group, or that its
 * differences have an explanation. Checks also the gate, the pending members, duplicate groups and the read of the
 * feed.
 */
export const createEnd = (): Checker => (observation) => {
  for (const connection of observation.isEnd ? observation.connections : []) {
    const { gate, name, groups } = connection;
    if (gate !== 'open' && gate !== 'paused') {
      if (hasLostItsCredential(observation, connection)) continue;
      const sentence = `The platform of ${name} has had no fault for a day. Expected its gate to be open, but it is ${gate}.`;
      observation.accuse('end', 'gate_closed', { connection: name }, sentence);
      continue;
    }
    for (const group of groups) {
      for (const { cause, sentence } of unexplained(observation, connection, group)) {
        observation.accuse('end', cause, { connection: name, group }, sentence);
      }
      checkPending(observation, connection, group);
    }
    checkSeconds(observation, connection);
    checkFeed(observation, connection);
  }
};

/**
 * Checks that groupsync read the feed in the last twelve hours. The limit includes six hours in which the simulation
 * may skip scheduled runs that find nothing (schedules.ts).
 */
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

/**
 * Checks that at most one of the platform groups that groupsync created for a directory group still exists. The check
 * is skipped if a release, a removed connection or a changed setting permits a second one.
 */
function checkSeconds(
  observation: Observation,
  { name, company, platform, groups, settings, isIdOf }: ObservedConnection,
): void {
  const actions = observation.seen.operators.actions.filter(
    ({ connection, done }) => done && connection === name,
  );
  const isShared = observation.connections.some((one) => one.company === company && one.name !== name);
  const letsGo =
    settings.onGroupDeleted === 'release' ||
    actions.some(({ kind }) => kind === 'remove_connection' || kind === 'set');
  if (isShared || letsGo || mayNotFindEarlierGroups({ name, platform })) return;
  for (const group of groups) {
    // If the platform shows no external ids, groupsync cannot recognise an empty group to which the platform added the
    // installer. Such a group does not count if the POST got no answer, or if the list directly after the POST got no
    // answer.
    const isUnidentified = ({ sent, atMs }: PlatformWrite) =>
      !platform.traits.echoSpokeId &&
      platform.traits.installer !== null &&
      sent.users?.length === 0 &&
      (observation.seen.cutOffMs.get(`${name} ${group}`)?.some((diedMs) => isSoon(diedMs, atMs)) ||
        platform.calls.some(
          ({ status, spokeId, route, ...call }) =>
            status === 'none' &&
            route === '/groups' &&
            (call.atMs === atMs ? spokeId === group : isSoon(call.atMs, atMs)),
        ));
    const made = platform.writes.filter(
      (one) => one.action === 'create' && isIdOf(group, one.sent.spokeId) && !isUnidentified(one),
    );
    const there = made
      .filter(
        (one, at) =>
          !made.slice(at + 1).some((later) => wasUnlisted(observation.seen, { name, platform, one, later })),
      )
      .filter(({ id }) => isIdOf(group, platform.groups.get(id)?.spokeId));
    if (there.length < 2 || actions.some((action) => action.group === group && action.kind === 'release'))
      continue;
    const sentence = `Expected one platform group for ${group}, but groupsync created ${there.length} groups that all still exist.`;
    observation.accuse('end', 'second_group', { connection: name, group }, sentence);
  }
}

const isSoon = (laterMs: number, atMs: number) => laterMs > atMs && laterMs < atMs + 1_000;
