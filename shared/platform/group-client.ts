import { Agent } from 'undici';
import * as z from 'zod';
import { parseSecureUrl } from './base-url.ts';
import type { Caller, CallOptions, Endpoint } from './call.ts';
import { createCaller, type Limits, type PlatformClientOptions } from './caller.ts';
import { activityNames, activityResource } from './resources/activity.ts';
import { employeesResource } from './resources/employees.ts';
import { groupsResource } from './resources/groups.ts';
import { text } from './schemas/field.ts';

export type GroupClient = ReturnType<typeof createGroupClient>;

/** Creates the part of the client that syncing needs. Other schemas are not loaded, to keep cold starts short. */
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
 * Returns a function that calls the platform, and a function that closes the connections. A dispatcher from `options`
 * is not closed, because its owner closes it.
 * @throws TypeError if an option is not valid
 */
export function openCaller(options: PlatformClientOptions) {
  const { origin, path: basePath } = parseSecureUrl(options.baseUrl, 'baseUrl', options.publicOnly);
  const limits = limitsOf(options);
  const own = ownAgent(limits.concurrency);
  const dispatcher = () => options.dispatcher ?? own.get();
  const call = createCaller({ ...options, ...limits, origin, basePath, dispatcher });
  return { call, close: own.close };
}

/**
 * The time limit for opening a connection. It is shorter than the default time limit of an attempt. So a failed
 * connection gets its own error, which shows that nothing was sent.
 */
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

/** Workforce Platform API, Current user. `company` is the id of the company. */
const CurrentUser = z.lazy(() =>
  z.object({ id: z.string().min(1), workEmail: text, company: z.string().min(1) }),
);

const Installation = z.lazy(() => z.object({ ok: z.literal(true) }));

const ME: Endpoint = { method: 'GET', path: '/platform/api/me' };
const MARK_INSTALLED: Endpoint = { method: 'POST', path: '/platform/api/mark_app_installed' };

const currentUserResource = (call: Caller) => ({
  /** `GET /me`: the user that owns the token, with id, workEmail and the id of the company. */
  me: (options?: CallOptions) =>
    call({ endpoint: ME, decoding: { schema: CurrentUser, exact: true } }, options),
  /** `POST /mark_app_installed`: needs no body and no scope, and returns `{ok: true}`. */
  markInstalled: (options?: CallOptions) =>
    call({ endpoint: MARK_INSTALLED, decoding: { schema: Installation, exact: true } }, options),
});
