import type { ConnectionName } from '../domain/ids.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';
import {
  createClient,
  isActiveClient,
  listClients,
  type Rotation,
  revokeClient,
  rotateSecret,
} from '../sync/scim/clients.ts';
import type { createToken } from '../sync/scim/tokens.ts';
import { NotFound } from './find-group.ts';
import { doRecorded, type JournalPorts, journalOf, recordAction } from './journal.ts';
import { creatorOf, untilText } from './scim-tokens.ts';

type ClientPorts = JournalPorts & Pick<ToolPorts, 'tokens' | 'randomHex' | 'connections'>;

/**
 * Creates an OAuth client. The journal records it before its secret is shown.
 * @param expiresMs expiry of the secret
 * @throws Refused with four eyes (`creatorOf`)
 */
export async function issueClient(
  connection: ConnectionName,
  expiresMs: number | undefined,
  ports: ClientPorts,
): ReturnType<typeof createToken> {
  const by = await creatorOf(connection, ports);
  const made = await createClient(connection, { by, expiresMs }, ports);
  const change = {
    kind: 'create_client',
    before: null,
    after: made.kept.prefix,
    reason: untilText(expiresMs),
  };
  await recordAction(journalOf(connection), { action: 'scim_client_create', changes: [change] }, ports);
  return made;
}

/**
 * Creates another secret of an OAuth client.
 * @throws Refused with four eyes (`creatorOf`)
 * @throws NotFound if the connection has no such client, or if the client has no valid secret, because a revoked client
 * must stay revoked
 */
export async function renewClient(
  connection: ConnectionName,
  id: string,
  rotation: Rotation,
  ports: ClientPorts,
): ReturnType<typeof createToken> {
  const client = (await listClients(connection, ports)).find((one) => one.id === id);
  if (client === undefined || !isActiveClient(client)) {
    const what = client === undefined ? 'no OAuth client' : 'no active secret of OAuth client';
    throw new NotFound(
      `connection ${connection} has ${what} ${id}; create one: groupsync scim client create`,
    );
  }
  const by = await creatorOf(connection, ports);
  const made = await rotateSecret(connection, id, { ...rotation, by }, ports);
  const reason = `${untilText(rotation.expiresMs)}; earlier secrets expire by ${new Date(rotation.previousEndMs).toISOString()}`;
  const change = { kind: 'rotate_client', before: id, after: made.kept.prefix, reason };
  await recordAction(journalOf(connection), { action: 'scim_client_rotate', changes: [change] }, ports);
  return made;
}

/** Revokes an OAuth client immediately. @returns false if the connection has no such client */
export async function withdrawClient(
  connection: ConnectionName,
  id: string,
  ports: JournalPorts & Pick<ToolPorts, 'tokens'>,
): Promise<boolean> {
  // A text that is not the id of a client may be a secret by mistake. So it must not be recorded.
  if (!(await listClients(connection, ports)).some((client) => client.id === id)) return false;
  const change = { kind: 'revoke_client', before: id, after: null, reason: 'ends at once' };
  const action = { action: 'scim_client_revoke' as const, changes: [change] };
  return doRecorded(journalOf(connection), action, ports, () => revokeClient(connection, id, ports));
}
