import type { ConnectionRow } from '../contract/answers.ts';
import {
  applySetting,
  differingSettings,
  InvalidSettingError,
  type SettingDifference,
} from '../contract/change-setting.ts';
import { type ConnectionSettings, isLoopbackUrl } from '../contract/settings.ts';
import type { ConnectionName } from '../domain/ids.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';
import type { Connection, ConnectionStore } from '../sync/ports/connections.ts';
import { revokeAllTokens } from '../sync/scim/tokens.ts';
import { replanAll } from '../sync/wake.ts';
import { altersPlans, changeConnection } from './change-connection.ts';
import { NotFound } from './find-group.ts';
import { type JournalPorts, journalOf, recordDeed } from './journal.ts';

export type SettingsPorts = JournalPorts &
  Pick<ToolPorts, 'connections' | 'gates' | 'index' | 'desired' | 'vault' | 'tokens'>;

export interface SettingChange {
  readonly key: string;
  readonly value: unknown;
}

export interface SettingsPlan {
  readonly connection: Connection;
  readonly next: ConnectionSettings;
  readonly changes: readonly SettingDifference[];
  /** Every group is planned anew. */
  readonly replans: boolean;
  /** The people index lacks what the new rules compare, until it is refreshed. */
  readonly needsPeople: boolean;
}

/** @throws NotFound */
export async function requireConnection(
  name: ConnectionName,
  { connections }: { readonly connections: Pick<ConnectionStore, 'find'> },
): Promise<Connection> {
  const connection = await connections.find(name);
  if (connection === undefined) {
    const list = 'those there are: groupsync connections';
    throw new NotFound(`there is no connection ${name}; to make it: groupsync connect ${name}\n${list}`);
  }
  return connection;
}

/**
 * A deployed function that is given an address of its own machine would send the credential to whatever listens there.
 * @throws InvalidSettingError
 */
export function refuseLoopback(
  { baseUrl }: ConnectionSettings,
  { allowsLoopback }: Pick<ToolPorts['deployment'], 'allowsLoopback'>,
): void {
  if (allowsLoopback || !isLoopbackUrl(baseUrl)) return;
  throw new InvalidSettingError([
    `baseUrl: expected an address that AWS can reach, got ${baseUrl}; for the stack of npm start give --local`,
  ]);
}

/** What changing settings would do. @throws InvalidSettingError, NotFound */
export async function planSettings(
  name: ConnectionName,
  changes: readonly SettingChange[],
  ports: Pick<ToolPorts, 'connections'> & Partial<Pick<ToolPorts, 'deployment'>>,
): Promise<SettingsPlan> {
  const connection = await requireConnection(name, ports);
  const next = changes.reduce(
    (settings, { key, value }) => applySetting(settings, key, value),
    connection.settings,
  );
  const differences = differingSettings(connection.settings, next);
  const differing = differences.map(({ key }) => key);
  if (ports.deployment && differing.includes('baseUrl')) refuseLoopback(next, ports.deployment);
  return {
    connection,
    next,
    changes: differences,
    replans: altersPlans(differences),
    needsPeople: differing.includes('match') || differing.includes('includeStates'),
  };
}

/**
 * Saves settings, and marks every group dirty where plans may differ now. The pump wakes the groups once all workers
 * have noticed the change.
 * @param tell what somebody else has changed since the plan was made; it stays
 * @returns how many groups are planned anew
 * @throws Error where somebody else has changed the same setting since
 */
export async function changeSettings(
  plan: SettingsPlan,
  ports: Omit<SettingsPorts, 'tokens'>,
  tell: (meanwhile: readonly SettingDifference[]) => void = () => {},
): Promise<number> {
  const { connection: read, next: settings } = plan;
  const change = { read, wanted: { ...read, settings }, action: 'connections_set' };
  const { before, after } = await changeConnection(change, ports);
  tell(differingSettings(read.settings, before.settings));
  return plan.replans ? replanAll(read.name, after.replanSinceMs, ports) : 0;
}

export async function listConnections(ports: SettingsPorts): Promise<readonly ConnectionRow[]> {
  const rows: ConnectionRow[] = [];
  for (const { name, company, settings, observing } of await ports.connections.list()) {
    const { state: gate, sinceMs, reason = null } = await ports.gates.read(name);
    const since = sinceMs === undefined ? null : new Date(sinceMs).toISOString();
    rows.push({ name, company, baseUrl: settings.baseUrl, gate, since, reason, observing });
  }
  return rows.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * Forgets a connection, its credential and its SCIM tokens. Its groups stay on the platform as they are, and what the
 * directory said of them stays in the table: connecting the same company again under the same name goes on from there.
 * No other company may have the name. The connection itself goes last, so that after a crash the command can be repeated.
 */
export async function removeConnection(name: ConnectionName, ports: SettingsPorts) {
  const { company } = await requireConnection(name, ports);
  const change = { kind: 'remove_connection', before: company, after: null, reason: 'company' };
  await recordDeed(journalOf(name), { action: 'connections_remove', changes: [change] }, ports);
  await ports.connections.keepName(name, company, { removedMs: ports.clock() });
  await revokeAllTokens(name, ports);
  const secretRemoved = await ports.vault.remove(name);
  await ports.connections.remove(name);
  return { secretRemoved };
}
