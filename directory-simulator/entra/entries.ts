import type { Group, User, View } from '../engine/directory.ts';
import type { Simulation } from '../engine/simulation.ts';
import { badRequest } from './errors.ts';
import {
  type DirectMember,
  isHidden,
  type Lifecycle,
  lifecycleOfGroup,
  lifecycleOfUser,
  membersOf,
} from './objects.ts';
import { DEFAULT_USER, groupProperties, type Properties, userProperties } from './properties.ts';
import type { Round } from './state-tokens.ts';

/** One entry of a list of changes. An object can have several entries, each with some of its members. */
export interface Entry {
  readonly key: string;
  readonly body: Properties;
}

export interface Tracking {
  readonly simulation: Simulation;
  readonly round: Round;
  /** If true, an entry shows only the changed properties (`Prefer: return=minimal`). */
  readonly isMinimal: boolean;
  readonly showsHidden: boolean;
}

/** The directory at the beginning and at the end of the round. `before` is undefined if the round lists all objects. */
interface Views {
  readonly before: View | undefined;
  readonly after: View;
}

/**
 * Returns all entries of a round. The result must be the same for each page of a round, because each page can compute
 * the entries again.
 */
export function entriesOf(tracking: Tracking): readonly Entry[] {
  const { simulation, round } = tracking;
  const { fromMs, toMs, ids, resource } = round;
  const directory = simulation.directory();
  const after = directory.viewAt(toMs);
  const views = { before: fromMs === null ? undefined : directory.viewAt(fromMs), after };
  if (resource === 'users') {
    const users = after.users().filter(({ id }) => ids === null || ids.includes(id));
    return users.flatMap((user) => userEntries(tracking, views, user));
  }
  const groups = after.groups().filter(({ id }) => ids === null || ids.includes(id));
  return groups.flatMap((group) => groupEntries(tracking, views, group));
}

function userEntries(tracking: Tracking, { before, after }: Views, user: User): readonly Entry[] {
  const { domain } = tracking.simulation.directory();
  const earlier = before?.storedUser(user.id);
  const lifecycle = lifecycleOfUser(user, after.atMs);
  const lifecycleBefore = earlier === undefined ? undefined : lifecycleOfUser(earlier, before?.atMs ?? 0);
  if (lifecycle !== 'live') return removedEntry(user.id, lifecycleBefore, lifecycle);
  const properties = tracked(userProperties(user, domain), tracking, DEFAULT_USER, 'user');
  const known =
    lifecycleBefore === 'live' && earlier !== undefined ? userProperties(earlier, domain) : undefined;
  const changed = changedProperties(properties, known);
  if (changed.length === 0) return [];
  return [{ key: user.id, body: shownProperties(tracking, properties, { changed, known, id: user.id }) }];
}

function groupEntries(tracking: Tracking, views: Views, group: Group): readonly Entry[] {
  const { before, after } = views;
  const earlier = before?.storedGroup(group.id);
  const lifecycle = lifecycleOfGroup(group, after.atMs);
  const lifecycleBefore = earlier === undefined ? undefined : lifecycleOfGroup(earlier, before?.atMs ?? 0);
  if (lifecycle !== 'live') return removedEntry(group.id, lifecycleBefore, lifecycle);
  const all = groupProperties(group);
  const properties = tracked(all, tracking, Object.keys(all), 'group');
  const known = lifecycleBefore === 'live' && earlier !== undefined ? groupProperties(earlier) : undefined;
  const changed = changedProperties(properties, known);
  const members = memberChanges(tracking, known === undefined ? { after, before: undefined } : views, group);
  if (changed.length === 0 && members.length === 0) return [];
  const shown = shownProperties(tracking, properties, { changed, known, id: group.id });
  if (members.length === 0) return [{ key: group.id, body: shown }];
  return parts(tracking, group.id, members).map((part, index) => ({
    key: `${group.id}/${index}`,
    body: { ...shown, 'members@delta': part },
  }));
}

/**
 * Returns the `@removed` entry of an object. The reason is `changed` if the object can be restored, and `deleted` if it
 * cannot.
 */
function removedEntry(
  id: string,
  before: Lifecycle | undefined,
  lifecycle: 'deleted' | 'gone',
): readonly Entry[] {
  if (before === lifecycle) return [];
  const reason = lifecycle === 'deleted' ? 'changed' : 'deleted';
  return [{ key: id, body: { id, '@removed': { reason } } }];
}

/** Returns the tracked properties without `members`, which is a relationship. */
function tracked(all: Properties, { round }: Tracking, usual: readonly string[], type: string): Properties {
  const wanted = round.select?.filter((name) => name !== 'members') ?? usual;
  return Object.fromEntries(
    ['id', ...wanted].map((name) => {
      if (Object.hasOwn(all, name)) return [name, all[name]];
      throw badRequest(`Could not find a property named '${name}' on type 'microsoft.graph.${type}'.`);
    }),
  );
}

/** Returns the names of the properties that differ from `known`. For a new object, all properties differ. */
const changedProperties = (properties: Properties, known: Properties | undefined) =>
  Object.keys(properties).filter(
    (name) => known === undefined || JSON.stringify(properties[name]) !== JSON.stringify(known[name]),
  );

interface Difference {
  readonly changed: readonly string[];
  readonly known: Properties | undefined;
  readonly id: string;
}

/**
 * Returns the properties to show. A property that lost its value in this round is null. Other properties without a
 * value are left out.
 */
function shownProperties({ isMinimal }: Tracking, properties: Properties, difference: Difference) {
  const { changed, known, id } = difference;
  const shown = Object.entries(properties).filter(([name, value]) => {
    if (isMinimal && !changed.includes(name)) return false;
    return value !== null || (known !== undefined && changed.includes(name));
  });
  return { ...Object.fromEntries(shown), id };
}

/** Returns the added and removed members. For a group that is new in the round, returns all members. */
function memberChanges(tracking: Tracking, { before, after }: Views, group: Group): readonly Properties[] {
  const { round, simulation, showsHidden } = tracking;
  if (round.select !== null && !round.select.includes('members')) return [];
  if (isHidden(group) && !showsHidden) return [];
  const now = membersOf(simulation, after, group);
  if (before === undefined) {
    return now.map((member) => memberEntry(member, !member.isLive));
  }
  const isShown = (member: DirectMember) => member.isLive || isUnreported(simulation, group, member);
  const former = membersOf(simulation, before, group).filter(isShown);
  const present = now.filter(isShown);
  const idsOf = (members: readonly DirectMember[]) => new Set(members.map(({ id }) => id));
  const formerIds = idsOf(former);
  const presentIds = idsOf(present);
  return [
    ...present.filter(({ id }) => !formerIds.has(id)).map((member) => memberEntry(member, false)),
    ...former.filter(({ id }) => !presentIds.has(id)).map((member) => memberEntry(member, true)),
  ];
}

/** Returns whether the list of changes of the group never shows the member's deletion. */
const isUnreported = (simulation: Simulation, group: Group, { id }: DirectMember) =>
  simulation.random(`unreported/${group.id}/${id}`).chance(simulation.settings().unreportedDeletions);

const memberEntry = ({ id, kind }: DirectMember, isRemoved: boolean): Properties => ({
  '@odata.type': `#microsoft.graph.${kind}`,
  id,
  ...(isRemoved ? { '@removed': { reason: 'deleted' } } : {}),
});

/** Maximum number of members in one entry. */
const MAX_MEMBERS = 1_000;
/** Maximum number of members in one entry if the setting `pageSizes` is `random`. */
const MAX_RANDOM_MEMBERS = 40;

/** Divides the members of a group into lists for several entries. The entries can be on different pages. */
function parts({ simulation, round }: Tracking, id: string, members: readonly Properties[]) {
  const isRandom = simulation.settings().pageSizes === 'random';
  const random = simulation.random(`parts/${id}/${round.toMs}`);
  const size = isRandom ? 1 + random.below(MAX_RANDOM_MEMBERS) : MAX_MEMBERS;
  const starts = Array.from({ length: Math.ceil(members.length / size) }, (_, index) => index * size);
  return starts.map((start) => members.slice(start, start + size));
}
