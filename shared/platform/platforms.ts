import { VERSION } from '../contract/version.ts';
import type { Connection } from '../sync/ports/connections.ts';
import { failureIn, type Platform, PlatformFailure, type Platforms } from '../sync/ports/platform.ts';
import { type Secret, SecretError, type Secrets } from '../sync/ports/secrets.ts';
import { type Calling, failureOf, PlatformError } from './errors.ts';
import { createGroupClient, type GroupClient } from './group-client.ts';
import type { PlatformsOptions, RefreshCause, RefusedSecrets, SecretInUse } from './oauth-secret.ts';
import { credentialFor, refusedSecrets } from './oauth-secret.ts';
import { feedPages, readableEmployees, recordOf } from './records.ts';

/**
 * The secret is read again after this time. The time is long, because each read costs money. After a refusal, the
 * secret is read again immediately.
 */
const SECRET_AGE_MS = 3_600_000;
/**
 * The time limit for one call with all its retries. If the platform requests a longer wait, the call fails, and the
 * gate closes until the end of that wait.
 */
const PATIENCE_MS = 20_000;
/** The time limit of a list that is kept in memory. It leaves apply, which runs for 120 s, time to record a failure. */
const LIST_TIMEOUT_MS = 90_000;

/** Creates the function that opens platforms. A worker keeps one open platform per connection and settings. */
export function createPlatforms(options: PlatformsOptions): Platforms {
  const open = new Map<string, { readonly platform: Platform; readonly secretReadAtMs: number }>();
  const opening = new Map<string, Promise<Platform>>();
  const refusals = refusedSecrets(options.clock);

  const reopen = async (connection: Connection, key: string, nowMs: number): Promise<Platform> => {
    const secret = await readSecret(connection, options.secrets);
    const known = open.get(key)?.platform;
    const platform =
      known?.secretVersion === secret.version
        ? known
        : await connect(connection, secret, options, { refusals, forget: () => open.delete(key) });
    open.set(key, { platform, secretReadAtMs: nowMs });
    return platform;
  };

  return {
    async open(connection, { unlessSecret, refusedSecret, refusedAtGroups } = {}) {
      if (refusedSecret !== undefined) refusals.learn(connection.name, refusedSecret, false);
      if (refusedAtGroups !== undefined) refusals.learn(connection.name, refusedAtGroups, true);
      if (unlessSecret !== undefined) await refuseSecret(connection, unlessSecret, options.secrets);
      const key = JSON.stringify([connection.name, connection.company, connection.settings]);
      const known = open.get(key);
      const nowMs = options.clock();
      const refused = [unlessSecret, refusedSecret?.version, refusedAtGroups?.version];
      const isGood = known !== undefined && !refused.includes(known.platform.secretVersion);
      if (isGood && nowMs - known.secretReadAtMs < SECRET_AGE_MS) return known.platform;
      // All groups of a batch open the platform at the same time. They share one read of the secret.
      const pending = opening.get(key);
      if (pending !== undefined) return pending;
      const platform = reopen(connection, key, nowMs).finally(() => opening.delete(key));
      opening.set(key, platform);
      return platform;
    },
  };
}

async function refuseSecret(connection: Connection, refused: string, secrets: Secrets): Promise<void> {
  const { version: secretVersion } = await readSecret(connection, secrets);
  if (secretVersion !== refused) return;
  throw new PlatformFailure('unauthorized', 'the platform already refused this version of the secret', {
    secretVersion,
  });
}

async function readSecret(connection: Connection, secrets: Secrets): Promise<Secret> {
  try {
    return await secrets.read(connection.name);
  } catch (cause) {
    if (!(cause instanceof SecretError)) throw cause;
    throw new PlatformFailure('unauthorized', cause.message, { cause });
  }
}

/**
 * Connects with a secret. The first call is `/me`, which shows the company of the credential. A credential of another
 * company is refused. Otherwise groupsync would write this company's people into the groups of the other company.
 */
async function connect(
  connection: Connection,
  secret: Secret,
  options: PlatformsOptions,
  { refusals, forget }: { readonly refusals: RefusedSecrets; readonly forget: () => void },
): Promise<Platform> {
  const { settings } = connection;
  const inUse: SecretInUse = {
    version: secret.version,
    storedAtMs: 'token' in secret.value ? undefined : secret.value.storedAtMs,
    wasAccepted: false,
  };
  const mayRefresh = (cause: RefreshCause) => refusals.mayRefresh(connection.name, cause, inUse);
  const client = usable(secret.version, () =>
    createGroupClient({
      ...options,
      baseUrl: settings.baseUrl,
      credential: credentialFor(connection.name, secret.value, options, { inUse, mayRefresh }),
      timeoutMs: settings.timeoutMs,
      patienceMs: PATIENCE_MS,
      concurrency: settings.concurrency,
      onAttempt: (facts) => options.onAttempt?.(facts, connection.name),
      activity: settings.activity,
      version: VERSION,
    }),
  );
  const call: Calling = async (run) => {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error;
      const failure = failureOf(error, inUse.version);
      if (failure.kind !== 'unauthorized') throw failure;
      failure.refusedAtMs = refusals.note(connection.name, inUse);
      forget();
      throw failure;
    }
  };
  const identify = async () => {
    const { company, id } = await call(() => client.me());
    if (company !== connection.company) {
      throw new PlatformFailure('unauthorized', 'wrong_company: the credential belongs to another company', {
        secretVersion: inUse.version,
      });
    }
    inUse.wasAccepted = true;
    inUse.holder = id;
    refusals.accepted(connection.name);
  };
  await identify();
  return platformOf(client, { call, identify, inUse, clock: options.clock });
}

/**
 * Returns the client that `make` creates. `make` throws if the token contains a line break, or if the base URL is not
 * safe for a secret. This function converts that error into a PlatformFailure.
 */
function usable<Client>(secretVersion: string, make: () => Client): Client {
  try {
    return make();
  } catch (cause) {
    const why = `the platform cannot be called: ${(cause as TypeError).message}`;
    throw new PlatformFailure('unauthorized', why, { secretVersion, cause });
  }
}

interface Opened {
  readonly call: Calling;
  /** Asks the platform for the company of the credential. Throws if the connection belongs to another company. */
  readonly identify: () => Promise<void>;
  readonly inUse: SecretInUse;
  readonly clock: () => number;
}

function platformOf(client: GroupClient, { call, identify, inUse, clock }: Opened): Platform {
  const { groups } = client;
  let listing: { readonly atMs: number; readonly groups: ReturnType<typeof groups.list> } | undefined;
  let listed = 0;
  const list = (maxAgeMs: number) => {
    if (listing === undefined || clock() - listing.atMs > maxAgeMs || maxAgeMs === 0) {
      const current = { atMs: clock(), groups: groups.list({ maxAttempts: 1, timeoutMs: LIST_TIMEOUT_MS }) };
      listing = current;
      current.groups.catch(() => {
        if (listing === current) listing = undefined;
      });
    }
    return listing.groups;
  };
  const found = <Result>(run: () => Promise<Result>): Promise<Result | undefined> =>
    call(run).catch((error: unknown) => {
      if (error instanceof PlatformFailure && error.kind === 'not_found') return undefined;
      throw error;
    });
  return {
    get secretVersion() {
      return inUse.version;
    },
    get holder() {
      return inUse.holder;
    },
    probe: () => failureIn(identify),
    employees: (wanted) => readableEmployees(client, wanted, call),
    employee: async (role, fields) => {
      const employee = await found(() => client.employees.get(role));
      const { endDate } = employee ?? {};
      return employee && { ...recordOf(employee, fields), ...(endDate && { endDate }) };
    },
    activity: (start) => feedPages(client, start, call),
    groups: {
      each: async (visit) => {
        listed = await call(() => groups.each(visit));
      },
      list: async (maxAgeMs) => {
        const all = await call(() => list(maxAgeMs));
        listed = all.length;
        return all;
      },
      countListed: () => listed,
      forgetList: () => {
        listing = undefined;
      },
      get: (id, how) => found(() => groups.get(id, how)),
      create: (fields, how) => call(() => groups.create(fields, how)),
      patch: (id, fields, version, how) => call(() => groups.patch(id, { ...fields, version }, how)),
      put: (id, fields, version, how) => call(() => groups.replace(id, { ...fields, version }, how)),
      delete: (id, how) => call(() => groups.delete(id, how)),
    },
  };
}
