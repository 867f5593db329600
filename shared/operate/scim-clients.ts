import type { ConnectionName } from '../domain/ids.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';
import {
  isActiveClient,
  listClients,
  type Rotation,
  revokeClient,
  rotateSecret,
} from '../sync/scim/clients.ts';
import { createToken, NEW_CLIENT } from '../sync/scim/tokens.ts';
import { NotFound } from './find-group.ts';
import { doRecorded, type JournalPorts, journalOf } from './journal.ts';
import { type issueToken, makeAsCaller, untilText } from './scim-tokens.ts';

type ClientPorts = Parameters<typeof issueToken>[2];

/** Creates an OAuth client. `expiresMs` is the expiry of its secret. */
export const issueClient = (connection: ConnectionName, expiresMs: number | undefined, ports: ClientPorts) =>
  makeAsCaller(
    connection,
    { action: 'scim_client_create', kind: 'create_client', before: null, reason: untilText(expiresMs) },
    (creation) => createToken(connection, ports, { ...creation, expiresMs, client: NEW_CLIENT }),
    ports,
  );

/**
 * Creates another secret of an OAuth client.
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
  const reason = `${untilText(rotation.expiresMs)}; earlier secrets expire by ${new Date(rotation.previousEndMs).toISOString()}`;
  return makeAsCaller(
    connection,
    { action: 'scim_client_rotate', kind: 'rotate_client', before: id, reason },
    (creation) => rotateSecret(connection, id, { ...rotation, ...creation }, ports),
    ports,
  );
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
