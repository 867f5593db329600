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
/**
 * The maximum number of writes of one group in a day that change nothing. groupsync retries such a change once a day.
 * Six is a chosen margin, because one retry may need several writes.
 */
const VAIN_WRITES_A_DAY = 6;
/** The maximum number of scheduled calls per hour and connection, by route. */
const SCHEDULED: Readonly<Partial<Record<PlatformCall['route'], number>>> = {
  '/groups': 2,
  '/groups/{id}': 0,
  // Each new worker calls `/me` once, to check to which company its token belongs.
  '/me': 12 + 3,
  // The feed may read one empty page after the last page with events.
  '/company_activity': 12 * 2,
};

/**
 * Checks that six numbers stay below fixed limits: the calls for a group without news, the calls of an idle connection,
 * the tests of a refused credential, the writes that change nothing, the size of an item, and the items of one read.
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
    // If two workers receive the same message at the same time, neither can count the calls of the other worker. A
    // worker that crashed may have stored no record of its calls, so the next worker counts from zero.
    const cutOff = (observation.seen.cutOffMs.get(key) ?? []).filter(
      (atMs) => observation.nowMs - atMs <= 2 * HOUR_MS,
    );
    const workers = 1 + cutOff.length + (areAtOnce(spent) ? 1 : 0);
    if (spent.length <= CALLS_PER_GROUP * workers) continue;
    const sentence = `The group ${owner.group} had no event, operator action or HR change for two hours. Expected at most ${CALLS_PER_GROUP} calls per hour for the group, but found ${spent.length}.`;
    observation.accuse('bounded', 'calls_per_group', owner, sentence);
  }
}

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
    const sentence = `Expected at most ${VAIN_WRITES_A_DAY} writes a day that do not change the group ${owner.group}, but found ${since.length} without a new event.`;
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
    // The feed reads each deleted group once by its id and gets 404.
    if (who === 'feed' && status === 404) continue;
    // After an external change of a group, the feed reads the group once. This read is counted separately from the
    // calls of apply.
    const key = `${owner.connection} ${owner.group} ${who === 'feed'}`;
    spent.set(key, { owner, calls: [...(spent.get(key)?.calls ?? []), call] });
  }
  return spent.values();
}

/** Returns the calls with which a worker finds out, after a refusal, whether the platform refuses all groups. */
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
 * Returns whether the connection should make only scheduled calls. Such a connection had no change or fault for two
 * hours, and has no message, dirty group, failure, intent, hold or refused member. If it is paused or observes, it needs
 * no open intent, and two hours without an operator action or a fault.
 */
function isIdle({ nowMs, seen }: Observation, connection: ObservedConnection): boolean {
  const { reading, platform, companyMs, actionMs, groups, item, gate, isObserving } = connection;
  const others = [companyMs, actionMs, platform.clientWrites.at(-1)?.atMs ?? 0, connection.lastFaultMs()];
  const newsMs = latest([...reading.changedAtMs.values(), ...others]);
  const isStopped = isObserving || gate === 'paused';
  if (nowMs - (isStopped ? latest([actionMs, connection.lastFaultMs()]) : newsMs) <= 2 * HOUR_MS)
    return false;
  if (isStopped) return groups.every((group) => item(group)?.intent === undefined);
  if (gate !== 'open' || seen.queues.events.length + seen.queues.apply.length > 0) return false;
  return groups.every((group) => {
    const { dirtySince, failedAt, intent, removals } = item(group) ?? {};
    // groupsync retries refused members and failed groups once a day.
    const isRefused = (member: string) =>
      storedMember(seen, connection.name, group, member)?.pendingCause === 'refused';
    const isWaiting = [...(reading.groups.get(group)?.members ?? [])].some(isRefused);
    return !isWaiting && [dirtySince, failedAt, intent, removals].every((one) => one === undefined);
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
    // The schedule does not limit three kinds of calls. The feed reads changed groups. A sweep reads groups that the
    // platform's list lacks. After a fault, scheduled calls are retried.
    if (hasRecentFault && each > 0) continue;
    const made = calls.filter(
      (call) => call.route === route && (each > 0 || !/^(?:feed|sweep)\b/.test(call.by)),
    );
    if (made.length <= most) continue;
    const sentence = `${names} had no work in this hour. Expected at most ${most} calls of ${route}, but found ${made.length}.`;
    observation.accuse('bounded', 'idle_calls', { connection: names }, sentence);
  }
}

/**
 * Checks that groupsync makes only a few calls while the platform refuses its credential. The requeue job retries the
 * credential every ten minutes, and each new worker calls `/me` once. A 503 does not count.
 */
function checkRefused(
  observation: Observation,
  connections: readonly ObservedConnection[],
  calls: readonly PlatformCall[],
): void {
  // Each resume opens the gate, and the first refused call closes it again.
  const resumed = observation.seen.operators.actions.filter(
    ({ kind, atMs }) => kind === 'resume_all' && observation.nowMs - atMs <= HOUR_MS,
  );
  const most = PROBES * (connections.length + resumed.length);
  const isTest = ({ by, route, status }: PlatformCall) =>
    by.startsWith('pump') && /^\/(?:me|oauth)/.test(route) && Number(status) < 500;
  const made = calls.filter(isTest);
  if (made.length <= most) return;
  const names = connections.map(({ name }) => name).join(', ');
  const sentence = `The credential of ${names} is refused. Expected at most ${most} calls per hour that test the credential, but found ${made.length}.`;
  observation.accuse('bounded', 'refused_calls', { connection: names }, sentence);
}

function checkTable({ seen, accuse }: Observation): void {
  const { bytes, key } = seen.table.largest;
  const tooLarge = `Expected at most 350 KB per stored item, but the item ${key} has ${bytes} bytes.`;
  if (bytes > MOST_BYTES) accuse('bounded', 'item_size', {}, tooLarge);
  for (const [kind, cause] of Object.entries({
    'A#': 'read_audit',
    'ACT#': 'read_audit',
    'DRIFT#': 'read_drift',
  })) {
    const width = seen.table.widest.get(kind) ?? 0;
    const sentence = `Expected no read to grow with history, but one query read ${width} items with the key prefix ${kind}.`;
    if (width > WIDEST) accuse('bounded', cause, {}, sentence);
  }
}
