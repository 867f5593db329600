import { createHash, timingSafeEqual } from 'node:crypto';
import type { ConnectionName } from '../../domain/ids.ts';
import type { Ports } from '../../sync/ports/bundles.ts';
import type { ScimToken } from '../ports.ts';

type TokenPorts = Pick<Ports, 'tokens' | 'clock'>;

/**
 * `gsync_<kind>_<8>_<64>`: a product name, a kind, an identifying prefix and a secret (256 bits). The kinds are:
 * `scim`, a bearer token; `client`, the secret of an OAuth client; `access`, an access token with its secret's prefix.
 */
const BEARER_FORM = /^gsync_(?:scim|access)_([0-9a-f]{8})_[0-9a-f]{64}$/;
const ACCESS_MARK = 'gsync_access_';
const NOTED_EVERY_MS = 3_600_000;
const MAX_TRIES = 10;

export const prefixOf = (token: string): string | undefined => BEARER_FORM.exec(token)?.[1];

export const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');

export interface Creation {
  /** The person who creates the token; undefined for a token of a local stack or test. */
  readonly by?: string | undefined;
  /** Whether the token is not valid until a second person confirms its creation. */
  readonly isRequested?: boolean;
  /** The expiry in milliseconds since 1970; undefined if the token never expires. */
  readonly expiresMs?: number | undefined;
  /**
   * The OAuth client of the secret. `new` makes a client with the secret's prefix as id. Undefined for a bearer token.
   */
  readonly client?: string | undefined;
  /** See `ScimToken`. */
  readonly previousForMs?: number | undefined;
}

/** Creates a token for a connection. Only its hash is stored. */
export async function createToken(
  connection: ConnectionName,
  { tokens, clock, randomHex }: TokenPorts & Pick<Ports, 'randomHex'>,
  { by, isRequested, client, ...times }: Creation = {},
): Promise<{ readonly token: string; readonly kept: ScimToken }> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const prefix = randomHex(4);
    const token = `gsync_${client === undefined ? 'scim' : 'client'}_${prefix}_${randomHex(32)}`;
    const kept: ScimToken = {
      prefix,
      connection,
      hash: hashOf(token),
      createdMs: clock(),
      ...times,
      creators: by === undefined ? undefined : [by],
      isRequested: isRequested || undefined,
      client: client === NEW_CLIENT ? prefix : client,
    };
    if (await tokens.add(kept)) return { token, kept };
  }
  throw new Error(`no unused token prefix found in ${MAX_TRIES} tries`);
}

/** The value of `client` for a new client. No client has this id, because ids are eight hexadecimal digits. */
export const NEW_CLIENT = 'new';

export interface TokenSummary extends Omit<ScimToken, 'hash' | 'connection'> {
  readonly state: 'active' | 'requested' | 'expired' | 'revoked';
}

/** Returns bearer tokens and secrets of OAuth clients, oldest first. */
export async function listTokens(connection: ConnectionName, { tokens, clock }: TokenPorts) {
  const nowMs = clock();
  const kept = await tokens.list(connection);
  return kept
    .map(({ hash: _hash, connection: _connection, ...token }) => ({ ...token, state: stateOf(token, nowMs) }))
    .toSorted((a, b) => a.createdMs - b.createdMs || (a.prefix < b.prefix ? -1 : 1));
}

export const stateOf = (
  { revokedMs, expiresMs, isRequested }: Omit<ScimToken, 'hash' | 'connection'>,
  nowMs: number,
): TokenSummary['state'] => {
  if (revokedMs !== undefined) return 'revoked';
  if (expiresMs !== undefined && expiresMs <= nowMs) return 'expired';
  return isRequested ? 'requested' : 'active';
};

/** Revokes all tokens of a removed connection. Otherwise its clients could use a later connection of the same name. */
export async function revokeAllTokens(connection: ConnectionName, { tokens, clock }: TokenPorts) {
  for (const { prefix } of await tokens.list(connection)) await tokens.revoke(connection, prefix, clock());
}

/** The hash for an unknown prefix, so that the check takes the same time as for a wrong secret. */
const NO_HASH = hashOf('');

/** Returns whether a token has this hash, in constant time. */
export const matchesHash = (token: string, hash: string | undefined): boolean =>
  timingSafeEqual(Buffer.from(hashOf(token)), Buffer.from(hash ?? NO_HASH));

/**
 * Returns the stored token with its connection, even if it has expired or was revoked (`recordUse`); undefined if the
 * token is unknown or wrong. For an access token, the result is the client secret for which it was issued.
 */
export async function knownToken(token: string, ports: TokenPorts): Promise<ScimToken | undefined> {
  const prefix = prefixOf(token);
  if (prefix === undefined) return undefined;
  const found = token.startsWith(ACCESS_MARK)
    ? await secretOfAccess(token, prefix, ports)
    : await ports.tokens.find(prefix);
  const isSame = token.startsWith(ACCESS_MARK) || matchesHash(token, found?.hash);
  return isSame ? found : undefined;
}

async function secretOfAccess(token: string, prefix: string, { tokens, clock }: TokenPorts) {
  const { access, secret } = await tokens.findAccess(prefix, hashOf(token));
  const isGood = matchesHash(token, access?.hash) && access !== undefined && access.expiresMs > clock();
  return isGood ? secret : undefined;
}

/**
 * Records the use of a token, at most once an hour.
 * @returns undefined if the token has expired or was revoked
 */
export async function recordUse(found: ScimToken, { tokens, clock }: TokenPorts) {
  const nowMs = clock();
  if (stateOf(found, nowMs) !== 'active') return undefined;
  if ((found.lastUsedMs ?? 0) < nowMs - NOTED_EVERY_MS) {
    await tokens.noteUse(found.prefix, { atMs: nowMs, unlessSinceMs: nowMs - NOTED_EVERY_MS });
  }
  return found;
}
