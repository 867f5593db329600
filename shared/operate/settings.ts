import type { ConnectionRow } from '../contract/answers/status.ts';
import {
  applySetting,
  differingSettings,
  InvalidSettingError,
  mergeSettings,
  parseSettings,
  type SettingDifference,
} from '../contract/change-setting.ts';
import { addressOfDirectory } from '../contract/directory-settings.ts';
import type { OperatorAction } from '../contract/operator-actions.ts';
import type { ConnectionSettings } from '../contract/settings.ts';
import { isInternalUrl } from '../contract/url.ts';
import { isReplaced, refuseOwnerless } from '../directory/operate/reader-groups.ts';
import type { SourceGroupPorts } from '../directory/operate/source-groups.ts';
import { endYields } from '../directory/reading/other-source.ts';
import type { ConnectionName } from '../domain/ids.ts';
import { revokeAllTokens } from '../scim/tokens/tokens.ts';
import type { ConnectionStore, ToolPorts } from '../sync/ports/bundles.ts';
import { type Connection, InvalidSettingsError, problemsOf } from '../sync/ports/connections.ts';
import type { AuditedChange } from '../sync/ports/logs.ts';
import { replanAll } from '../sync/wake.ts';
import { doRecorded, type JournalPorts, journalOf, recordAction } from './journal.ts';
import { NotFound, plural, Refused } from './names.ts';
import { requestedKeys, requestsBetween, untilConfirmed, withRequests } from './setting-requests.ts';

export type SettingsPorts = JournalPorts &
  SourceGroupPorts &
  Pick<ToolPorts, 'connections' | 'claims' | 'gates' | 'desired' | 'vault' | 'tokens'>;

export interface SettingChange {
  readonly key: string;
  readonly value: unknown;
}

export type SettingsPlan = Awaited<ReturnType<typeof planSettings>>;

/** @throws NotFound */
export async function requireConnection(
  name: ConnectionName,
  { connections }: { readonly connections: Pick<ConnectionStore, 'find'> },
): Promise<Connection> {
  const connection = await connections.find(name);
  if (connection === undefined) {
    throw new NotFound(
      `there is no connection ${name}; to create it: groupsync connect ${name}`,
      'existing connections: groupsync connections',
    );
  }
  return connection;
}

/** Returns the connection, also if its settings are invalid, to show or repair it. @throws NotFound */
export const readableConnection = (...of: Parameters<typeof requireConnection>): Promise<Connection> =>
  requireConnection(...of).catch(readableOf);

function readableOf(error: unknown): Connection {
  if (error instanceof InvalidSettingsError) return error.connection;
  throw error;
}

export async function readableConnections(connections: Pick<ConnectionStore, 'list'>) {
  const invalid: Connection[] = [];
  const valid = await connections.list((_, error) => invalid.push(readableOf(error)));
  return [...valid, ...invalid];
}

/**
 * Refuses an address of the machine itself or of a private network, because a deployed function would send the
 * credential to any process that listens there.
 * @throws InvalidSettingError
 */
export function refuseLoopback(
  { baseUrl, directory }: Pick<ConnectionSettings, 'baseUrl' | 'directory'>,
  { allowsLoopback }: Pick<ToolPorts['deployment'], 'allowsLoopback'>,
): void {
  if (allowsLoopback) return;
  const addresses = [
    { key: 'baseUrl', url: baseUrl },
    ...(directory === null ? [] : [addressOfDirectory(directory)]),
  ];
  for (const { key, url } of addresses) {
    if (url === undefined || !isInternalUrl(url)) continue;
    throw new InvalidSettingError([
      `${key}: expected an address that AWS can reach, got ${url}; for the stack of npm start give --local`,
    ]);
  }
}

/** Refuses `onGroupDeleted` without an authoritative group. @param given whether a value that changes nothing is given */
function refuseWithoutEffect(
  { mode, groups, onGroupDeleted }: Pick<ConnectionSettings, 'mode' | 'groups' | 'onGroupDeleted'>,
  given: boolean,
): void {
  const modes = [mode, ...groups.policies.map((policy) => policy.mode)];
  if (modes.includes('authoritative') || (onGroupDeleted === 'delete' && !given)) return;
  throw new InvalidSettingError([
    `onGroupDeleted: expected no value, because no group has the mode authoritative, got "${onGroupDeleted}"; the mode additive releases a deleted group, and report leaves it as it is`,
  ]);
}

/** Returns the effects of a change of settings, and changes nothing. @throws InvalidSettingError, NotFound */
export async function planSettings(
  name: ConnectionName,
  changes: readonly SettingChange[],
  ports: Pick<ToolPorts, 'connections'> & Partial<Pick<ToolPorts, 'deployment'>>,
) {
  const connection = await readableConnection(name, ports);
  const { invalid = [] } = connection;
  const left = invalid.filter((one) => !changes.some(({ key }) => `${key}.`.startsWith(`${one.key}.`)));
  if (left.length > 0) throw new InvalidSettingError(left.map(({ text }) => text));
  let next = connection.settings;
  for (const { key, value } of changes) next = applySetting(next, key, value);
  const plan = planWhole(connection, next, ports);
  const isGiven = changes.some(({ key }) => key === 'onGroupDeleted');
  refuseWithoutEffect(next, isGiven && !plan.changes.some(({ key }) => key === 'onGroupDeleted'));
  return plan;
}

/** Returns the effects of new settings, and changes nothing. @throws InvalidSettingError */
export function planWhole(
  connection: Connection,
  next: ConnectionSettings,
  { deployment }: Partial<Pick<ToolPorts, 'deployment'>>,
) {
  const differences = changedSettings(connection, next);
  const differing = differences.map(({ key }) => key);
  const requested: readonly string[] = requestedKeys(connection.settings, next);
  refuseWithoutEffect(next, false);
  const isAddress = differing.includes('baseUrl') || differing.includes('directory');
  if (deployment && isAddress) refuseLoopback(next, deployment);
  const { invalid = [] } = connection;
  return {
    connection,
    next,
    /** The settings that apply until another person has confirmed all requests. Without requests, they equal `next`. */
    effective: untilConfirmed(connection.settings, next),
    changes: differences,
    /** The changed settings that another person must confirm, because four eyes is on. */
    requested,
    /** True if every group must be planned again. False before a repair, because no group can be planned then. */
    replans: invalid.length === 0 && altersPlans(differences.filter(({ key }) => !requested.includes(key))),
    /** True if people must be refreshed, because the match rules or the included states change. */
    needsPeople: differing.includes('match') || differing.includes('includeStates'),
  };
}

/**
 * Saves settings. If plans may change, all groups are marked dirty. The requeue job wakes them after all workers have
 * noticed the change.
 * @param onDiffering called with the changes by other operators since the settings were read, which the save keeps
 * @returns how many groups are planned again, and which settings another person must confirm
 * @throws InvalidSettingError if the groups of a directory would have no source, or linked groups another kind of id
 * @throws Error if another operator has changed the same setting since
 */
export async function changeSettings(
  plan: SettingsPlan,
  ports: Omit<SettingsPorts, 'tokens'>,
  onDiffering: (meanwhile: readonly SettingDifference[]) => void = () => {},
): Promise<{ readonly replanned: number; readonly requested: readonly string[] }> {
  const { connection: read, next: settings } = plan;
  await refuseForGroups(plan, ports);
  const first = async () => {
    // What is stored about the groups of one directory would look like missing groups of another.
    if (settings.directory !== null && isReplaced(read.settings.directory, settings.directory))
      await ports.reader.forget(read.name);
  };
  const change = { read, wanted: { ...read, settings }, action: 'connections_set' as const, first };
  const { before, after } = await changeConnection(change, ports);
  onDiffering(differingSettings(read.settings, before.settings));
  if (after.settings.directory === null) await endYields({ connection: read, groups: new Map(), ports });
  const isReplanned = altersPlans(changedSettings(before, after.settings));
  return {
    replanned: isReplanned ? await replanAll(read.name, ports) : 0,
    requested: requestsBetween(before, after).map(({ reason }) => reason),
  };
}

export async function refuseForGroups(
  { connection, next }: Pick<SettingsPlan, 'connection' | 'next'>,
  ports: SourceGroupPorts & Pick<SettingsPorts, 'claims'>,
): Promise<void> {
  await refuseOwnerless(connection, next, ports);
  await refuseOtherIds(connection, next, ports);
}

/**
 * Refuses another `memberIdField` while groups are linked. Their views contain ids of the present kind, so every member
 * would be removed and added under the other id.
 * @throws InvalidSettingError
 */
async function refuseOtherIds(
  { name, company, settings }: Connection,
  next: ConnectionSettings,
  { claims }: Pick<SettingsPorts, 'claims'>,
): Promise<void> {
  if (settings.memberIdField === next.memberIdField) return;
  const { length: linked } = await claims.claimedBy(company, name);
  if (linked === 0) return;
  throw new InvalidSettingError([
    `memberIdField: expected ${settings.memberIdField} while groups are linked (${plural(linked, 'group')}), got ${next.memberIdField}; release each group first: groupsync release GROUP`,
  ]);
}

export async function listConnections(ports: SettingsPorts): Promise<readonly ConnectionRow[]> {
  const rows: ConnectionRow[] = [];
  for (const { name, company, settings, observing, invalid } of await readableConnections(
    ports.connections,
  )) {
    const { state: gate, sinceMs, reason = null } = await ports.gates.read(name);
    const since = sinceMs === undefined ? null : new Date(sinceMs).toISOString();
    const row = { name, company, baseUrl: settings.baseUrl, gate, since, reason, observing };
    rows.push(invalid ? { ...row, gate: 'invalid_settings', reason: problemsOf(invalid) } : row);
  }
  return rows.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * Removes a connection, its credential and its SCIM tokens. Its groups stay on the platform, and their desired state
 * stays in the table. Only the same company can use the name again. Its new connection then continues with the stored
 * state. The connection's item is removed last, so the command can be repeated after a crash.
 * @throws Refused under four eyes, because a new connection with this name could have no four eyes and a weaker guard
 */
export async function removeConnection(name: ConnectionName, ports: SettingsPorts) {
  const { company, settings, restoredAtMs, observing } = await requireConnection(name, ports);
  if (settings.fourEyes) throw new Refused(underFourEyes(name));
  const change = { kind: 'remove_connection', before: company, after: null, reason: 'company' };
  await recordAction(journalOf(name), { action: 'connections_remove', changes: [change] }, ports);
  const ended = { company, removedMs: ports.clock(), restoredAtMs, observing, settings };
  await ports.connections.keepName(name, ended);
  await revokeAllTokens(name, ports);
  const secretRemoved = await ports.vault.remove(name);
  await ports.connections.remove(name);
  return { secretRemoved };
}

const underFourEyes = (name: string): string =>
  `nothing was changed: four eyes is on for ${name}, and a new connection would not have it. First switch it off, which another person must confirm: groupsync connections set ${name} fourEyes=false`;

/** Settings that do not influence plans: calls to the platform and the directory, and the audit. */
const NOT_PLANNED = new Set(['baseUrl', 'concurrency', 'timeoutMs', 'activity', 'directory', 'auditReads']);

export const altersPlans = (changes: readonly SettingDifference[]): boolean =>
  changes.some(({ key }) => !NOT_PLANNED.has(key));

/** The maximum number of attempts while concurrent changes interfere. More conflicts indicate another fault. */
const MAX_RACES = 20;

type ChangeConnectionPorts = JournalPorts & Pick<ToolPorts, 'connections'>;

interface ConnectionChange {
  readonly read: Connection;
  readonly wanted: Connection;
  readonly action: OperatorAction;
  readonly first?: () => Promise<unknown>;
}

/**
 * Stores an operator's change of a connection. Changes that other operators have made to other settings are kept. If
 * another operator has changed the same setting, nothing is written. The journal records each change with the values
 * before and after.
 * @returns the connection immediately before the change, and after it
 * @throws NotFound if the connection was removed meanwhile
 * @throws Error that names the conflicting changes of another operator
 */
export async function changeConnection(change: ConnectionChange, ports: ChangeConnectionPorts) {
  const { action, read, first } = change;
  for (let race = 0; race < MAX_RACES; race += 1) {
    const before = await ports.connections.current(read.name).catch(readableOf);
    if (before === undefined) throw new NotFound(`the connection ${read.name} was removed meanwhile`);
    const { id: by } = await ports.caller();
    const merged = withRequests(before, mergedConnection(change, before), { by, atMs: ports.clock() });
    const isReplanned =
      altersPlans(changedSettings(before, merged.settings)) || before.restoredAtMs !== merged.restoredAtMs;
    const after = isReplanned ? { ...merged, replanSinceMs: ports.clock() } : merged;
    const recorded = { action, changes: changesBetween(before, after) };
    const isDone = await doRecorded(journalOf(read.name), recorded, ports, async () => {
      await first?.();
      return ports.connections.replace(after, before);
    });
    if (isDone) return { before, after };
  }
  throw new Error(`the connection ${read.name} changed ${MAX_RACES} times during this change: try again`);
}

/** @throws Error if `now` and `wanted` both have another value than `read` for the same setting */
function mergedConnection({ read, wanted }: Pick<ConnectionChange, 'read' | 'wanted'>, now: Connection) {
  const merged = mergeSettings({ read: read.settings, wanted: wanted.settings, now: now.settings });
  if (merged.conflicts.length > 0) {
    const meanwhile = merged.conflicts
      .map(({ key, before, after }) => `${key}: ${before} → ${after}`)
      .join(', ');
    throw new Error(
      `nothing was changed in ${now.name}: another operator changed the same setting meanwhile (${meanwhile}); check again: groupsync connections show ${now.name}`,
    );
  }
  const observing = wanted.observing === read.observing ? now.observing : wanted.observing;
  const { restoredAtMs, ...others } = now;
  const isRestored = restoredAtMs !== undefined && wanted.restoredAtMs === read.restoredAtMs;
  const restored = isRestored && { restoredAtMs };
  return { ...others, ...restored, settings: parseSettings(merged.settings), observing };
}

function changedSettings({ settings, invalid = [] }: Connection, after: ConnectionSettings) {
  const values: Readonly<Record<string, unknown>> = after;
  const repaired = invalid.map(({ key, value }) => ({
    key,
    before: JSON.stringify(value ?? null),
    after: JSON.stringify(values[key] ?? null),
  }));
  const others = differingSettings(settings, after);
  return [...repaired, ...others.filter(({ key }) => !repaired.some((one) => one.key === key))];
}

const instantOf = ({ restoredAtMs = 0 }: Connection): string => new Date(restoredAtMs).toISOString();

function changesBetween(before: Connection, after: Connection): readonly AuditedChange[] {
  const settings = changedSettings(before, after.settings).map(({ key, ...values }) => ({
    kind: 'set_setting',
    ...values,
    reason: key,
  }));
  const changes: AuditedChange[] = [...settings, ...requestsBetween(before, after)];
  if (before.observing !== after.observing) {
    const values = { before: String(before.observing), after: String(after.observing) };
    changes.push({ kind: 'set_observing', ...values, reason: 'observing' });
  }
  if (before.restoredAtMs !== after.restoredAtMs)
    changes.push({ kind: 'end_restore', before: instantOf(before), after: null, reason: 'restored table' });
  return changes;
}
