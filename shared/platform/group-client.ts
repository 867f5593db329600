import { Agent } from 'undici';
import { parseSecureUrl } from './base-url.ts';
import type { Caller } from './call.ts';
import { createCaller, type Limits, type PlatformClientOptions } from './caller.ts';
import { activityNames, activityResource } from './resources/activity.ts';
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

/**
 * A caller, and what ends our own connections; an injected dispatcher is its owner's to close.
 * @throws TypeError where an option is not as described.
 */
export function openCaller(options: PlatformClientOptions) {
  const { origin, path: basePath } = parseSecureUrl(options.baseUrl, 'baseUrl');
  const limits = limitsOf(options);
  const own = ownAgent(limits.concurrency);
  const dispatcher = () => options.dispatcher ?? own.get();
  const call = createCaller({ ...options, ...limits, origin, basePath, dispatcher });
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

const limitsOf = (options: PlatformClientOptions): Limits => ({
  timeoutMs: positive(options.timeoutMs ?? 10_000, 'timeoutMs'),
  patienceMs: positive(options.patienceMs ?? 60_000, 'patienceMs'),
  maxAttempts: positive(options.maxAttempts ?? 4, 'maxAttempts'),
  concurrency: positive(options.concurrency ?? 8, 'concurrency'),
  maxBodyBytes: positive(options.maxBodyBytes ?? 64 * 2 ** 20, 'maxBodyBytes'),
});

function positive(value: number, name: string): number {
  if (Number.isInteger(value) && value > 0) return value;
  throw new TypeError(`${name}: expected a whole number above 0, got ${value}`);
}
