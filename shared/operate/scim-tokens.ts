import { isOfConsole } from '../contract/person.ts';
import type { ConnectionName } from '../domain/ids.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';
import type { Connections } from '../sync/ports/connections.ts';
import { createToken, revokeToken, type TokenSummary } from '../sync/scim/tokens.ts';
import { doRecorded, type JournalPorts, journalOf, recordAction } from './journal.ts';
import { Refused } from './refused.ts';
import { instant } from './status.ts';

type CreatorPorts = Pick<JournalPorts, 'caller'> & { readonly connections: Pick<Connections, 'find'> };

/**
 * Returns the person who creates a token or the secret of a client. With four eyes, only an administrator of the console
 * may create one, because its client can remove members. The console checks the role.
 * @throws Refused
 */
export async function creatorOf(connection: ConnectionName, ports: CreatorPorts): Promise<string> {
  const { id } = await ports.caller();
  const { settings } = (await ports.connections.find(connection)) ?? {};
  if (settings?.fourEyes && !isOfConsole(id)) throw new Refused(onlyInConsole(connection));
  return id;
}

const onlyInConsole = (name: string): string =>
  `nothing was created: four eyes is on for ${name}, and a SCIM client can remove members. An administrator creates a token in the console (page Connection). Without a console, first switch four eyes off, which another person must confirm: groupsync connections set ${name} fourEyes=false`;

export const untilText = (expiresMs: number | undefined): string =>
  expiresMs === undefined ? 'until it is revoked' : `until ${new Date(expiresMs).toISOString()}`;

/**
 * Creates a token for an operator. The journal records it before it is shown.
 * @throws Refused with four eyes, unless an administrator creates it in the console
 */
export async function issueToken(
  connection: ConnectionName,
  expiresMs: number | undefined,
  ports: JournalPorts & CreatorPorts & Pick<ToolPorts, 'tokens' | 'randomHex'>,
): ReturnType<typeof createToken> {
  const by = await creatorOf(connection, ports);
  const made = await createToken(connection, ports, { by, expiresMs });
  const reason = untilText(expiresMs);
  const change = { kind: 'create_token', before: null, after: made.kept.prefix, reason };
  await recordAction(journalOf(connection), { action: 'scim_token_create', changes: [change] }, ports);
  return made;
}

/** Revokes a token immediately. @returns false if the connection has no token with that prefix */
export async function withdrawToken(
  connection: ConnectionName,
  prefix: string,
  ports: JournalPorts & Pick<ToolPorts, 'tokens'>,
): Promise<boolean> {
  // A text that is not the prefix of a token may be a whole token by mistake. So it must not be recorded.
  if ((await ports.tokens.find(prefix))?.connection !== connection) return false;
  const change = { kind: 'revoke_token', before: prefix, after: null, reason: 'ends at once' };
  const action = { action: 'scim_token_revoke' as const, changes: [change] };
  return doRecorded(journalOf(connection), action, ports, () => revokeToken(connection, prefix, ports));
}

export const tokenRow = ({
  prefix,
  client,
  state,
  createdMs,
  expiresMs,
  revokedMs,
  lastUsedMs,
}: TokenSummary) => ({
  prefix,
  client: client ?? null,
  state,
  createdAt: instant(createdMs),
  expiresAt: instant(expiresMs),
  revokedAt: instant(revokedMs),
  lastUsedAt: instant(lastUsedMs),
});
