import { HOUR_MS, MINUTE_MS, type PlatformFault } from '../simulation-run.ts';
import { type Difference, nameOnPlatform, unexplained } from './differences.ts';
import {
  type Checker,
  hasLostItsCredential,
  latest,
  type Observation,
  type ObservedConnection,
} from './observation.ts';
import { isBorneOut, type StoredGroup, storedUser } from './stored.ts';

/**
 * The feed runs every 5 minutes, and the sweep and the refresh of people every hour. The rest is for the work itself.
 */
const NOTICED_WITHIN_MS = 75 * MINUTE_MS;
/**
 * Runs that would find the same state are skipped for this long (schedules.ts), so the effects of a fault may appear
 * later.
 */
const SEEN_AGAIN_MS = 3 * HOUR_MS;
const STUCK_MS = 2 * HOUR_MS;
const GATE_OPENS_WITHIN_MS = 70 * MINUTE_MS;
/** Platform faults that refuse writes, or answer writes incorrectly. Reads are still correct. */
const SEEN_THROUGH = new Set<PlatformFault>([
  ...(['drops_users', 'keeps_users', 'refuses_user_422', 'late_writes'] as const),
  ...(['answers_lag', 'refuses_name', 'refuses_spoke_id'] as const),
  ...(['writes_503', 'writes_403', 'writes_302'] as const),
]);

/** Platform faults that do not stop writes: faults of an unmanaged group, and faults of the feed. */
const HARMLESS = new Set<PlatformFault>([
  ...(['list_shows_odd_group', 'feed_twice', 'feed_missing'] as const),
  ...(['feed_new_kind', 'feed_malformed', 'feed_forgets'] as const),
]);

interface Memory {
  /** The time when the gate of each connection was last closed. */
  readonly closedMs: Map<string, number>;
  readonly differsSinceMs: Map<string, number>;
  readonly boundTo: Map<string, { readonly role: string; readonly atMs: number }>;
  /** Failures of groups that a refusal explains. The log of calls only grows, so an explanation stays valid. */
  readonly explained: Map<string, number>;
  lastMs: number;
}

/**
 * Checks that a group in state `in_sync` is in sync at any time. Any other group must show its state and the cause
 * within a limited time.
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
    const sentence = `The group ${group} has been waiting for ${minutes(item.dirtySince)} minutes with the gate open and nothing in its way; expected it to be written within 2 hours.`;
    observation.accuse('truth', 'stuck', about, sentence);
    return;
  }
  if (item.failedAt !== undefined && !isExplained(connection, group, item, memory)) {
    const sentence = `The platform refused nothing of what was sent for the group ${group}; expected it to be tried again, but it was given up: ${item.lastError?.code}.`;
    observation.accuse('truth', 'given_up', about, sentence);
  }
  const key = `${name} ${group}`;
  // The state of a failed group shows its difference, but pending removals must not wait for it.
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
  const sentence = `The group ${group} is called ${item.settled} and has been different for ${minutes(sinceMs)} minutes: ${difference.sentence}`;
  observation.accuse('truth', causeOf(difference, item.settled), about, sentence);
}

/**
 * Returns whether a refusal explains why the group is marked as failed. The platform must have refused a write shortly
 * before, in a way that waiting does not fix. The read after which the group is marked may wait for the hourly limit of
 * calls.
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
    // Deletions without effect are counted, even if the connection only observes for some time in between.
    if (platformFaults.includes('deletes_ignored')) return atMs < failedAt + NOTICED_WITHIN_MS;
    const isNear = Math.abs(atMs - failedAt) < NOTICED_WITHIN_MS;
    return isNear && [400, 404, 409, 412, 413, 422].includes(Number(status));
  });
};

const causeOf = ({ cause }: Difference, settled: string | undefined): string => {
  if (/misrouted|^additive_|given_up/.test(cause)) return cause;
  return settled === 'in_sync' ? 'in_sync_but_different' : 'clean_but_different';
};

/** Returns whether a group waits until its name is free, on a platform with unique names. */
function isNameTaken(connection: ObservedConnection, group: string): boolean {
  const { traits, groups } = connection.platform;
  const { name, link } = connection.item(group) ?? {};
  if (!traits.uniqueNames || name === undefined) return false;
  const wanted = nameOnPlatform(connection, group, name.value);
  return [...groups.values()].some((other) => other.id !== link?.id && other.name === wanted);
}

function checkGate(
  observation: Observation,
  connection: ObservedConnection,
  { closedMs, lastMs }: Memory,
): void {
  const { name, gate, actionMs } = connection;
  if (gate === 'open') return;
  const wasClosed = closedMs.get(name) === lastMs;
  closedMs.set(name, observation.nowMs);
  const isLong =
    observation.nowMs - latest([connection.lastFaultMs(HARMLESS), actionMs]) > GATE_OPENS_WITHIN_MS;
  if (gate === 'paused' || !wasClosed || !isLong || hasLostItsCredential(observation, connection)) return;
  const sentence = `The platform of ${name} has been well for over an hour; expected its gate to be open again, but it is ${gate}.`;
  observation.accuse('truth', 'gate_stuck', { connection: name }, sentence);
}

/**
 * Checks that the person of a member never changes automatically. An address may move to another person, and groups
 * grant access. If groups hold users, the binding may change to another role of the same user.
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
    // The next refresh of people confirms a first binding, or replaces it.
    const isSame = before !== undefined && personOf(before.role) === personOf(role);
    if (isSame || isBorneOut(seen, name, role, member))
      boundTo.set(`${name} ${member}`, { role, atMs: nowMs });
    if (before === undefined || isSame) continue;
    if (rebinds.some(({ atMs }) => atMs >= before.atMs)) continue;
    const sentence = `${member} was ${before.role}; expected that to stay until a person says otherwise, but they are ${role} now.`;
    accuse('truth', 'binding_moved', { connection: name }, sentence);
  }
}
