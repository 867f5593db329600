import { HOUR_MS, MINUTE_MS, type PlatformFault } from '../simulation-run.ts';
import { type Difference, isNamesake, nameOnPlatform, unexplained } from './differences.ts';
import {
  type Checker,
  hasLostItsCredential,
  latest,
  type Observation,
  type ObservedConnection,
} from './observation.ts';
import { isConfirmed, type StoredGroup, storedUser } from './stored.ts';

/**
 * The longest time until groupsync notices a difference. The sweep and the refresh of people run every hour and need up
 * to 15 minutes.
 */
const NOTICED_WITHIN_MS = 75 * MINUTE_MS;
/** Additional time in which groupsync may notice the effects of a fault. */
const SEEN_AGAIN_MS = 3 * HOUR_MS;
const STUCK_MS = 2 * HOUR_MS;
const GATE_OPENS_WITHIN_MS = 70 * MINUTE_MS;
/** Platform faults that affect only writes. Reads are correct, so groupsync must still notice differences. */
const SEEN_THROUGH = new Set<PlatformFault>([
  ...(['drops_users', 'keeps_users', 'refuses_user_422', 'late_writes'] as const),
  ...(['answers_lag', 'refuses_name', 'refuses_spoke_id'] as const),
  ...(['writes_503', 'writes_403', 'writes_302'] as const),
]);

/** Platform faults that do not prevent writes. They affect only the feed, or a group that groupsync does not manage. */
const HARMLESS = new Set<PlatformFault>([
  ...(['list_shows_odd_group', 'feed_twice', 'feed_missing'] as const),
  ...(['feed_new_kind', 'feed_malformed', 'feed_forgets'] as const),
]);

interface Memory {
  /** The last time at which the gate of each connection was closed. */
  readonly closedMs: Map<string, number>;
  readonly differsSinceMs: Map<string, number>;
  readonly boundTo: Map<string, { readonly role: string; readonly atMs: number }>;
  /** For each group, the time of a failure that a refusal explains, so that it is searched only once. */
  readonly explained: Map<string, number>;
  lastMs: number;
}

/**
 * Checks that a group with the state `in_sync` equals its platform group. Within a limited time, any other group must
 * become equal or show a cause.
 */
export function createTruth(): Checker {
  const memory: Memory = {
    closedMs: new Map(),
    differsSinceMs: new Map(),
    boundTo: new Map(),
    explained: new Map(),
    lastMs: 0,
  };
  return (observation) => {
    for (const connection of observation.connections) {
      checkGate(observation, connection, memory);
      checkBindings(observation, connection, memory);
      if (connection.isObserving || connection.gate !== 'open') continue;
      for (const group of connection.groups) checkGroup(observation, connection, group, memory);
    }
    memory.lastMs = observation.nowMs;
  };
}

function checkGroup(
  observation: Observation,
  connection: ObservedConnection,
  group: string,
  memory: Memory,
): void {
  const { name, reading, actionMs, companyMs, ledger } = connection;
  const item = connection.item(group);
  if (item === undefined || item.pausedAt !== undefined || item.released) return;
  const past = ledger.pasts.get(connection.actual(group)?.id ?? item.link?.id ?? '');
  const writtenMs = past?.changes.at(-1)?.atMs ?? 0;
  const directoryChangedMs = reading.changedAtMs.get(group) ?? 0;
  const changedMs = latest([directoryChangedMs, writtenMs, actionMs, memory.closedMs.get(name) ?? 0]);
  const about = { connection: name, group };
  const minutes = (sinceMs: number) => Math.floor((observation.nowMs - sinceMs) / MINUTE_MS);

  if (item.dirtySince !== undefined) {
    const sinceMs = latest([item.dirtySince, changedMs, connection.lastFaultMs(HARMLESS)]);
    if (observation.nowMs - sinceMs <= STUCK_MS || isNameTaken(connection, group)) return;
    const sentence = `The group ${group} has waited for ${minutes(item.dirtySince)} minutes with an open gate and without a fault. Expected a write within 2 hours.`;
    observation.accuse('truth', 'stuck', about, sentence);
    return;
  }
  if (item.failedAt !== undefined && !isExplained(connection, group, item, memory)) {
    const sentence = `The platform refused no write of the group ${group}. Expected a retry, but groupsync marked the group as failed: ${item.lastError?.code}.`;
    observation.accuse('truth', 'given_up', about, sentence);
  }
  const key = `${name} ${group}`;
  // If a group is shown as failed, the failure explains all differences except users that groupsync should have
  // removed.
  const [difference] = unexplained(observation, connection, group).filter(
    ({ cause }) => item.failedAt === undefined || /extra|additive|left/.test(cause),
  );
  if (difference === undefined) {
    memory.differsSinceMs.delete(key);
    return;
  }
  const firstSeenMs = memory.differsSinceMs.get(key) ?? observation.nowMs - HOUR_MS;
  memory.differsSinceMs.set(key, firstSeenMs);
  const lastFaultMs = connection.lastFaultMs(SEEN_THROUGH);
  const shownMs = lastFaultMs && lastFaultMs + SEEN_AGAIN_MS;
  const sinceMs = latest([firstSeenMs, changedMs, companyMs + HOUR_MS, shownMs]);
  if (observation.nowMs - sinceMs <= NOTICED_WITHIN_MS) return;
  const sentence = `The group ${group} has the state ${item.settled}, but has differed from the directory for ${minutes(sinceMs)} minutes: ${difference.sentence}`;
  observation.accuse('truth', causeOf(difference, item.settled), about, sentence);
}

/**
 * Returns whether a refusal explains the failed state of the group. The platform must have refused a write of the group
 * at about the same time, with a status that makes a retry useless.
 */
function isExplained(
  connection: ObservedConnection,
  group: string,
  item: StoredGroup,
  { explained }: Pick<Memory, 'explained'>,
): boolean {
  const key = `${connection.name} ${group}`;
  if (item.failedAt === undefined || explained.get(key) === item.failedAt) return true;
  if (!isRefused(connection, group, item)) return false;
  explained.set(key, item.failedAt);
  return true;
}

const isRefused = ({ platform, isIdOf }: ObservedConnection, group: string, item: StoredGroup): boolean => {
  const { failedAt = 0, link } = item;
  return platform.calls.some(({ atMs, method, id, spokeId, status, isStale, platformFaults }) => {
    const isOfGroup = isIdOf(group, spokeId) || id === link?.id;
    if (!isOfGroup || method === 'GET' || isStale === true) return false;
    // An ignored deletion explains a failure even if the deletion is old. The connection may have been in observe mode
    // since the deletion.
    if (platformFaults.includes('deletes_ignored')) return atMs < failedAt + NOTICED_WITHIN_MS;
    const isNear = Math.abs(atMs - failedAt) < NOTICED_WITHIN_MS;
    return isNear && [400, 404, 409, 412, 413, 422].includes(Number(status));
  });
};

const causeOf = ({ cause }: Difference, settled: string | undefined): string => {
  if (/misrouted|^additive_|given_up/.test(cause)) return cause;
  return settled === 'in_sync' ? 'in_sync_but_different' : 'clean_but_different';
};

/** Returns whether the group waits because the platform requires unique names, and another group has its name. */
function isNameTaken(connection: ObservedConnection, group: string): boolean {
  const { traits, groups } = connection.platform;
  const { name, link } = connection.item(group) ?? {};
  if (name === undefined) return false;
  const wanted = nameOnPlatform(connection, group, name.value);
  if (isNamesake(connection, group, wanted)) return true;
  if (!traits.uniqueNames) return false;
  return [...groups.values()].some((other) => other.id !== link?.id && other.name === wanted);
}

function checkGate(
  observation: Observation,
  connection: ObservedConnection,
  { closedMs, lastMs }: Memory,
): void {
  const { name, gate, actionMs, isObserving } = connection;
  if (gate === 'open') return;
  const wasClosed = closedMs.get(name) === lastMs;
  closedMs.set(name, observation.nowMs);
  const isLong =
    observation.nowMs - latest([connection.lastFaultMs(HARMLESS), actionMs]) > GATE_OPENS_WITHIN_MS;
  // The next write opens the gate. A connection that observes writes nothing.
  const isUnused = gate === 'paused' || isObserving;
  if (isUnused || !wasClosed || !isLong || hasLostItsCredential(observation, connection)) return;
  const sentence = `The platform of ${name} has had no fault for over an hour. Expected its gate to be open again, but it is ${gate}.`;
  observation.accuse('truth', 'gate_stuck', { connection: name }, sentence);
}

/**
 * Checks that a member stays bound to the same person until an operator changes the binding. Otherwise, when an address
 * moves to another person, access would move with the address. If platform groups contain users, the binding may change
 * to another role of the same user.
 */
function checkBindings(
  { seen, nowMs, accuse }: Observation,
  { name, reading, settings, platform }: ObservedConnection,
  { boundTo }: Memory,
) {
  const personOf = (role: string) =>
    settings.memberIdField === 'id'
      ? role
      : (platform.employees.get(role)?.userId ?? `u-${role.replace(/-again$/, '')}`);
  const rebinds = seen.operators.actions.filter((one) => one.kind === 'rebind' && one.connection === name);
  for (const member of reading.emails.keys()) {
    const role = storedUser(seen, name, member)?.role;
    if (role === undefined) continue;
    const before = boundTo.get(`${name} ${member}`);
    // A first binding may change until a refresh of people has confirmed it.
    const isSame = before !== undefined && personOf(before.role) === personOf(role);
    if (isSame || isConfirmed(seen, name, role, member))
      boundTo.set(`${name} ${member}`, { role, atMs: nowMs });
    if (before === undefined || isSame) continue;
    if (rebinds.some(({ atMs }) => atMs >= before.atMs)) continue;
    const sentence = `The member ${member} was bound to ${before.role}. Expected this binding to stay until an operator changes it, but the member is bound to ${role}.`;
    accuse('truth', 'binding_moved', { connection: name }, sentence);
  }
}
