import { isOfConsole } from '../../contract/person.ts';
import type { ConnectionName } from '../../domain/ids.ts';
import {
  type Action,
  doRecorded,
  type JournalPorts,
  journalOf,
  recordAction,
} from '../../operate/journal.ts';
import { NotFound } from '../../operate/names.ts';
import { requireConnection } from '../../operate/settings.ts';
import { instant } from '../../operate/status.ts';
import type { ToolPorts } from '../../sync/ports/bundles.ts';
import { listClients, type Rotation, rotateSecret } from '../tokens/clients.ts';
import { type Creation, createToken, NEW_CLIENT, type TokenSummary } from '../tokens/tokens.ts';

type CreatorPorts = JournalPorts & Pick<ToolPorts, 'tokens' | 'randomHex' | 'connections'>;

/**
 * Creates a token or a secret, and records it before it is shown. With four eyes, an administrator of the console
 * creates it, because its client can remove members. The console checks the role. The token of another person is not
 * valid until a second person confirms it.
 */
async function makeAsCaller(
  connection: ConnectionName,
  action: Pick<Action, 'action'> & {
    readonly kind: string;
    readonly before: string | null;
    readonly reason: string;
  },
  make: (creation: Pick<Creation, 'by' | 'isRequested'>) => ReturnType<typeof createToken>,
  ports: CreatorPorts,
): ReturnType<typeof createToken> {
  const { id: by } = await ports.caller();
  const before = await requireConnection(connection, ports);
  const isRequested = before.settings.fourEyes && !isOfConsole(by);
  const made = await make({ by, isRequested });
  const { action: name, ...change } = action;
  const { prefix } = made.kept;
  const changes = [{ ...change, after: prefix }];
  await recordAction(journalOf(connection), { action: name, changes }, ports);
  if (isRequested) {
    const asked = { key: 'scim_token' as const, value: prefix, by, atMs: ports.clock() };
    const requests = [...(before.requests ?? []), asked];
    if (!(await ports.connections.replace({ ...before, requests }, before)))
      throw new Error(`the connection ${connection} changed meanwhile: try again`);
  }
  return made;
}

const untilText = (expiresMs: number | undefined): string =>
  expiresMs === undefined ? 'until it is revoked' : `until ${new Date(expiresMs).toISOString()}`;

/** Creates a token, or a client with its first secret. `expiresMs` is the expiry of the token or secret. */
export const issueToken = (
  connection: ConnectionName,
  expiresMs: number | undefined,
  ports: CreatorPorts,
  kind: 'token' | 'client' = 'token',
) =>
  makeAsCaller(
    connection,
    { action: `scim_${kind}_create`, kind: `create_${kind}`, before: null, reason: untilText(expiresMs) },
    (creation) =>
      createToken(connection, ports, {
        ...creation,
        expiresMs,
        client: kind === 'client' ? NEW_CLIENT : undefined,
      }),
    ports,
  );

type RevokerPorts = JournalPorts & Pick<ToolPorts, 'tokens' | 'connections'>;

/** Revokes a token, or the secrets of a client, and ends the requests to confirm them. */
async function revokeAll(
  name: ConnectionName,
  { kind, id, prefixes }: { kind: 'token' | 'client'; id: string; prefixes: readonly string[] },
  ports: RevokerPorts,
): Promise<boolean> {
  const changes = [{ kind: `revoke_${kind}`, before: id, after: null, reason: 'ends at once' }];
  return doRecorded(journalOf(name), { action: `scim_${kind}_revoke`, changes }, ports, async () => {
    for (const prefix of prefixes) await ports.tokens.revoke(name, prefix, ports.clock());
    const read = await ports.connections.current(name);
    const { requests = [] } = read ?? {};
    const left = requests.filter(({ value }) => !prefixes.some((prefix) => prefix === value));
    if (read === undefined || left.length === requests.length) return true;
    if (await ports.connections.replace({ ...read, requests: left }, read)) return true;
    throw new Error(`the connection ${name} changed meanwhile: revoke ${id} again, so that its request ends`);
  });
}

/** Revokes a token immediately. @returns false if the connection has no token with that prefix */
export async function withdrawToken(connection: ConnectionName, prefix: string, ports: RevokerPorts) {
  // A text that is not the prefix of a token may be a whole token by mistake. So it must not be recorded.
  if ((await ports.tokens.find(prefix))?.connection !== connection) return false;
  return revokeAll(connection, { kind: 'token', id: prefix, prefixes: [prefix] }, ports);
}

export const tokenRow = ({ prefix, client, state, ...token }: TokenSummary) => ({
  prefix,
  client: client ?? null,
  state,
  createdAt: instant(token.createdMs),
  expiresAt: instant(token.expiresMs),
  revokedAt: instant(token.revokedMs),
  lastUsedAt: instant(token.lastUsedMs),
});

/**
 * Creates another secret of an OAuth client.
 * @throws NotFound if the connection has no such client, or if the client has no valid secret, because a revoked client
 * must stay revoked
 */
export async function renewClient(
  connection: ConnectionName,
  id: string,
  rotation: Rotation,
  ports: CreatorPorts,
): ReturnType<typeof createToken> {
  const client = (await listClients(connection, ports)).find((one) => one.id === id);
  if (!client?.secrets.some(({ state }) => state === 'active')) {
    const what = client === undefined ? 'no OAuth client' : 'no active secret of OAuth client';
    throw new NotFound(
      `connection ${connection} has ${what} ${id}; create one: groupsync scim client create`,
    );
  }
  const reason = `${untilText(rotation.expiresMs)}; earlier secrets expire ${rotation.previousForMs / 60_000} minutes after it becomes valid`;
  return makeAsCaller(
    connection,
    { action: 'scim_client_rotate', kind: 'rotate_client', before: id, reason },
    (creation) => rotateSecret(connection, id, { ...rotation, ...creation }, ports),
    ports,
  );
}

/** Revokes an OAuth client immediately. @returns false if the connection has no such client */
export async function withdrawClient(connection: ConnectionName, id: string, ports: RevokerPorts) {
  // A text that is not the id of a client may be a secret by mistake. So it must not be recorded.
  const client = (await listClients(connection, ports)).find((one) => one.id === id);
  const prefixes = client?.secrets.map(({ prefix }) => prefix);
  return prefixes !== undefined && revokeAll(connection, { kind: 'client', id, prefixes }, ports);
}
