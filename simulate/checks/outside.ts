import { contestedValues, expectedUsers, holdersAmong } from '../matching.ts';
import type { HeldGroup, PlatformCall, PlatformWrite } from '../platform/platform.ts';
import { HOUR_MS, MINUTE_MS } from '../simulation-run.ts';
import type { Seen } from '../world.ts';
import { latest, type Observation, type ObservedConnection } from './observation.ts';
import { connectedAtMs } from './returns.ts';

/*
 * What the checks from outside know: the actions and settings of the operators, the events of the directory, and the
 * true state of the platform. They read nothing that groupsync has stored.
 */

/** The parts of a connection that do not come from the table. */
export type Outside = Pick<ObservedConnection, 'name' | 'platform' | 'reading' | 'isIdOf' | 'groupWith'> &
  Pick<ObservedConnection, 'lastFaultMs' | 'companyMs' | 'hasUncertainRequest'>;

/** The longest time until a person who must leave is in no group. */
const OUT_WITHIN_MS = 75 * MINUTE_MS;
/** A write that was in flight at the time of an action may still take effect within this time. */
export const IN_FLIGHT_MS = 15 * MINUTE_MS;
/** The additional time after a fault (see truth.ts). */
const SEEN_AGAIN_MS = 3 * HOUR_MS;
/** groupsync tries a refused write once a day, and the simulation may skip scheduled runs for seven hours. */
const REFUSED_MS = 32 * HOUR_MS;

/** Returns the directory group that the external id of a platform group names. */
export const groupOf = ({ groupWith }: Outside, { spokeId }: Pick<HeldGroup, 'spokeId'>) =>
  spokeId == null ? undefined : groupWith(spokeId);

export interface Written {
  readonly write: PlatformWrite;
  /** The directory group that the external id names. */
  readonly group: string;
}

/** Returns a function that returns a connection's writes since the last call, except late ones, with their groups. */
export function createNewWrites() {
  const read = new Map<string, number>();
  return (connection: Outside): readonly Written[] => {
    const { name, platform } = connection;
    const news = platform.writes.slice(read.get(name)).filter(({ late }) => !late);
    read.set(name, platform.writes.length);
    return news.flatMap((write) => {
      const group = groupOf(connection, write);
      return group === undefined ? [] : [{ write, group }];
    });
  };
}

/** A user that groupsync should have removed from the platform group. */
interface Staying {
  readonly group: string;
  readonly held: HeldGroup;
  readonly user: string;
  /** The time since which the user must leave the group. */
  readonly fromMs: number;
}

/** Returns for how many minutes groupsync could have removed the user; undefined if it may still need time. */
export function overdueMinutes(
  { seen, nowMs }: Observation,
  connection: Outside,
  { group, held, user, fromMs }: Staying,
): number | undefined {
  const faultMs = connection.lastFaultMs();
  const sinceMs = latest([
    fromMs,
    connection.companyMs + HOUR_MS,
    faultMs && faultMs + SEEN_AGAIN_MS,
    changedMs(connection, held, user),
    startedMs(seen, connection.name),
    refusedMs(connection, held),
  ]);
  const isOverdue = nowMs - sinceMs > OUT_WITHIN_MS && mayWrite(seen, connection, group, held);
  return isOverdue ? Math.floor((nowMs - sinceMs) / MINUTE_MS) : undefined;
}

/** Returns the members that the directory wants in the group, with their users. `more` replaces settings. */
export const wantedIn = (
  { seen }: Observation,
  { name, reading, platform }: Outside,
  group: string,
  more: { readonly includeStates?: readonly string[]; readonly people?: undefined } = {},
) =>
  expectedUsers(reading, group, {
    holders: holdersAmong(platform.employees.values()),
    settings: { ...seen.connections.get(name)?.settings, ...more },
    contested: contestedValues(seen.run, name),
    forgotten: new Set(seen.operators.actions.flatMap((one) => (one.kind === 'forget' && one.member) || [])),
  });

/** Returns whether all roles of the user have ended. */
export const hasLeft = ({ platform }: Outside, user: string): boolean => {
  const own = [...platform.employees.values()].filter(({ role, userId }) => [role, userId].includes(user));
  return own.length > 0 && own.every(({ state }) => state === 'TERMINATED');
};

/** With any guard of a run, this many removals, and this share of a group, need no approval. */
const PERMITTED = { count: 3, share: 0.3, perHour: 10 };

/** Returns whether the guard certainly permits to remove all unwanted users of the platform group. */
export function isPermitted(
  observation: Observation,
  connection: Outside,
  { group, held, fromMs }: Omit<Staying, 'user'>,
): boolean {
  const { guard } = observation.seen.connections.get(connection.name)?.settings ?? {};
  const { perHourCount = PERMITTED.perHour } = (guard ?? {}) as { readonly perHourCount?: number };
  const { users } = wantedIn(observation, connection, group);
  const unwanted = held.users.filter((user) => !users.has(user)).length;
  const writes = connection.platform.writes.filter(({ atMs }) => atMs > fromMs - OUT_WITHIN_MS);
  const removedBy = (some: typeof writes) => some.flatMap(({ removed }) => removed).length;
  const lost = unwanted + removedBy(writes.filter(({ id }) => id === held.id));
  const isSmall = lost <= Math.min(PERMITTED.count, PERMITTED.share * held.users.length);
  return isSmall && unwanted + removedBy(writes) <= Math.min(perHourCount, PERMITTED.perHour);
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
    isOff(['pause_all', 'observe', 'restore'], ['resume_all']) ||
    isOff(['release'], ['adopt']) ||
    actions.some(({ kind, crashed }) => kind === 'set' && crashed);
  const { settings } = seen.connections.get(name) ?? {};
  const { policies = [] } = (settings?.['groups'] ?? {}) as {
    readonly policies?: readonly { readonly match: string; readonly mode: string }[];
  };
  const excluded = (settings?.['groups.exclude'] ?? []) as readonly string[];
  const isReported =
    settings?.['mode'] === 'report' ||
    policies.some(({ match, mode }) => match === group && mode === 'report');
  const known = reading.groups.get(group);
  const isUnnamed = known !== undefined && known.name === undefined;
  const mayRelease = [settings, ...actions.map(({ action }) => action)].some((one) =>
    Object.values(one ?? {}).includes('release'),
  );
  if (isStopped || mayRelease || isReported || excluded.includes(group) || isUnnamed) return false;
  // Only a group that groupsync wrote after the last connect is certainly linked. Of two groups with one external id,
  // it may have written the other one.
  const connectedMs = latest(actions.map(({ kind, atMs }) => (kind === 'connect' ? atMs : 0)));
  const sinceMs = Math.max(connectedMs, connectedAtMs(seen, name));
  const isWritten = platform.writes.some((one) => one.id === id && one.atMs >= sinceMs);
  const twins = [...platform.groups.values()].filter((one) => isIdOf(group, one.spokeId));
  return spokeId !== null && isWritten && twins.length === 1;
}
