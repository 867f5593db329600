import type { ConnectionName } from '../domain/ids.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';
import { createToken, revokeToken, type TokenSummary } from '../sync/scim/tokens.ts';
import { doRecorded, type JournalPorts, journalOf, recordAction } from './journal.ts';
import { instant } from './status.ts';

/** Creates a token for an operator. The journal records it before it is shown. */
export async function issueToken(
  connection: ConnectionName,
  expiresMs: number | undefined,
  ports: JournalPorts & Pick<ToolPorts, 'tokens' | 'randomHex'>,
): ReturnType<typeof createToken> {
  const { id: by } = await ports.caller();
  const made = await createToken(connection, ports, { by, expiresMs });
  const until =
    expiresMs === undefined ? 'until it is revoked' : `until ${new Date(expiresMs).toISOString()}`;
  const change = { kind: 'create_token', before: null, after: made.kept.prefix, reason: until };
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
