import { contestedValues, expectedUsers, holdersAmong } from '../matching.ts';
import type { HeldGroup, PlatformCall, PlatformWrite } from '../platform/platform.ts';
import { HOUR_MS, MINUTE_MS } from '../simulation-run.ts';
import type { Seen } from '../world.ts';
import { blockedAmong, blocksOf, type PersonBlock } from './blocks.ts';
import { addedOnRequest, removedOnRequest } from './ledger.ts';
import { type Checker, latest, type Observation, type ObservedConnection } from './observation.ts';
import { connectedAtMs } from './returns.ts';

/*
 * The checks in this file read nothing that groupsync has stored. They know only the actions and settings of the
 * operators, the events of the directory, and the true state of the platform.
 */

/** The parts of a connection that do not come from the table. */
type Outside = Pick<
  ObservedConnection,
  'name' | 'platform' | 'reading' | 'isIdOf' | 'lastFaultMs' | 'companyMs' | 'hasUncertainRequest'
>;

/**
 * The longest time from a block until the person is in no group. A group that another client changed is read within the
 * hour.
 */
const OUT_WITHIN_MS = 75 * MINUTE_MS;
/** The additional time after a fault (see truth.ts). */
const SEEN_AGAIN_MS = 3 * HOUR_MS;
/** groupsync tries a refused write once a day, and the simulation may skip scheduled runs for seven hours. */
const REFUSED_MS = 32 * HOUR_MS;
/** A write that was in flight at the time of the block may still take effect within this time. */
const IN_FLIGHT_MS = 15 * MINUTE_MS;
/** A group is at rest if neither the directory nor any other party changed it for this time. */
const AT_REST_MS = 2 * HOUR_MS;

/**
 * Checks that a blocked person is in no group that groupsync may write, that groupsync adds a blocked person to no
 * group, and that a block removes no other person.
 */
export function createBlocked(): Checker {
  const read = new Map<string, number>();
  return (observation) => {
    for (const connection of observation.connections) {
      const { name, platform } = connection;
      const blocks = blocksOf(observation.seen, name);
      for (const block of blocks) {
        if (block.isCertain && block.ended === undefined) checkOut(observation, connection, block);
      }
      const news = blocks.length === 0 ? [] : platform.writes.slice(read.get(name));
      for (const write of news) checkWrite(observation, { connection, write, blocks });
      read.set(name, platform.writes.length);
    }
  };
}

function checkWrite(observation: Observation, written: Omit<Written, 'group'>): void {
  const group = groupOf(written.connection, written.write);
  if (group === undefined) return;
  checkAdded(observation, { ...written, group });
  checkOthers(observation, { ...written, group });
}

/** Returns the directory group that the external id of a platform group names. */
const groupOf = ({ reading, isIdOf }: Outside, { spokeId }: Pick<HeldGroup, 'spokeId'>): string | undefined =>
  [...reading.changedAtMs.keys()].find((group) => isIdOf(group, spokeId));

function checkOut(observation: Observation, connection: Outside, block: PersonBlock): void {
  const { seen, nowMs } = observation;
  const { name, platform, companyMs, lastFaultMs } = connection;
  for (const held of platform.groups.values()) {
    const user = held.users.find((one) => block.ids.has(one));
    const group = user && groupOf(connection, held);
    if (user === undefined || group === undefined || !mayWrite(seen, connection, group, held)) continue;
    const faultMs = lastFaultMs();
    const sinceMs = latest([
      block.blockedMs,
      companyMs + HOUR_MS,
      faultMs && faultMs + SEEN_AGAIN_MS,
      changedMs(connection, held, user),
      startedMs(seen, name),
      refusedMs(connection, held),
    ]);
    if (nowMs - sinceMs <= OUT_WITHIN_MS) continue;
    const minutes = Math.floor((nowMs - sinceMs) / MINUTE_MS);
    const sentence = `An operator blocked ${block.role}. Expected ${user} in no platform group of ${name}, but ${user} has been in ${held.id} (the group ${group}) for ${minutes} minutes in which groupsync could write.`;
    observation.accuse('blocked', 'still_in_group', { connection: name, group }, sentence);
  }
}

/** The last time at which a client added the user to the group, and the feed showed it. */
function changedMs({ platform }: Outside, { id }: HeldGroup, user: string): number {
  const { writes, clientWrites, traits } = platform;
  const added = [...writes, ...clientWrites].filter((one) => one.id === id && one.added.includes(user));
  return latest(added.map(({ atMs }) => atMs)) + traits.feedLagMs;
}

const STARTS = new Set(['resume', 'resume_all', 'adopt', 'connect', 'set', 'unblock']);

/** The last time at which an operator may have permitted writes. */
const startedMs = ({ operators }: Seen, name: string): number =>
  latest(operators.actions.map((one) => (one.connection === name && STARTS.has(one.kind) ? one.atMs : 0)));

const REFUSALS = new Set<PlatformCall['status']>([400, 404, 409, 412, 413, 422]);
const KEEPING: readonly string[] = ['deletes_ignored', 'keeps_users'];

/** The time until which groupsync need not try again, because the platform refused the credential or a write. */
function refusedMs({ platform }: Outside, { id }: HeldGroup): number {
  const times = platform.calls.map(({ atMs, method, route, status, isStale, platformFaults, ...call }) => {
    if (status === 401 || (Number(status) >= 400 && route.includes('oauth'))) return atMs;
    if (call.id !== id || method === 'GET') return 0;
    const isRefused = REFUSALS.has(status) && isStale !== true;
    return isRefused || platformFaults.some((one) => KEEPING.includes(one)) ? atMs + REFUSED_MS : 0;
  });
  return latest(times);
}

/** Returns whether the settings and the operators certainly permit writes to this platform group. */
function mayWrite(seen: Seen, connection: Outside, group: string, { id, spokeId }: HeldGroup): boolean {
  const { name, platform, reading, isIdOf } = connection;
  const actions = seen.operators.actions.filter((one) => one.connection === name && one.done);
  const isOff = (stop: readonly string[], start: readonly string[]) => {
    const last = actions.findLast(
      (one) => [...stop, ...start].includes(one.kind) && (one.group ?? group) === group,
    );
    return last !== undefined && (last.crashed === true || stop.includes(last.kind));
  };
  const isStopped =
    isOff(['pause'], ['resume']) ||
    isOff(['pause_all', 'observe'], ['resume_all']) ||
    isOff(['release'], ['adopt']) ||
    actions.some(({ kind, crashed }) => kind === 'set' && crashed);
  const { settings } = seen.connections.get(name) ?? {};
  const { policies = [] } = (settings?.['groups'] ?? {}) as { readonly policies?: readonly Policy[] };
  const excluded = (settings?.['groups.exclude'] ?? []) as readonly string[];
  const isReported = policies.some(({ match, mode }) => match === group && mode === 'report');
  const known = reading.groups.get(group);
  const isUnnamed = known !== undefined && known.name === undefined;
  if (isStopped || isReported || excluded.includes(group) || isUnnamed) return false;
  // Only a group that groupsync wrote after the last connect is certainly linked. Of two groups with one external id,
  // it may have written the other one.
  const connectedMs = latest(actions.map(({ kind, atMs }) => (kind === 'connect' ? atMs : 0)));
  const sinceMs = Math.max(connectedMs, connectedAtMs(seen, name));
  const isWritten = platform.writes.some((one) => one.id === id && one.atMs >= sinceMs);
  const twins = [...platform.groups.values()].filter((one) => isIdOf(group, one.spokeId));
  return spokeId !== null && isWritten && twins.length === 1 && !mayBeReleased(seen, connection, group);
}

interface Policy {
  readonly match: string;
  readonly mode: string;
}

/** Returns whether groupsync may have released the group because the directory deleted it. */
function mayBeReleased({ run }: Seen, { name, hasUncertainRequest }: Outside, group: string): boolean {
  const drawn = run.connections.find((one) => one.name === name)?.settings['onGroupDeleted'];
  const own = run.happenings.filter((one) => one.connection === name);
  const isRelease =
    drawn === 'release' || own.some((one) => 'value' in one.action && one.action.value === 'release');
  const isDeleted = own.some(({ action }) => action.kind === 'delete' && action.group === group);
  const isOfScim = group.length > 32;
  return isRelease && (isDeleted || isOfScim || hasUncertainRequest(group));
}

interface Written {
  readonly connection: Outside;
  readonly group: string;
  readonly write: PlatformWrite;
  readonly blocks: readonly PersonBlock[];
}

function checkAdded(observation: Observation, { connection, group, write, blocks }: Written): void {
  const { name } = connection;
  const isInEffect = ({ isCertain, blockedMs, ended }: PersonBlock) =>
    isCertain && write.atMs - blockedMs > IN_FLIGHT_MS && (ended === undefined || write.atMs < ended.fromMs);
  if (write.late) return;
  for (const { ids, role } of blocks.filter(isInEffect)) {
    const user = addedOnRequest(write).find((one) => ids.has(one));
    if (user === undefined) continue;
    const sentence = `An operator blocked ${role}. Expected groupsync to add ${user} to no group, but it added ${user} to ${write.id} (the group ${group}).`;
    observation.accuse('blocked', 'added', { connection: name, group }, sentence);
  }
}

/** Checks that a write soon after a block keeps all other members, if only the block can be its reason. */
function checkOthers(observation: Observation, { connection, group, write, blocks }: Written): void {
  const { name, reading, platform, companyMs } = connection;
  const { seen } = observation;
  const block = blocks.find(
    ({ fromMs, blockedMs }) => fromMs <= write.atMs && write.atMs - blockedMs <= IN_FLIGHT_MS,
  );
  if (block === undefined || write.late || reading.groups.get(group)?.name === undefined) return;
  const blocked = blockedAmong(write.removed, blocks, write.atMs);
  const removed = removedOnRequest(write).filter((user) => !blocked.has(user));
  if (removed.length === 0) return;
  const otherActions = seen.operators.actions.filter(
    ({ connection, kind, atMs }) => connection === name && kind !== 'block' && atMs <= observation.nowMs,
  );
  const clientWrites = platform.clientWrites.filter(({ id }) => id === write.id);
  const newsMs = latest([
    reading.changedAtMs.get(group) ?? 0,
    companyMs,
    ...[...otherActions, ...clientWrites].map(({ atMs }) => atMs),
  ]);
  const isAtRest = block.fromMs - newsMs > AT_REST_MS;
  if (!isAtRest || connection.hasUncertainRequest(group) || observation.isInDeadLetters(group)) return;
  const { userOf, unsure } = expectedUsers(reading, group, {
    holders: holdersAmong(platform.employees.values()),
    settings: (seen.connections.get(name)?.settings ?? {}) as Parameters<typeof expectedUsers>[2]['settings'],
    contested: contestedValues(seen.run, name),
    forgotten: new Set(otherActions.flatMap(({ kind, member }) => (kind === 'forget' && member) || [])),
  });
  const wanted = [...userOf].find(([member, user]) => removed.includes(user) && !unsure.has(member));
  if (wanted === undefined) return;
  const [member, user] = wanted;
  const sentence = `An operator blocked ${block.role}. Expected all others to stay in the group ${group}, but groupsync also removed ${user} (${member}). The directory has this member in the group.`;
  observation.accuse('blocked', 'removed_another', { connection: name, group }, sentence);
}
