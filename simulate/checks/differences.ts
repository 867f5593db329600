import type { HeldGroup, SimulatedPlatform } from '../platform/platform.ts';
import { keptName } from '../platform/rules.ts';
import type { ReadGroup } from '../reading.ts';
import { HOUR_MS, type SimulationRun } from '../simulation-run.ts';
import { type Observation, type ObservedConnection, SCIM_ID } from './observation.ts';
import { hasReturned } from './returns.ts';
import { partitionOf, type StoredMember, storedMember, storedUser, treatmentOf } from './stored.ts';

/**
 * The causes of a difference in the users of a group. `additive_leaver`: the mode is additive, and the group
 * still has a user that groupsync added and that left the directory group. `…_given_up`: the platform refused
 * a write, so groupsync does not write the group for now.
 */
type UserCause =
  | 'missing_user'
  | 'extra_user'
  | 'additive_leaver'
  | 'missing_in_given_up'
  | 'extra_in_given_up';

/** A difference between a platform group and its directory group. */
export interface Difference {
  readonly cause: 'missing_group' | 'group_left' | 'misrouted' | 'name' | 'spoke_id' | UserCause;
  readonly sentence: string;
}

interface Context {
  readonly observation: Observation;
  readonly connection: ObservedConnection;
  readonly group: string;
  readonly treatment: ReturnType<typeof treatmentOf>;
  readonly actual: HeldGroup | undefined;
}

/** For each platform group without differences, the inputs of its last comparison. */
const SAME = new WeakMap<object, readonly unknown[]>();

/**
 * Compares a platform group with its directory group. The reference model (reading.ts) computes the directory group
 * from the events. Returns the differences that no policy, hold, pending member or drift record explains.
 */
export function unexplained(
  observation: Observation,
  connection: ObservedConnection,
  group: string,
): readonly Difference[] {
  const found = connection.actual(group);
  const actual = found && isUnmanaged(observation, connection, group, found) ? undefined : found;
  const { settings, companyMs, actionMs, reading } = connection;
  const inputs = [settings, companyMs, actionMs, reading.changedAtMs.get(group), connection.item(group)];
  const known = actual && SAME.get(actual);
  if (known !== undefined && inputs.every((one, place) => one === known[place])) return [];
  const directoryGroup = connection.reading.groups.get(group);
  const item = connection.item(group);
  const treatment = treatmentOf(connection.settings, [group, item?.name?.value ?? directoryGroup?.name]);
  const isPaused = connection.gate === 'paused' || item?.pausedAt !== undefined;
  const isStill = connection.isObserving || isPaused || item?.released;
  const isUnnamed = directoryGroup !== undefined && directoryGroup.name === undefined;
  if (isStill || isUnnamed || treatment.isExcluded || treatment.mode === 'report') return [];
  const context: Context = { observation, connection, group, treatment, actual };
  if (actual !== undefined && directoryGroup?.name !== undefined && isSame(context, directoryGroup.name)) {
    SAME.set(actual, inputs);
    return [];
  }
  const differences =
    directoryGroup?.name === undefined ? findRemovedOwners(context) : compared(context, directoryGroup.name);
  if (differences.length === 0 || isNotReceived(context, directoryGroup)) return [];
  return isMisrouted(context) ? differences.map((one) => ({ ...one, cause: 'misrouted' })) : differences;
}

/**
 * Returns whether a platform group has the external id of a directory group, but is not linked to the directory group.
 * There are two reasons. groupsync released the platform group, or its connection was removed and the new connection
 * did not adopt it. In both cases the platform group keeps its members.
 */
function isUnmanaged(
  observation: Observation,
  { name, company, item }: ObservedConnection,
  group: string,
  { id }: Pick<HeldGroup, 'id'>,
): boolean {
  if (item(group)?.link !== undefined) return false;
  if (mayHaveReleased(observation, name)) return true;
  return hasReturned(name) && observation.ownerOf(company, id, null)?.connection !== name;
}

/** Returns whether groupsync may have missed an event about the group. */
function isNotReceived(
  { observation, connection, group }: Context,
  directoryGroup: ReadGroup | undefined,
): boolean {
  if (connection.hasUncertainRequest(group) || observation.isInDeadLetters(group)) return true;
  const stored = observation.seen.under<StoredMember>(partitionOf(connection.name, group), 'M#');
  return stored.some(
    ({ member, presence }) =>
      presence === 'present' &&
      directoryGroup?.members.has(member) !== true &&
      observation.isInDeadLetters(member),
  );
}

/**
 * Returns the differences of a platform group whose directory group does not exist. The setting `onGroupDeleted`
 * decides whether groupsync deletes or releases the platform group.
 */
function findRemovedOwners(context: Context): readonly Difference[] {
  const { connection, group, treatment, actual } = context;
  const { onGroupDeleted } = connection.settings;
  if (actual === undefined || treatment.mode === 'additive' || onGroupDeleted === 'release') return [];
  const explained = new Set([...connection.held(group), ...namedByDrift(context, 'members_added')]);
  const staying = actual.users.filter((user) => !explained.has(user));
  if (actual.users.length > 0 && staying.length === 0) return [];
  if (connection.isDeletionHeld(group)) return [];
  if (isDeletionIgnored(context, actual.id)) return [];
  const sentence = `The directory deleted the group ${group}. Expected no platform group, but the platform still has one (${actual.id}) with ${actual.users.length} users.`;
  return [{ cause: 'group_left', sentence }];
}

/**
 * Returns whether the platform accepted requests to delete the group but did not delete it. groupsync then marks the
 * group as failed and tries again a day later.
 */
function isDeletionIgnored({ observation, connection, group }: Context, platformId: string): boolean {
  const isIgnored = ({ id, atMs, platformFaults }: SimulatedPlatform['calls'][number]) =>
    id === platformId && observation.nowMs - atMs < REFUSED_MS && platformFaults.includes('deletes_ignored');
  return connection.item(group)?.failedAt !== undefined && connection.platform.calls.some(isIgnored);
}

function compared(context: Context, name: string): readonly Difference[] {
  const { observation, connection, group, actual } = context;
  const { traits, groups } = connection.platform;
  const wanted = nameOnPlatform(connection, group, name);
  const isTaken = () =>
    (traits.uniqueNames &&
      [...groups.values()].some((one) => one.name === wanted && one.id !== actual?.id)) ||
    isNamesake(connection, group, wanted);
  // Some platforms show no external ids, and add a fixed user (the installer of the credential) to each new group. On
  // such a platform, groupsync cannot recognise a group that it created if the group contains only the installer.
  const { link, lastError, settled } = connection.item(group) ?? {};
  const isUnidentified = link === undefined && !traits.echoSpokeId && traits.installer !== null;
  if (isUnidentified && lastError?.code === 'name_in_use') return [];
  const isGone = ['deleted', 'recreated'].some((kind) => namedByDrift(context, kind).size > 0);
  if (actual === undefined) {
    // The name belongs to a platform group that no directory group has adopted, so an operator must decide.
    // Without external ids, a group that was released and created again does not find its platform group.
    const isClash = ({ name: shown, id }: HeldGroup) => {
      const owner = observation.ownerOf(connection.company, id, null);
      const isFree = owner === undefined || (!traits.echoSpokeId && owner.group === group);
      return isFree && keptName(shown, 'folded') === keptName(wanted, 'folded');
    };
    if (settled === 'name_clash' && [...groups.values()].some(isClash)) return [];
    const isRefusedWhole = [sentName(connection, group, name), group].some((value) =>
      isValueRefused(context, value),
    );
    if (isGone || isRefusedWhole || isTaken()) return [];
    const sentence = `The directory has a group ${group} ("${name}"). Expected a platform group for it, but there is none.`;
    return [{ cause: 'missing_group', sentence }];
  }
  const found: Difference[] = [];
  const isNameRefused = isRefused(context, 'name', sentName(connection, group, name));
  if (actual.name !== wanted && !isNameRefused && namedByDrift(context, 'name').size === 0 && !isTaken()) {
    const sentence = `The group ${group} should be called "${wanted}" on the platform, but is called "${actual.name}".`;
    found.push({ cause: 'name', sentence });
  }
  const isShown = traits.echoSpokeId || actual.spokeId !== null;
  if (
    !connection.isIdOf(group, actual.spokeId) &&
    isShown &&
    !isRefused(context, 'spokeId', group) &&
    namedByDrift(context, 'spoke_id').size === 0
  ) {
    const sentence = `The platform group ${actual.id} should have the spokeId ${group}, but has ${actual.spokeId}.`;
    found.push({ cause: 'spoke_id', sentence });
  }
  return [...found, ...missingUsers(context, actual), ...extraUsers(context, actual)];
}

/** Returns whether the platform group of another source has the name. groupsync then gives the name to no second group. */
export const isNamesake = ({ groups, item, platform }: ObservedConnection, group: string, name: string) =>
  groups.some((other) => {
    if (SCIM_ID.test(other) === SCIM_ID.test(group)) return false;
    const shown = platform.groups.get(item(other)?.link?.id ?? '')?.name;
    return shown !== undefined && keptName(shown, 'folded') === keptName(name, 'folded');
  });

function isSame({ connection, group, actual }: Context, name: string): boolean {
  const { users } = connection.expected(group);
  const isCalledSo =
    actual?.name === nameOnPlatform(connection, group, name) && connection.isIdOf(group, actual.spokeId);
  return isCalledSo && users.size === actual.users.length && actual.users.every((user) => users.has(user));
}

/** Returns the name after the connection's name template and the changes that this platform makes to names. */
export const nameOnPlatform = (connection: ObservedConnection, id: string, name: string): string =>
  keptName(sentName(connection, id, name), connection.platform.traits.names);

function sentName({ settings, name: connection }: ObservedConnection, id: string, name: string): string {
  const parts: Readonly<Record<string, string>> = { name, id, connection };
  return settings.nameTemplate.replaceAll(/\{(name|id|connection)\}/g, (_, key) => parts[key] ?? '');
}

/**
 * The maximum time between two attempts to write a refused value. groupsync tries the value once a day, and the
 * simulation may skip scheduled runs for seven hours (schedules.ts).
 */
const REFUSED_MS = 32 * HOUR_MS;

/** Returns whether the platform refused a name or an external id recently, or because it is too long. */
function isValueRefused({ observation, connection }: Context, value: string): boolean {
  const { traits, refusedValues } = connection.platform;
  const atMs = refusedValues.get(value);
  if (atMs === undefined) return false;
  const isTooLong = traits.longestName !== null && value.length > traits.longestName;
  return isTooLong || observation.nowMs - atMs < REFUSED_MS;
}

/** Returns whether the platform refuses this value for an existing group. */
function isRefused(context: Context, field: 'name' | 'spokeId', value: string): boolean {
  const { refusedFields } = context.connection.item(context.group) ?? {};
  return refusedFields?.[field]?.value === value && isValueRefused(context, value);
}

function missingUsers(context: Context, actual: HeldGroup): readonly Difference[] {
  const { observation, connection, group } = context;
  const { userOf, unsure } = connection.expected(group);
  const there = new Set(actual.users);
  const missing = [...userOf].filter(([, user]) => !there.has(user));
  if (missing.length === 0) return [];
  const reportedRemovals = namedByDrift(context, 'members_removed');
  return missing.flatMap(([member, user]): Difference[] => {
    if (reportedRemovals.has(user)) return [];
    if (unsure.has(member)) return [];
    // A dead-lettered message about another group may contain the address of this member.
    if (observation.isInDeadLetters(member)) return [];
    if (storedMember(observation.seen, connection.name, group, member)?.pendingCause === 'refused') return [];
    const sentence = `The directory has ${member} in the group ${group}. Expected the user ${user} in the platform group, but the user is missing.`;
    return [{ cause: causeOf(context, 'missing_user'), sentence }];
  });
}

function extraUsers(context: Context, actual: HeldGroup): readonly Difference[] {
  const { connection, group, treatment } = context;
  const { userOf, may } = connection.expected(group);
  const wanted = new Set(userOf.values());
  const extras = actual.users.filter((user) => !wanted.has(user) && !may.has(user));
  if (extras.length === 0) return [];
  const addedBy = connection.ledger.pasts.get(actual.id)?.addedBy;
  // After a release and a new link, groupsync treats the users that it added before the release as users of another
  // client.
  const isReleased = mayHaveReleased(context.observation, connection.name);
  // After a removal and a new connection under another name, groupsync does not know which users it added.
  const isReturned = hasReturned(connection.name);
  const isExternal = (user: string) =>
    treatment.mode === 'additive' && (isReleased || isReturned || addedBy?.get(user) !== 'us');
  const explained = new Set([
    ...stickyUsers(context),
    ...connection.held(group),
    ...namedByDrift(context, 'members_added'),
  ]);
  const { lastError, failedAt } = connection.item(group) ?? {};
  // If the group contains a user that the platform refuses, the platform may refuse every write. Then other users
  // cannot be removed.
  const isBlocked = actual.users.some((user) => connection.platform.unacceptable.has(user));
  const isStopped = isBlocked && (lastError?.code === 'removals_refused' || failedAt !== undefined);
  const isKept = lastError?.code === 'kept' || isStopped;
  const left = extras.filter((user) => !isKept && !explained.has(user) && !isExternal(user));
  return left.map((user) => extra(context, user, 'the directory group does not have this member'));
}

const extra = (context: Context, user: string, why: string): Difference => ({
  cause: causeOf(context, 'extra_user'),
  sentence: `The user ${user} is in the platform group of ${context.group}. Expected the user to be removed, because ${why} and no hold covers the removal.`,
});

function causeOf(
  { observation, connection, group, treatment }: Context,
  cause: 'missing_user' | 'extra_user',
): UserCause {
  const { failedAt } = connection.item(group) ?? {};
  const { connections, happenings } = observation.seen.run;
  // All connections of a company use the same platform, so a fault of this platform affects all connections of the
  // company.
  const sharing = connections.filter(({ company }) => company === connection.company).map(({ name }) => name);
  const mayBeRefused = happenings.some(
    (one) =>
      'platformFault' in one.action &&
      one.action.platformFault === 'refuses_user_422' &&
      sharing.includes(one.connection),
  );
  const isGivenUp = failedAt !== undefined && (mayBeRefused || connection.platform.traits.uniqueNames);
  if (isGivenUp) return cause === 'missing_user' ? 'missing_in_given_up' : 'extra_in_given_up';
  return cause === 'extra_user' && treatment.mode === 'additive' ? 'additive_leaver' : cause;
}

/**
 * Returns whether groupsync may have unlinked the group because its calls were answered with 404 behind a wrong base
 * URL.
 */
const isMisrouted = ({ connection, group, actual }: Context): boolean =>
  connection.item(group)?.link === undefined &&
  connection.platform.calls.some(
    ({ id, platformFaults }) => id === actual?.id && platformFaults.includes('wrong_route'),
  );

/**
 * Returns whether a member may still be bound to a person that the match rules would not find now. A binding stays when
 * an address or an employee number changes. It also stays when a read of the person shows no user id.
 */
export function isBoundByMore({ seen }: Observation, { name }: ObservedConnection, member: string): boolean {
  const role = storedUser(seen, name, member)?.role;
  const changing = CHANGING.get(seen.run) ?? changingRoles(seen.run);
  CHANGING.set(seen.run, changing);
  return role !== undefined && changing.has(role);
}

const CHANGING = new WeakMap<SimulationRun, ReadonlySet<string>>();
const changingRoles = ({ happenings }: SimulationRun) =>
  new Set(
    happenings.flatMap(({ action }) =>
      action.kind === 'readdress' || action.kind === 'renumber' || action.kind === 'lose_user_id'
        ? [action.role]
        : [],
    ),
  );

/**
 * Returns the users of stored bindings that differ from the members' current values (see `isBoundByMore`). The
 * reference model does not contain these users, but they may be in the group.
 */
function stickyUsers({ observation, connection, group }: Context): readonly string[] {
  const { members = [] } = connection.reading.groups.get(group) ?? {};
  return [...members].flatMap((member) => {
    if (!isBoundByMore(observation, connection, member)) return [];
    const role = storedUser(observation.seen, connection.name, member)?.role ?? '';
    return [role, connection.platform.employees.get(role)?.userId ?? `u-${role}`];
  });
}

/** Returns the values in the group's drift records of this kind that groupsync does not restore. */
export function namedByDrift(
  { connection, group }: Pick<Context, 'connection' | 'group'>,
  kind: string,
): ReadonlySet<string> {
  const records = connection.drift(group).filter((one) => one.kind === kind && one.settledBy !== 'restore');
  const first = kind === 'members_removed' ? 'before' : 'after';
  return new Set(records.flatMap((one) => one[first] ?? one.before ?? []));
}

function mayHaveReleased({ seen }: Observation, name: string): boolean {
  const isSet = ({ connection, action }: (typeof seen.run.happenings)[number]) =>
    connection === name && action.kind === 'set' && action.value === 'release';
  const drawn = seen.run.connections.find((one) => one.name === name)?.settings['onGroupDeleted'];
  return drawn === 'release' || seen.run.happenings.some(isSet);
}
