import { createGroupClient, type GroupClient } from '../platform/group-client.ts';
import { type Credential, staticBearer } from '../platform/credential.ts';
import { oauthCredential } from '../platform/oauth.ts';
import type { Connection } from '../sync/ports/connections.ts';
import { type Platform, PlatformFailure, type Platforms } from '../sync/ports/platform.ts';
import { employeePages, recordOf } from './employee-records.ts';
import { feedPages } from './feed-pages.ts';
import { oauthOptions } from './oauth-secret.ts';
import { translating } from './platform-failure.ts';
import type { PlatformsOptions } from './platforms-options.ts';
import { type Secret, SecretError, type Secrets } from './secrets.ts';
import { VERSION } from './version.ts';

/** A secret that was good is used this long before it is read again; one that failed is read again at once. */
const SECRET_AGE_MS = 60_000;
/** A wait that the platform asks for is kept in place up to this; longer ones close the gate instead. */
const PATIENCE_MS = 20_000;

interface OpenPlatform {
  readonly platform: Platform;
  readonly secretReadAtMs: number;
}

/** The platform for each connection, through the client; one per connection and worker. */
export function createPlatforms(options: PlatformsOptions): Platforms {
  const open = new Map<string, OpenPlatform>();
  const opening = new Map<string, Promise<Platform>>();

  const openAnew = async (connection: Connection, key: string, nowMs: number): Promise<Platform> => {
    const secret = await readSecret(connection, options.secrets);
    const forget = () => open.delete(key);
    const known = open.get(key)?.platform;
    const platform =
      known?.secretVersion === secret.version
        ? known
        : await connect(connection, { secret, options, forget });
    open.set(key, { platform, secretReadAtMs: nowMs });
    return platform;
  };

  return {
    open(connection) {
      const key = JSON.stringify([connection.name, connection.company, connection.settings]);
      const known = open.get(key);
      const nowMs = options.clock();
      if (known !== undefined && nowMs - known.secretReadAtMs < SECRET_AGE_MS) {
        return Promise.resolve(known.platform);
      }
      // The groups of one batch ask at once: one look at the secret answers them all.
      const underWay = opening.get(key);
      if (underWay !== undefined) return underWay;
      const platform = openAnew(connection, key, nowMs).finally(() => opening.delete(key));
      opening.set(key, platform);
      return platform;
    },
  };
}

async function readSecret(connection: Connection, secrets: Secrets): Promise<Secret> {
  try {
    return await secrets.read(connection.name);
  } catch (cause) {
    if (!(cause instanceof SecretError)) throw cause;
    throw new PlatformFailure('unauthorized', cause.message, { cause });
  }
}

interface Connecting {
  readonly secret: Secret;
  readonly options: PlatformsOptions;
  readonly forget: () => void;
}

/** A credential of another company would fill that company's groups with our people: it is refused before any use. */
async function connect(connection: Connection, { secret, options, forget }: Connecting): Promise<Platform> {
  const { settings } = connection;
  const client = createGroupClient({
    baseUrl: settings.baseUrl,
    credential: credentialOf(connection, secret, options),
    clock: options.clock,
    random: options.random,
    sleep: options.sleep,
    timeoutMs: settings.timeoutMs,
    patienceMs: PATIENCE_MS,
    concurrency: settings.concurrency,
    activity: settings.activity,
    version: VERSION,
    dispatcher: options.dispatcher,
  });
  const call = async <Result>(run: () => Promise<Result>): Promise<Result> => {
    try {
      return await translating(secret.version, run);
    } catch (error) {
      if (error instanceof PlatformFailure && error.kind === 'unauthorized') forget();
      throw error;
    }
  };
  const { company } = await call(() => client.me());
  if (company !== connection.company) {
    throw new PlatformFailure('unauthorized', 'wrong_company: the credential belongs to another company', {
      secretVersion: secret.version,
    });
  }
  return platformOf(client, { call, secretVersion: secret.version, clock: options.clock });
}

function credentialOf(connection: Connection, { value }: Secret, options: PlatformsOptions): Credential {
  if ('token' in value) return staticBearer(value.token);
  return oauthCredential(oauthOptions(connection, value, options));
}

interface Calling {
  readonly call: <Result>(run: () => Promise<Result>) => Promise<Result>;
  readonly secretVersion: string;
  readonly clock: () => number;
}

function platformOf(client: GroupClient, { call, secretVersion, clock }: Calling): Platform {
  const { groups } = client;
  let listing: { readonly atMs: number; readonly groups: ReturnType<typeof groups.list> } | undefined;
  const list = (maxAgeMs: number) => {
    if (listing === undefined || clock() - listing.atMs > maxAgeMs || maxAgeMs === 0) {
      const current = { atMs: clock(), groups: groups.list() };
      listing = current;
      current.groups.catch(() => {
        if (listing === current) listing = undefined;
      });
    }
    return listing.groups;
  };
  const answer = async (run: () => Promise<unknown>): Promise<PlatformFailure | undefined> => {
    try {
      await call(run);
      return undefined;
    } catch (error) {
      if (error instanceof PlatformFailure) return error;
      throw error;
    }
  };
  const found = <Result>(run: () => Promise<Result>): Promise<Result | undefined> =>
    call(run).catch((error: unknown) => {
      if (error instanceof PlatformFailure && error.kind === 'not_found') return undefined;
      throw error;
    });
  return {
    secretVersion,
    probe: async () => (await answer(() => client.me())) ?? (await answer(() => groups.list())),
    employees: (wanted) => employeePages(client, wanted, call),
    employee: async (role, fields) => {
      const employee = await found(() => client.employees.get(role));
      return employee && recordOf(employee, fields);
    },
    activity: (start) => feedPages(client, start, call),
    groups: {
      list: (maxAgeMs) => call(() => list(maxAgeMs)),
      get: (id) => found(() => groups.get(id)),
      create: (fields) => call(() => groups.create(fields)),
      patch: (id, fields, version) => call(() => groups.patch(id, { ...fields, version })),
      put: (id, fields, version) => call(() => groups.replace(id, { ...fields, version })),
      delete: async (id) => {
        await call(() => groups.delete(id));
      },
    },
  };
}
