import { Agent, type Dispatcher } from 'undici';
import { parseSecureUrl } from './base-url.ts';
import type { AttemptFacts, Caller } from './call.ts';
import { createCaller } from './caller.ts';
import type { Credential } from './credential.ts';
import { type ActivityNames, activityNames, activityResource } from './resources/activity.ts';
import { currentUserResource } from './resources/current-user.ts';
import { employeesResource } from './resources/employees.ts';
import { groupsResource } from './resources/groups.ts';

export type GroupClient = ReturnType<typeof createGroupClient>;

/** What keeping groups equal needs of the client, and no more: the schemas of the rest cost each cold start. */
export const createGroupClient = (options: PlatformClientOptions) =>
  groupClient(openCaller(options).call, options);

export function groupClient(call: Caller, options: PlatformClientOptions) {
  return {
    employees: employeesResource(call),
    groups: groupsResource(call),
    activity: activityResource(call, { names: activityNames(options.activity), clock: options.clock }),
    ...currentUserResource(call),
  };
}

export interface PlatformClientOptions {
  /** https, or http for loopback; a path is kept as a prefix. No user, query or fragment. */
  readonly baseUrl: string;
  readonly credential: Credential;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** In [0, 1); spreads retries. */
  readonly random: () => number;
  /** Rejects when the signal fires. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Default: an undici Agent of our own, made at the first call and ended by `close`. */
  readonly dispatcher?: Dispatcher | undefined;
  /** Limit of one try, in milliseconds. Default 10,000. */
  readonly timeoutMs?: number | undefined;
  /** How long a call without a deadline may take in all, waits included, in milliseconds. Default 60,000. */
  readonly patienceMs?: number | undefined;
  /** Tries of one call. Default 4. */
  readonly maxAttempts?: number | undefined;
  /** Calls in flight, and connections. Default 8. */
  readonly concurrency?: number | undefined;
  /** Largest answer that is read, decompressed. Default 64 MiB. */
  readonly maxBodyBytes?: number | undefined;
  readonly activity?: Partial<ActivityNames> | undefined;
  /** Our version, for `User-Agent: groupsync/<version>`. */
  readonly version?: string | undefined;
  readonly onAttempt?: ((facts: AttemptFacts) => void) | undefined;
}

/**
 * A caller, and what ends our own connections; an injected dispatcher is its owner's to close.
 * @throws TypeError where an option is not as described.
 */
export function openCaller(options: PlatformClientOptions) {
  const base = parseSecureUrl(options.baseUrl, 'baseUrl');
  const concurrency = positive(options.concurrency ?? 8, 'concurrency');
  const own = ownAgent(concurrency);
  const call = createCaller({
    origin: base.origin,
    basePath: base.path,
    credential: options.credential,
    dispatcher: () => options.dispatcher ?? own.get(),
    clock: options.clock,
    random: options.random,
    sleep: options.sleep,
    timeoutMs: positive(options.timeoutMs ?? 10_000, 'timeoutMs'),
    patienceMs: positive(options.patienceMs ?? 60_000, 'patienceMs'),
    maxAttempts: positive(options.maxAttempts ?? 4, 'maxAttempts'),
    maxBodyBytes: positive(options.maxBodyBytes ?? 64 * 2 ** 20, 'maxBodyBytes'),
    concurrency,
    userAgent: options.version === undefined ? 'groupsync' : `groupsync/${options.version}`,
    onAttempt: options.onAttempt,
  });
  return { call, close: own.close };
}

/** Shorter than any try, so that a connection that does not come about is told from a request that got lost. */
const CONNECT_TIMEOUT_MS = 3000;

function ownAgent(connections: number) {
  let agent: Agent | undefined;
  return {
    get: () =>
      (agent ??= new Agent({ connections, pipelining: 1, connect: { timeout: CONNECT_TIMEOUT_MS } })),
    close: async () => {
      await agent?.close();
      agent = undefined;
    },
  };
}

function positive(value: number, name: string): number {
  if (Number.isInteger(value) && value > 0) return value;
  throw new TypeError(`${name}: expected a whole number above 0, got ${value}`);
}
