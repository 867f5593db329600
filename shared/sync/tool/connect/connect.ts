import type { ConnectionSettings } from '../../../contract/settings.ts';
import { OPEN_GATE } from '../../../domain/gate.ts';
import type { ConnectionName } from '../../../domain/ids.ts';
import type { ConnectionStore } from '../../ports/connections.ts';
import type { GateStore } from '../../ports/gate.ts';
import type { HealthStore } from '../../ports/health.ts';
import { type JournalPorts, journalOf, recordDeed } from '../journal.ts';
import type { CredentialVault } from '../ports.ts';
import { replanAll, type SettingsPorts } from '../settings.ts';

export interface ConnectPorts extends JournalPorts, Pick<SettingsPorts, 'index' | 'desired'> {
  readonly connections: ConnectionStore;
  readonly gates: GateStore;
  readonly vault: CredentialVault;
  readonly health: Pick<HealthStore, 'write'>;
}

export interface ConnectRequest {
  readonly name: ConnectionName;
  readonly company: string;
  readonly settings: ConnectionSettings;
  readonly token: string;
  /** Plan only, write nothing, until a person resumes. */
  readonly observing: boolean;
  readonly by: string;
}

/**
 * Stores a credential that was just found good, and the connection that uses it, in this order: a connection never waits
 * for a secret. Making it again replaces both; a gate that was closed for the old credential's sake is opened for the
 * new one, and what the daily check said of the old one is forgotten.
 * @returns how many groups will be planned anew
 */
export async function storeConnection(request: ConnectRequest, ports: ConnectPorts): Promise<number> {
  const { name, company, settings, token, observing, by } = request;
  const known = await ports.connections.find(name);
  const deed = { action: known === undefined ? 'connect' : 'reconnect', changes: [], cause: by };
  await recordDeed(journalOf(name), deed, ports);
  await ports.vault.store(name, token);
  await ports.connections.save({ name, company, settings, observing });
  const gate = await ports.gates.read(name);
  // A pause is a person's, and stays; a person ends it with `resume`.
  if (gate.state === 'unauthorized' || gate.state === 'backoff')
    await ports.gates.write(name, gate, OPEN_GATE);
  const nowMs = ports.clock();
  await ports.health.write(name, { checkedAtMs: nowMs, goodAtMs: nowMs });
  const isSame = known !== undefined && JSON.stringify(known.settings) === JSON.stringify(settings);
  return isSame ? 0 : replanAll(name, ports);
}
