import type { ConnectionName } from '../../domain/ids.ts';
import type { Ports } from '../ports/bundles.ts';
import type { ScimToken } from '../ports/scim.ts';
import {
  createToken,
  hashOf,
  isHashed,
  listTokens,
  NEW_CLIENT,
  revokeToken,
  type TokenSummary,
  usedNow,
} from './tokens.ts';

/*
 * An OAuth client is a set of secrets with one id. Each secret is stored like a bearer token, with the client's id next to it:
 *
 *     secret ──▶ token endpoint ──▶ access token ──▶ SCIM request ──▶ is the access token good, and its secret?
 *
 * Both are read for each request, so the access tokens of a secret end at the moment at which the secret ends.
 */

type TokenPorts = Pick<Ports, 'tokens' | 'clock'>;
type MakingPorts = TokenPorts & Pick<Ports, 'randomHex'>;

/** Life of an access token. Clients ask for another one when it ends (RFC 6749 section 4.4.3: no refresh token). */
export const ACCESS_SECONDS = 3_600;

const SECRET_FORM = /^gsync_client_([0-9a-f]{8})_[0-9a-f]{64}$/;

/** A new client with its first secret. @param expiresMs end of the secret; undefined for none */
export const createClient = (
  connection: ConnectionName,
  expiresMs: number | undefined,
  ports: MakingPorts,
): ReturnType<typeof createToken> => createToken(connection, ports, { expiresMs, client: NEW_CLIENT });

/** A client and its secrets, oldest first. */
export interface ClientSummary {
  readonly id: string;
  readonly secrets: readonly TokenSummary[];
}

/** Oldest first. */
export async function listClients(
  connection: ConnectionName,
  ports: TokenPorts,
): Promise<readonly ClientSummary[]> {
  const clients = new Map<string, TokenSummary[]>();
  for (const token of await listTokens(connection, ports)) {
    if (token.client === undefined) continue;
    clients.set(token.client, [...(clients.get(token.client) ?? []), token]);
  }
  return [...clients].map(([id, secrets]) => ({ id, secrets }));
}

const secretsOf = async (connection: ConnectionName, id: string, ports: TokenPorts) =>
  (await listClients(connection, ports)).find((client) => client.id === id)?.secrets ?? [];

/** Whether a client has a secret that is good now. */
export const isActiveClient = ({ secrets }: ClientSummary): boolean =>
  secrets.some(({ state }) => state === 'active');

/** Times of `rotateSecret`, in milliseconds since 1970. */
export interface Rotation {
  /** End of the new secret; undefined for none. */
  readonly expiresMs: number | undefined;
  /** End of the secrets before it. */
  readonly previousEndMs: number;
}

/** Another secret of a client. The secrets before it, with their access tokens, end at `previousEndMs` at the latest. */
export async function rotateSecret(
  connection: ConnectionName,
  id: string,
  { expiresMs, previousEndMs }: Rotation,
  ports: MakingPorts,
): ReturnType<typeof createToken> {
  const previous = await secretsOf(connection, id, ports);
  const made = await createToken(connection, ports, { expiresMs, client: id });
  for (const { prefix, state } of previous) {
    if (state === 'active') await ports.tokens.endBy(connection, prefix, previousEndMs);
  }
  return made;
}

/** Ends a client with its secrets and access tokens at once. @returns false if the connection has no such client */
export async function revokeClient(
  connection: ConnectionName,
  id: string,
  ports: TokenPorts,
): Promise<boolean> {
  const secrets = await secretsOf(connection, id, ports);
  for (const { prefix } of secrets) await revokeToken(connection, prefix, ports);
  return secrets.length > 0;
}

/** The secret, with whose it is; undefined for one that is unknown, of another client, wrong or ended, without saying which. */
export async function validSecret(
  { id, secret }: { readonly id: string; readonly secret: string },
  ports: TokenPorts,
): Promise<ScimToken | undefined> {
  const prefix = SECRET_FORM.exec(secret)?.[1];
  const found = prefix === undefined ? undefined : await ports.tokens.find(prefix);
  const isSame = isHashed(secret, found?.hash);
  return isSame && found?.client === id ? usedNow(found, ports) : undefined;
}

/** Seconds for which an access token of this secret is good. */
export const accessSeconds = ({ expiresMs }: ScimToken, nowMs: number): number =>
  expiresMs === undefined ? ACCESS_SECONDS : Math.min(ACCESS_SECONDS, Math.ceil((expiresMs - nowMs) / 1_000));

/** Makes an access token. It is returned once; its hash is stored. */
export async function issueAccess(
  { prefix, connection }: ScimToken,
  seconds: number,
  { tokens, clock, randomHex }: MakingPorts,
): Promise<string> {
  const token = `gsync_access_${prefix}_${randomHex(32)}`;
  await tokens.addAccess({ prefix, connection, hash: hashOf(token), expiresMs: clock() + seconds * 1_000 });
  return token;
}
