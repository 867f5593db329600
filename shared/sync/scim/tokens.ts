import { createHash, timingSafeEqual } from 'node:crypto';
import type { ConnectionName } from '../../domain/ids.ts';
import type { Ports } from '../ports/bundles.ts';
import type { ScimToken } from '../ports/scim.ts';

type TokenPorts = Pick<Ports, 'tokens' | 'clock'>;

/** `gsync_scim_<8>_<64>`: names us to whoever finds it, then tells tokens apart, then is secret (256 bits). */
const TOKEN_FORM = /^gsync_scim_([0-9a-f]{8})_[0-9a-f]{64}$/;
const NOTED_EVERY_MS = 3_600_000;
const MAX_TRIES = 10;

/** What a token is named by, where it has the form of one. */
export const prefixOf = (token: string): string | undefined => TOKEN_FORM.exec(token)?.[1];

export const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');

/**
 * Makes a token for a connection. It is returned once and kept nowhere; what is kept is its hash.
 * @param expiresMs end of its life, in milliseconds since 1970; undefined for none
 */
export async function createToken(
  connection: ConnectionName,
  { tokens, clock, randomHex }: TokenPorts & Pick<Ports, 'randomHex'>,
  { expiresMs }: { readonly expiresMs?: number | undefined } = {},
): Promise<{ readonly token: string; readonly kept: ScimToken }> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const prefix = randomHex(4);
    const token = `gsync_scim_${prefix}_${randomHex(32)}`;
    const kept: ScimToken = {
      prefix,
      connection,
      hash: hashOf(token),
      createdMs: clock(),
      ...(expiresMs === undefined ? {} : { expiresMs }),
    };
    if (await tokens.add(kept)) return { token, kept };
  }
  throw new Error(`found no free prefix in ${MAX_TRIES} tries`);
}

/** A token as a person may see it: neither secret nor hash. */
export interface TokenSummary extends Omit<ScimToken, 'hash' | 'connection'> {
  readonly state: 'active' | 'expired' | 'revoked';
}

/** Oldest first. */
export async function listTokens(
  connection: ConnectionName,
  { tokens, clock }: TokenPorts,
): Promise<readonly TokenSummary[]> {
  const nowMs = clock();
  const kept = await tokens.list(connection);
  return kept
    .map(({ hash: _hash, connection: _connection, ...token }) => ({ ...token, state: stateOf(token, nowMs) }))
    .toSorted((a, b) => a.createdMs - b.createdMs || (a.prefix < b.prefix ? -1 : 1));
}

const stateOf = (
  { revokedMs, expiresMs }: Omit<ScimToken, 'hash' | 'connection'>,
  nowMs: number,
): TokenSummary['state'] => {
  if (revokedMs !== undefined) return 'revoked';
  return expiresMs !== undefined && expiresMs <= nowMs ? 'expired' : 'active';
};

/** Ends a token at once. @returns false where the connection has none of that prefix */
export const revokeToken = (connection: ConnectionName, prefix: string, { tokens, clock }: TokenPorts) =>
  tokens.revoke(connection, prefix, clock());

/** Ends every token of a connection: nobody who was let in before is let in again under its name. */
export async function revokeAllTokens(connection: ConnectionName, { tokens, clock }: TokenPorts) {
  for (const { prefix } of await tokens.list(connection)) await tokens.revoke(connection, prefix, clock());
}

/** Told from then on: long enough for a person to make another token and paste it before this one ends. */
export const ENDS_SOON_MS = 14 * 86_400_000;

/** Compared where there is no token, so that an unknown prefix takes as long as a wrong secret. */
const NO_HASH = hashOf('');

/**
 * The token, with whose it is; undefined for one that is unknown, wrong, expired or revoked, without saying which. Notes the
 * use, to the hour.
 */
export async function validToken(token: string, { tokens, clock }: TokenPorts) {
  const prefix = prefixOf(token);
  const found = prefix === undefined ? undefined : await tokens.find(prefix);
  const isSame = timingSafeEqual(Buffer.from(hashOf(token)), Buffer.from(found?.hash ?? NO_HASH));
  const nowMs = clock();
  if (found === undefined || !isSame || stateOf(found, nowMs) !== 'active') return undefined;
  if ((found.lastUsedMs ?? 0) < nowMs - NOTED_EVERY_MS) {
    await tokens.noteUse(found.prefix, { atMs: nowMs, unlessSinceMs: nowMs - NOTED_EVERY_MS });
  }
  return found;
}
