import type { PlatformCall } from '../platform/platform.ts';
import { DAY_MS, HOUR_MS } from '../simulation-run.ts';
import {
  type Checker,
  latest,
  type Observation,
  type ObservedConnection,
  type Owner,
  removalsSince,
} from './observation.ts';
import { storedMember } from './stored.ts';

const CALLS_PER_GROUP = 12 + 3;
const ASKED_WITHIN_MS = 5_000;
const MOST_BYTES = 350 * 1_024;
const WIDEST = 100;
const PROBES = 20;
/** A refused or ignored change is retried once a day, and a restored one once an hour. */
const VAIN_WRITES_A_DAY = 6;
/** Calls of the schedules of one connection in an hour. */
const SCHEDULED: Readonly<Partial<Record<PlatformCall['route'], number>>> = {
  '/groups': 2,
  '/groups/{id}': 0,
  // Each new worker reads the company of its token once.
  '/me': 12 + 3,
  // A page of the feed may be followed by an empty one.
  '/company_activity': 12 * 2,
};

/**
 * Checks that work that cannot succeed costs few calls, that an idle connection makes only its scheduled calls, and that no
 * read grows with history.
 */
export function createBounded(): Checker {
  const read = new Map<string, number>();
  const busyMs = new Map<string, number>();
  const vain = new Map<string, readonly number[]>();
  let refused = new Set<string>();
  return (observation) => {
    const refusedBefore = refused;
    refused = new Set(
      observation.connections.filter(({ gate }) => gate === 'unauthorized').map(({ name }) => name),
    );
    for (const connection of observation.connections) {
      if (!isIdle(observation, connection)) busyMs.set(connection.name, observation.nowMs);
    }
    for (const [company, platform] of observation.seen.platforms) {
      // Calls of operators are not limited.
      const isScheduled = ({ by }: PlatformCall) => !/^(?:operator|checker)\b/.test(by);
      const calls = platform.calls.slice(read.get(company)).filter(isScheduled);
      read.set(company, platform.calls.length);
      checkGroups(observation, company, calls);
      const connections = observation.connections.filter((one) => one.company === company);
      const areIdle =
        connections.every(({ name }) => observation.nowMs - (busyMs.get(name) ?? 0) > HOUR_MS) &&
        removalsSince(observation, observation.nowMs - HOUR_MS).length === 0;
      const areRefused = connections.every(({ name }) => refused.has(name) && refusedBefore.has(name));
      if (connections.length > 0 && areRefused) checkRefused(observation, connections, calls);
      if (connections.length > 0 && areIdle) checkIdle(observation, connections, calls);
    }
    checkVainWrites(observation, vain);
    checkTable(observation);
  };
}

function checkGroups(observation: Observation, company: string, calls: readonly PlatformCall[]): void {
  for (const { owner, calls: spent } of callsOfGroups(observation, company, calls)) {
    const key = `${owner.connection} ${owner.group}`;
    const one: Partial<ObservedConnection> =
      observation.connections.find(({ name }) => name === owner.connection) ?? {};
    const { reading, companyMs = 0, actionMs = 0 } = one;
    const lastMessageMs = observation.seen.lastMessageMs.get(key) ?? 0;
    const newsMs = latest([reading?.changedAtMs.get(owner.group) ?? 0, companyMs, actionMs, lastMessageMs]);
    if (spent.length <= CALLS_PER_GROUP || observation.nowMs - newsMs <= 2 * HOUR_MS) continue;
    // Two workers that receive one message at the same time do not know each other's calls. If a worker was cut off
    // before it stored its calls, no other worker knows them.
    const cutOff = (observation.seen.cutOffMs.get(key) ?? []).filter(
      (atMs) => observation.nowMs - atMs <= 2 * HOUR_MS,
    );
    const workers = 1 + cutOff.length + (areAtOnce(spent) ? 1 : 0);
    if (spent.length <= CALLS_PER_GROUP * workers) continue;
    const sentence = `No event, operator or company changed the group ${owner.group} in two hours; expected at most ${CALLS_PER_GROUP} calls an hour for it, found ${spent.length}.`;
    observation.accuse('bounded', 'calls_per_group', owner, sentence);
  }
}

/** Checks that groupsync does not repeatedly send a change that the platform stores in its own way. */
function checkVainWrites(observation: Observation, vain: Map<string, readonly number[]>): void {
  for (const { change, owner, connection } of observation.writes) {
    if (!change.isVain) continue;
    const key = `${owner.connection} ${change.id}`;
    const newsMs = latest([
      connection.reading.changedAtMs.get(owner.group) ?? 0,
      connection.companyMs,
      connection.actionMs,
      connection.lastFaultMs(),
      observation.nowMs - DAY_MS,
    ]);
    const since = [...(vain.get(key) ?? []), change.atMs].filter((atMs) => atMs > newsMs);
    vain.set(key, since);
    if (since.length <= VAIN_WRITES_A_DAY) continue;
    const sentence = `No event about the group ${owner.group} arrived for a day; expected at most ${VAIN_WRITES_A_DAY} writes that change nothing, found ${since.length}.`;
    observation.accuse('bounded', 'vain_writes', owner, sentence);
  }
}

function callsOfGroups(observation: Observation, company: string, calls: readonly PlatformCall[]) {
  const spent = new Map<string, { readonly owner: Owner; readonly calls: readonly PlatformCall[] }>();
  const asked = askedForOthers(calls);
  for (const call of calls) {
    const { id = '', spokeId, route, method, by, status } = call;
    const owner = observation.ownerOf(company, id, spokeId);
    if (owner === undefined || (route !== '/groups/{id}' && method !== 'POST') || asked.has(call)) continue;
    const [who] = by.split('-');
    // Each event about a deleted group or person reads its id once.
    if (who === 'feed' && status === 404) continue;
    // Each run of the feed reads a group with an external change once. This read does not depend on the calls of apply.
    const key = `${owner.connection} ${owner.group} ${who === 'feed'}`;
    spent.set(key, { owner, calls: [...(spent.get(key)?.calls ?? []), call] });
  }
  return spent.values();
}

/**
 * Returns the reads of another group. A worker whose call is refused reads another group once, to find out whether all
 * groups are refused.
 */
function askedForOthers(calls: readonly PlatformCall[]): ReadonlySet<PlatformCall> {
  const refusals = calls.filter(({ status }) => [401, 402, 403, 404, 410].includes(Number(status)));
  const isAsking = ({ id, by, atMs, route, method }: PlatformCall) => {
    if (method !== 'GET' || route !== '/groups/{id}') return false;
    const reason = refusals.findIndex((one) => one.by === by && one.id !== id && isSoon(one.atMs, atMs));
    return reason >= 0 && refusals.splice(reason, 1).length > 0;
  };
  return new Set(calls.filter(isAsking));
}

const areAtOnce = (calls: readonly PlatformCall[]): boolean =>
  calls.some(({ by, atMs }, at) => {
    const before = calls[at - 1];
    return before !== undefined && before.by !== by && isSoon(before.atMs, atMs);
  });

const isSoon = (afterMs: number, atMs: number) => atMs >= afterMs && atMs - afterMs < ASKED_WITHIN_MS;

/**
 * Returns whether the connection has no work: nothing waits, changed or failed recently, or the connection may not
 * write.
 */
function isIdle({ nowMs, seen }: Observation, connection: ObservedConnection): boolean {
  const { reading, platform, companyMs, actionMs, groups, item, gate, isObserving } = connection;
  const others = [companyMs, actionMs, platform.clientWrites.at(-1)?.atMs ?? 0, connection.lastFaultMs()];
  const newsMs = latest([...reading.changedAtMs.values(), ...others]);
  if (nowMs - (isObserving || gate === 'paused' ? actionMs : newsMs) <= 2 * HOUR_MS) return false;
  if (isObserving || gate === 'paused') return true;
  if (gate !== 'open' || seen.queues.events.length + seen.queues.apply.length > 0) return false;
  return groups.every((group) => {
    const { dirtySince, failedAt, intent, hold } = item(group) ?? {};
    // Refused members and failed groups are retried once a day.
    const isRefused = (member: string) =>
      storedMember(seen, connection.name, group, member)?.pendingCause === 'refused';
    const isWaiting = [...(reading.groups.get(group)?.members ?? [])].some(isRefused);
    return !isWaiting && [dirtySince, failedAt, intent, hold].every((one) => one === undefined);
  });
}

function checkIdle(
  observation: Observation,
  connections: readonly ObservedConnection[],
  calls: readonly PlatformCall[],
): void {
  const names = connections.map(({ name }) => name).join(', ');
  const hasRecentFault = connections.some(
    ({ lastFaultMs }) => observation.nowMs - lastFaultMs() <= 2 * HOUR_MS,
  );
  for (const [route, each] of Object.entries(SCHEDULED)) {
    const most = each * connections.length;
    // The feed reads changed groups, and a sweep reads groups missing from a list; failures are retried.
    if (hasRecentFault && each > 0) continue;
    const made = calls.filter(
      (call) => call.route === route && (each > 0 || !/^(?:feed|sweep)\b/.test(call.by)),
    );
    if (made.length <= most) continue;
    const sentence = `${names} had nothing to do in this hour; expected at most ${most} calls of ${route}, found ${made.length}.`;
    observation.accuse('bounded', 'idle_calls', { connection: names }, sentence);
  }
}

/**
 * Checks the calls with a refused credential. The credential is retried every ten minutes, and each new worker reads
 * the company of its token once more.
 */
function checkRefused(
  observation: Observation,
  connections: readonly ObservedConnection[],
  calls: readonly PlatformCall[],
): void {
  const most = PROBES * connections.length;
  const made = calls.filter(({ by, route }) => by.startsWith('pump') && /^\/(?:me|oauth)/.test(route));
  if (made.length <= most) return;
  const names = connections.map(({ name }) => name).join(', ');
  const sentence = `The credential of ${names} is refused; expected at most ${most} probes of it an hour, found ${made.length}.`;
  observation.accuse('bounded', 'refused_calls', { connection: names }, sentence);
}

function checkTable({ seen, accuse }: Observation): void {
  const { bytes, key } = seen.table.largest;
  if (bytes > MOST_BYTES)
    accuse('bounded', 'item_size', {}, `Expected no item beyond 350 KB, but ${key} has ${bytes} bytes.`);
  for (const [kind, cause] of Object.entries({ 'A#': 'read_audit', 'DRIFT#': 'read_drift' })) {
    const width = seen.table.widest.get(kind) ?? 0;
    const sentence = `Expected no read to grow with history, but one read ${width} items ${kind}.`;
    if (width > WIDEST) accuse('bounded', cause, {}, sentence);
  }
}
