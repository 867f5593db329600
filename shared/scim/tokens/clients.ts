import { grouped } from '../../domain/grouped.ts';
import type { ConnectionName } from '../../domain/ids.ts';
import type { Ports } from '../../sync/ports/bundles.ts';
import type { ScimToken } from '../ports.ts';
import { type Creation, createToken, hashOf, listTokens, matchesHash, recordUse } from './tokens.ts';

/*
 * An OAuth client is a set of secrets with one id. Each secret is stored like a bearer token, together with the
 * client's id:
 *
 *     secret ──▶ token endpoint ──▶ access token ──▶ SCIM request ──▶ are the access token and its secret valid?
 *
 * A SCIM request with an access token reads both, so access tokens become invalid together with their secret.
 */

type TokenPorts = Pick<Ports, 'tokens' | 'clock'>;
type MakingPorts = TokenPorts & Pick<Ports, 'randomHex'>;

/** The lifetime of an access token. There is no refresh token (RFC 6749 section 4.4.3). */
const ACCESS_SECONDS = 3_600;

const SECRET_FORM = /^gsync_client_([0-9a-f]{8})_[0-9a-f]{64}$/;

/** Returns the clients, oldest first. */
export async function listClients(connection: ConnectionName, ports: TokenPorts) {
  const clients = grouped(await listTokens(connection, ports), ({ client }) => client);
  return [...clients].map(([id, secrets]) => ({ id, secrets }));
}

export interface Rotation extends Pick<Creation, 'by' | 'isRequested'> {
  /** The expiry of the new secret, in milliseconds since 1970; undefined if the secret never expires. */
  readonly expiresMs: number | undefined;
  /** The earlier secrets expire this long after the new secret becomes valid, unless they expire before. */
  readonly previousForMs: number;
}

/**
 * Creates a further secret for a client. Earlier secrets and access tokens then begin to expire. If the new secret needs
 * a confirmation, they stay until then.
 */
export async function rotateSecret(
  connection: ConnectionName,
  id: string,
  rotation: Rotation,
  ports: MakingPorts,
): ReturnType<typeof createToken> {
  const made = await createToken(connection, ports, { ...rotation, client: id });
  if (rotation.isRequested !== true) await endEarlier(made.kept, ports);
  return made;
}

/** Makes a requested token or secret valid. The earlier secrets of its client then begin to expire. */
export async function confirmToken(
  connection: ConnectionName,
  prefix: string,
  by: string,
  ports: TokenPorts,
): Promise<void> {
  await ports.tokens.confirm(connection, prefix, by);
  const made = await ports.tokens.find(prefix);
  if (made !== undefined && made.revokedMs === undefined) await endEarlier(made, ports);
}

/** Only secrets that were created before this one expire. */
async function endEarlier(own: ScimToken, ports: TokenPorts) {
  const { connection, client, previousForMs } = own;
  if (client === undefined || previousForMs === undefined) return;
  const untilMs = ports.clock() + previousForMs;
  for (const one of await listTokens(connection, ports)) {
    const isEarlier = one.prefix !== own.prefix && one.createdMs <= own.createdMs;
    if (one.client === client && isEarlier && one.state === 'active')
      await ports.tokens.endBy(connection, one.prefix, untilMs);
  }
}

/**
 * Returns the stored secret with its connection, and records its use. The result is undefined if the secret is unknown,
 * wrong, expired, revoked or of another client. It does not show which of these is the reason.
 */
export async function validSecret(
  { id, secret }: { readonly id: string; readonly secret: string },
  ports: TokenPorts,
): Promise<ScimToken | undefined> {
  const prefix = SECRET_FORM.exec(secret)?.[1];
  const found = prefix === undefined ? undefined : await ports.tokens.find(prefix);
  const isSame = matchesHash(secret, found?.hash);
  return isSame && found?.client === id ? recordUse(found, ports) : undefined;
}

export const accessSeconds = ({ expiresMs }: ScimToken, nowMs: number): number =>
  expiresMs === undefined ? ACCESS_SECONDS : Math.min(ACCESS_SECONDS, Math.ceil((expiresMs - nowMs) / 1_000));

/** Issues an access token. Only its hash is stored. */
export async function issueAccess(
  { prefix, connection }: ScimToken,
  seconds: number,
  { tokens, clock, randomHex }: MakingPorts,
): Promise<string> {
  const token = `gsync_access_${prefix}_${randomHex(32)}`;
  await tokens.addAccess({ prefix, connection, hash: hashOf(token), expiresMs: clock() + seconds * 1_000 });
  return token;
}
