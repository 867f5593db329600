import { differingSettings } from '../../contract/change-setting.ts';
import type { ConnectionSettings } from '../../contract/settings.ts';
import { REOPENED_GATE } from '../../domain/gate.ts';
import type { ConnectionName } from '../../domain/ids.ts';
import { revokeAllTokens } from '../../scim/tokens/tokens.ts';
import { writeGate } from '../../sync/gate.ts';
import type { ToolPorts } from '../../sync/ports/bundles.ts';
import type { Connection } from '../../sync/ports/connections.ts';
import { replanAll } from '../../sync/wake.ts';
import { doRecorded, type JournalPorts, journalOf } from '../journal.ts';
import { changeConnection, type SettingsPorts } from '../settings.ts';

type ConnectPorts = JournalPorts &
  Pick<SettingsPorts, 'index' | 'desired'> &
  Pick<ToolPorts, 'connections' | 'gates' | 'vault' | 'health' | 'tokens'>;

interface ConnectRequest {
  readonly name: ConnectionName;
  readonly company: string;
  readonly settings: ConnectionSettings;
  readonly token: string;
  /** True if the connection only plans, and writes nothing until an operator resumes it. */
  readonly observing: boolean;
  /** The stored connection from which the new settings were made; undefined for a new connection. */
  readonly known: Connection | undefined;
}

/**
 * Stores an accepted credential, and then the connection that uses it, so a connection never exists without its secret.
 * An existing connection gets the new credential and settings. The credential counts as checked now. If the gate was
 * closed because of a failure, it opens.
 * @returns how many groups will be planned again
 * @throws Error if the name belongs to another company, or if another operator has connected the same name or changed
 * the same setting
 */
export async function storeConnection(request: ConnectRequest, ports: ConnectPorts): Promise<number> {
  const { name, company } = request;
  const owner = await ports.connections.companyOf(name);
  if (owner !== undefined && owner !== company) throw new Error(keptFor(name, owner));
  const changed =
    request.known === undefined
      ? await connectNew(request, ports)
      : await reconnect(request.known, request, ports);
  const gate = await ports.gates.read(name);
  // Only an operator ends an operator's pause, with `resume`.
  if (gate.state === 'unauthorized' || gate.state === 'backoff')
    await writeGate(name, gate, REOPENED_GATE, ports);
  const nowMs = ports.clock();
  await ports.health.write(name, { goodAtMs: nowMs });
  return changed === undefined ? 0 : replanAll(name, ports);
}

export const keptFor = (name: ConnectionName, company: string): string =>
  `the name ${name} is reserved for the company ${company}, whose groups and people are stored under this name`;

async function connectNew(request: ConnectRequest, ports: ConnectPorts): Promise<Connection> {
  const { name, company, settings, token, observing } = request;
  const nowMs = ports.clock();
  const made = { name, company, settings, observing, connectedMs: nowMs, replanSinceMs: nowMs };
  const change = { kind: 'connect', before: null, after: company, reason: 'company' };
  const action = { action: 'connect' as const, changes: [change] };
  const isFree = (await ports.connections.current(name)) === undefined;
  const make = async () => {
    // A SCIM token that was created during the removal of the connection may still be stored. Reconnecting must not
    // make this token valid.
    await revokeAllTokens(name, ports);
    await ports.vault.store(name, token);
    return ports.connections.replace(made, undefined);
  };
  if (isFree && (await doRecorded(journalOf(name), action, ports, make))) return made;
  throw new Error(
    `another operator connected ${name} meanwhile; check it: groupsync connections show ${name}`,
  );
}

/** @returns undefined if the new settings equal the stored settings */
async function reconnect(read: Connection, request: ConnectRequest, ports: ConnectPorts) {
  const { name, settings, token, observing } = request;
  const wanted = { ...read, settings, observing };
  const first = () => ports.vault.store(name, token);
  const change = { read, wanted, action: 'reconnect' as const, first };
  const { before, after } = await changeConnection(change, ports);
  return differingSettings(before.settings, after.settings).length === 0 ? undefined : after;
}
