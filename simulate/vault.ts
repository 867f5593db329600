import { type Secret, SecretError, type Secrets, type SecretValue } from '../shared/sync/ports/secrets.ts';
import type { Worker } from './worker.ts';

export type Vault = ReturnType<typeof createVault>;

/** Secrets Manager shows a change within seconds (its user guide, eventual consistency). */
const STALE_MS = 3_000;

/** Secrets Manager: for workers, for operators, and for those who look on. */
export function createVault(nowMs: () => number) {
  const stored = new Map<string, Secret>();
  const former = new Map<string, { readonly secret: Secret | undefined; readonly untilMs: number }>();
  let serial = 0;
  const put = (connection: string, value: SecretValue): string => {
    serial += 1;
    const version = `${connection}-${serial}`;
    former.set(connection, { secret: stored.get(connection), untilMs: nowMs() + STALE_MS });
    stored.set(connection, { value, version });
    return version;
  };
  return {
    stored: stored as ReadonlyMap<string, Secret>,
    put,
    store: async (connection: string, token: string) => {
      const known = stored.get(connection);
      if (known !== undefined && 'token' in known.value && known.value.token === token) return known.version;
      return put(connection, { token });
    },
    remove: async (connection: string) => stored.delete(connection),
    secretsOf: (worker: Worker): Secrets => ({
      async read(connection) {
        await worker.effect('secret.read');
        const old = former.get(connection);
        const secret = (old !== undefined && nowMs() < old.untilMs && old.secret) || stored.get(connection);
        if (secret === undefined) throw new SecretError(`there is no secret of ${connection}`);
        return secret;
      },
      async write(connection, value) {
        await worker.effect('secret.write');
        return put(connection, value);
      },
    }),
  };
}
