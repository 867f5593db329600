import type { HeldGroup } from '../platform/platform.ts';
import { blocksOf } from './blocks.ts';
import type { Checker, Observation } from './observation.ts';
import { groupOf, hasLeft, isPermitted, type Outside, overdueMinutes, wantedIn } from './outside.ts';

/**
 * Checks that no person stays in a group after an operator blocked the person (`blocked`), or after the employment of
 * the person ended (`leaver`). The guard may hold the removal of a leaver, but not that of a blocked person.
 */
export const createLeaver = (): Checker => (observation) => {
  for (const connection of observation.connections) {
    for (const held of connection.platform.groups.values()) {
      const group = groupOf(connection, held);
      for (const user of group === undefined ? [] : held.users)
        checkUser(observation, connection, { group: group ?? '', held, user });
    }
  }
};

interface Member {
  readonly group: string;
  readonly held: HeldGroup;
  readonly user: string;
}

function checkUser(observation: Observation, connection: Outside, member: Member): void {
  const { name, reading, companyMs } = connection;
  const { group, held, user } = member;
  const block = blocksOf(observation.seen, name).find(
    ({ ids, isCertain, ended }) => isCertain && ended === undefined && ids.has(user),
  );
  const isLeaver = hasLeft(connection, user) && isAddedByUs(connection, member);
  if (!(block || (isLeaver && isCertainlyWanted(observation, connection, member)))) return;
  const changedMs = reading.changedAtMs.get(group) ?? 0;
  const staying = { ...member, fromMs: block?.blockedMs ?? Math.max(companyMs, changedMs) };
  const minutes = overdueMinutes(observation, connection, staying);
  if (minutes === undefined || !(block || isPermitted(observation, connection, staying))) return;
  const why = block ? `An operator blocked ${block.role}` : `The employment of ${user} has ended`;
  const sentence = `${why}. Expected ${user} in no platform group of ${name}, but ${user} has been in ${held.id} (the group ${group}) for ${minutes} minutes in which groupsync could write.`;
  observation.accuse(block ? 'blocked' : 'leaver', 'still_in_group', { connection: name, group }, sentence);
}

/**
 * Returns whether the directory certainly wants the user, apart from the end of the employment, and groupsync knows it.
 * If not, the removal may have waited before that end. A new member with a leaver's address may be another person.
 */
function isCertainlyWanted(observation: Observation, connection: Outside, { group, user }: Member): boolean {
  const more = { includeStates: ['ACTIVE', 'TERMINATED'] };
  const { userOf, unsure } = wantedIn(observation, connection, group, more);
  const isSure = (member: string) => !unsure.has(member) && !observation.isInDeadLetters(member);
  return [...userOf].some(([member, id]) => id === user && isSure(member));
}

const isAddedByUs = ({ platform }: Outside, { held, user }: Member): boolean =>
  platform.writes.some(
    ({ id, sent, added }) => id === held.id && added.includes(user) && sent.users?.includes(user),
  );
