import { type Checker, withMoved } from './observation.ts';
import { hasReturned, mayNotFindEarlierGroups } from './returns.ts';

const SHORT_LISTS = new Set<string>(['list_cut', 'list_denies']);

/**
 * Checks at the end that at most one of the platform groups that groupsync created for a directory group exists. After
 * a takeover, the groups of both sources are one. A release, or a removed connection, permits a second one, and so does
 * a platform on which groupsync cannot recognise its groups (docs/invariants.md, section 6).
 */
export const createOneGroup = (): Checker => (observation) => {
  const { seen, connections, isEnd } = observation;
  for (const { name, company, platform, groups, isIdOf } of isEnd ? connections : []) {
    const { echoSpokeId, installer } = platform.traits;
    const actions = seen.operators.actions.filter((one) => one.connection === name && one.done);
    const isUnlisted =
      hasReturned(name) &&
      platform.calls.some(({ platformFaults }) => platformFaults.some((one) => SHORT_LISTS.has(one)));
    const letsGo =
      seen.connections.get(name)?.settings['onGroupDeleted'] === 'release' ||
      connections.some((one) => one.company === company && one.name !== name) ||
      actions.some(({ action }) => action.kind === 'remove_connection' || action.kind === 'set');
    const isUnrecognised = !echoSpokeId && installer !== null;
    if (letsGo || isUnlisted || isUnrecognised || mayNotFindEarlierGroups({ name, platform })) continue;
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
};
