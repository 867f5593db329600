import type { HeldGroup } from '../platform/platform.ts';
import { HOUR_MS, MINUTE_MS } from '../simulation-run.ts';
import {
  type Checker,
  type Observation,
  type ObservedConnection,
  SCIM_ID,
  withMoved,
} from './observation.ts';
import { groupOf, type Outside } from './outside.ts';
import { hasReturned, mayNotFindEarlierGroups } from './returns.ts';

const SHORT_LISTS = new Set<string>(['list_cut', 'list_denies']);

export const createOneGroup = (): Checker => (observation) => {
  for (const connection of observation.connections) {
    checkNamesakes(observation, connection);
    if (observation.isEnd) checkCreated(observation, connection);
  }
};

/**
 * Checks at the end that at most one of the platform groups that groupsync created for a directory group exists. After
 * a takeover, the groups of both sources are one. A release, or a removed connection, permits a second one, and so does
 * a platform on which groupsync cannot recognise its groups (docs/invariants.md, section 6).
 */
function checkCreated(observation: Observation, connection: ObservedConnection): void {
  const { seen, connections } = observation;
  const { name, company, platform, groups, isIdOf } = connection;
  const actions = seen.operators.actions.filter((one) => one.connection === name && one.done);
  const isUnlisted =
    hasReturned(name) &&
    platform.calls.some(({ platformFaults }) => platformFaults.some((one) => SHORT_LISTS.has(one)));
  const letsGo =
    seen.connections.get(name)?.settings['onGroupDeleted'] === 'release' ||
    connections.some((one) => one.company === company && one.name !== name) ||
    actions.some(({ action }) => action.kind === 'remove_connection' || action.kind === 'set');
  const isUnrecognised = !platform.traits.echoSpokeId && platform.traits.installer !== null;
  if (letsGo || isUnlisted || isUnrecognised || mayNotFindEarlierGroups(name, platform)) return;
  for (const group of groups) {
    const ids = withMoved(observation, name, group);
    const isOf = (spokeId: string | null | undefined) => ids.some((id) => isIdOf(id, spokeId));
    const made = platform.writes.filter(
      ({ action, sent, id }) =>
        action === 'create' && isOf(sent.spokeId) && isOf(platform.groups.get(id)?.spokeId),
    );
    if (made.length < 2 || actions.some((one) => one.kind === 'release' && ids.includes(one.group ?? '')))
      continue;
    const sentence = `Expected one platform group for ${ids.join(' and ')}, but groupsync created ${made.length} groups that all still exist.`;
    observation.accuse('one_group', 'second_group', { connection: name, group }, sentence);
  }
}

/** Checks that no group is created while a group of another source has its name, and the lists show that group. */
function checkNamesakes({ nowMs, accuse }: Observation, connection: Outside): void {
  const { name, platform, reading } = connection;
  const { groups, traits, writes, clientWrites } = platform;
  const isNew = ({ action, late, atMs }: (typeof writes)[number]) =>
    action === 'create' && !late && atMs > nowMs - HOUR_MS;
  const named = new Map<string, HeldGroup[]>();
  for (const held of groups.values()) named.set(held.name, [...(named.get(held.name) ?? []), held]);
  const all = [...writes, ...clientWrites];
  for (const write of writes.filter(isNew)) {
    const sinceMs = write.atMs - traits.listLagMs - 2 * MINUTE_MS;
    const isChanged = (id: string) => all.some((one) => one.id === id && one.atMs > sinceMs);
    for (const held of named.get(write.name) ?? []) {
      const [group, other] = [groupOf(connection, write), groupOf(connection, held)];
      if (group === undefined || other === undefined || isChanged(held.id)) continue;
      const isNamesake = reading.groups.get(other)?.name === write.sent.name;
      if (!isNamesake || SCIM_ID.test(other) === SCIM_ID.test(group)) continue;
      const sentence = `The group ${other} of another source has the name of ${group}. Expected no platform group for ${group}, but groupsync created ${write.id}.`;
      accuse('one_group', 'second_group', { connection: name, group }, sentence);
    }
  }
}
