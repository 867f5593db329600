import type { CredentialVault, Secret, Secrets, SecretValue } from '../shared/sync/ports/secrets.ts';
import { SecretError } from '../shared/sync/ports/secrets.ts';
import { type AwsFault, requestsOf } from './engine.ts';
import type { Random } from './random.ts';
import type { RunLog } from './run-log.ts';
import type { Worker } from './worker.ts';

export type FakeSecretsManager = ReturnType<typeof createFakeSecretsManager>;

/**
 * For this time after a write, a read returns the old or the new value, because Secrets Manager is eventually
 * consistent (user guide).
 */
const STALE_MS = 3_000;

/** Creates a fake Secrets Manager for workers and operators. The checks read `stored` and `ever`. */
export function createFakeSecretsManager(nowMs: () => number, random: Random, fired: RunLog['fired']) {
  const stored = new Map<string, Secret>();
  const previous = new Map<string, { readonly secret: Secret | undefined; readonly untilMs: number }>();
  const ever = new Set<string>();
  let serial = 0;
  const notePrevious = (connection: string) =>
    previous.set(connection, { secret: stored.get(connection), untilMs: nowMs() + STALE_MS });
  const put = (connection: string, value: SecretValue): string => {
    serial += 1;
    const version = `${connection}-${serial}`;
    notePrevious(connection);
    stored.set(connection, { value, version });
    if ('refreshToken' in value) ever.add(`${connection} ${value.refreshToken}`);
    return version;
  };
  const shown = (connection: string): Secret => {
    const { secret: old, untilMs = 0 } = previous.get(connection) ?? {};
    const isStale = nowMs() < untilMs && random.chance(0.5);
    if (isStale) fired(old === undefined ? 'secrets:not_yet' : 'secrets:stale');
    const secret = isStale ? old : stored.get(connection);
    if (secret === undefined) throw new SecretError(`there is no secret of ${connection}`);
    return secret;
  };
  return {
    stored: stored as ReadonlyMap<string, Secret>,
    /** Every refresh token that was ever stored, as `<connection> <token>`. */
    ever: ever as ReadonlySet<string>,
    put,
    /** Returns the client of one worker. */
    accessOf(worker: Worker, faultOf: (isRead: boolean) => AwsFault): Secrets & CredentialVault {
      const fault = (isRead: boolean): AwsFault => {
        const struck = faultOf(isRead);
        if (struck !== 'none') fired(`secrets:${struck}`);
        return struck === 'echo' ? 'none' : struck;
      };
      const { ask, write } = requestsOf(
        worker,
        fault,
        () => new SecretError('Secrets Manager did not answer'),
      );
      return {
        read: (connection) => ask('secret.read').then(() => shown(connection)),
        write: (connection, value) =>
          write('secret.write', () => {
            // A secret that is scheduled for deletion accepts no new version (PutSecretValue, InvalidRequestException).
            if (!stored.has(connection)) throw new Error(`there is no secret of ${connection}`);
            return put(connection, value);
          }),
        store: (connection, token) => write('secret.store', () => put(connection, { token })),
        remove: (connection) =>
          write('secret.remove', () => notePrevious(connection) && stored.delete(connection)),
      };
    },
  };
}
