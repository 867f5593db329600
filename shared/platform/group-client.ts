import { Agent } from 'undici';
import * as z from 'zod';
import { eachField } from '../domain/group-fields.ts';
import { type PlatformUserId, platformGroupId, platformUserId, versionToken } from '../domain/ids.ts';
import { parseSecureUrl } from './base-url.ts';
import type { Caller, CallOptions, Endpoint, Limits } from './call.ts';
import { createCaller, type PlatformClientOptions } from './caller.ts';
import { answered, NotFoundError, UnexpectedBodyError } from './errors.ts';
import { LIST_LIMITS } from './list-stream.ts';
import { activityNames, activityResource } from './resources/activity.ts';
import { employeesResource } from './resources/employees.ts';
import { text } from './schemas/field.ts';
import { heldVersion, holdVersions, releaseVersions } from './version-digits.ts';

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
  list: { ...LIST_LIMITS, ...options.list },
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

const filled = z.string().min(1);
const version = z.union([filled, z.number()]);

/**
 * Workforce Platform API, Group. Apart from `spokeId` and the additional fields, all fields must be present: if a
 * missing `users` became an empty list, the next write would empty the group. `users` may contain ids of users who do
 * not exist. `version` is an opaque string or number.
 */
const groupWith = <Version extends z.ZodType>(version: Version) =>
  z.object({
    id: z.string().min(1).transform(platformGroupId),
    ...eachField(() => z.string().nullish()),
    name: z.string(),
    spokeId: z
      .string()
      .nullish()
      .transform((id) => id ?? null),
    users: z.array(z.string().transform(platformUserId)),
    version,
  });
const Group = z.lazy(() => groupWith(version.transform(versionToken)));

const ListedVersion = z.lazy(() =>
  z.union([version, z.instanceof(String)]).transform((held) => versionToken(heldVersion(held))),
);

/** The fields that can still be read from a malformed group in a list. */
const MalformedGroup = z.lazy(() =>
  z.object({ id: z.string().min(1).transform(platformGroupId), spokeId: z.string().nullable().catch(null) }),
);

/**
 * An element of a list of groups. A malformed group does not make the whole list fail, because groupsync does not manage
 * every group. An element without an id becomes `undefined`.
 */
const Element = z.lazy(() =>
  z.union([groupWith(ListedVersion), MalformedGroup, z.unknown().transform(() => undefined)]),
);
type ListedGroup = NonNullable<z.infer<typeof Element>>;

const content = () => ({
  ...eachField(() => z.string().nullish()),
  name: filled,
  spokeId: filled.nullable(),
  users: z.array(filled).readonly(),
});

/** Body of a new group. `spokeId` is the id that groupsync gives the group. */
const NewGroup = z.lazy(() => z.strictObject({ ...content(), spokeId: filled }));
type NewGroup = z.infer<typeof NewGroup>;

/** The body of a replacement. It is always complete, because a PUT also changes the fields that are missing in it. */
const GroupReplacement = z.lazy(() => z.strictObject({ ...content(), version }));
type GroupReplacement = z.infer<typeof GroupReplacement>;

/** The body of a change. It contains the version from which the change was computed, and at least one changed field. */
const GroupChange = z.lazy(() =>
  z
    .strictObject(content())
    .partial()
    .extend({ version })
    .refine(
      ({ version: _, ...change }) => Object.values(change).some((field) => field !== undefined),
      'expected a field to change',
    ),
);
type GroupChange = z.infer<typeof GroupChange>;

const LIST: Endpoint = { method: 'GET', path: '/platform/api/groups' };
const CREATE: Endpoint = { method: 'POST', path: '/platform/api/groups' };
const READ: Endpoint = { method: 'GET', path: '/platform/api/groups/{groupId}' };
const REPLACE: Endpoint = { method: 'PUT', path: '/platform/api/groups/{groupId}' };
const CHANGE: Endpoint = { method: 'PATCH', path: '/platform/api/groups/{groupId}' };
const DELETE: Endpoint = { method: 'DELETE', path: '/platform/api/groups/{groupId}' };

/** A malformed field of a group is an error and is not dropped, because the next write depends on the field. */
const decoding = { schema: Group, exact: true, prepare: holdVersions } as const;
const NOTHING = { schema: z.undefined(), ignoreBody: true } as const;

/**
 * Passes each group of the list to `visit`. The list is complete only when the promise resolves.
 * @returns the number of groups
 */
async function visitGroups(call: Caller, visit: (group: ListedGroup) => void, options?: CallOptions) {
  const malformed: string[] = [];
  let count = 0;
  const visitElement = (element: unknown, at: number) => {
    const group = Element.parse(element);
    if (group === undefined || !('version' in group)) malformed.push(`[${at}]`);
    if (group === undefined) return;
    count += 1;
    visit(group);
  };
  await call(
    { endpoint: LIST, decoding: { ...NOTHING, ignoredIn: () => malformed }, visit: visitElement },
    options,
  );
  if (count > 0 || malformed.length === 0) return count;
  throw new UnexpectedBodyError('expected groups with ids, got a list of something else', answered(LIST));
}

/**
 * Workforce Platform API, Groups. Only OAuth applications may call it. Any other credential causes a ForbiddenError.
 * Each response must contain id, name, users and version. Otherwise the call fails with an UnexpectedBodyError. The
 * method `list` is less strict: a malformed group has only its id and spokeId, and an element without an id is dropped.
 *
 * A failed write may still have taken effect: see `mayHaveTakenEffect(error)`. A stale version may cause a
 * ConflictError or another 4xx. So after another 4xx, the caller must read the group and compare its version.
 */
const groupsResource = (call: Caller) => ({
  /** `GET /groups`: visits each third-party group of the organisation while the list arrives. */
  each: (visit: (group: ListedGroup) => void, options?: CallOptions) => visitGroups(call, visit, options),
  /** Like `each`, but returns all groups. A user in many groups is one string, so a membership needs 8 bytes. */
  list: async (options?: CallOptions) => {
    const groups: ListedGroup[] = [];
    const users = new Map<PlatformUserId, PlatformUserId>();
    const shared = (user: PlatformUserId) => {
      const known = users.get(user) ?? user;
      users.set(known, known);
      return known;
    };
    const keep = (group: ListedGroup) => {
      groups.push('users' in group ? { ...group, users: group.users.map(shared) } : group);
    };
    await visitGroups(call, keep, options);
    return groups;
  },
  /** `GET /groups/{groupId}`. @throws NotFoundError */
  get: (groupId: string, options?: CallOptions) =>
    call({ endpoint: READ, ids: { groupId }, decoding }, options),
  /**
   * `POST /groups` with name, spokeId (the id that groupsync gives the group) and users. Returns the group with its
   * version. The call is repeated only if the first attempt certainly had no effect.
   */
  create: (value: NewGroup, options?: CallOptions) =>
    call({ endpoint: CREATE, body: { schema: NewGroup, value }, decoding }, options),
  /** `PUT /groups/{groupId}` with the whole group, and the version from which it was computed. @throws ConflictError */
  replace: (groupId: string, value: GroupReplacement, options?: CallOptions) => {
    const body = { schema: GroupReplacement, value, finish: releaseVersions };
    return call({ endpoint: REPLACE, ids: { groupId }, body, decoding }, options);
  },
  /** `PATCH /groups/{groupId}` with the version and only the given fields. @throws ConflictError */
  patch: (groupId: string, value: GroupChange, options?: CallOptions) => {
    const body = { schema: GroupChange, value, finish: releaseVersions };
    return call({ endpoint: CHANGE, ids: { groupId }, body, decoding }, options);
  },
  /** `DELETE /groups/{groupId}`: succeeds with any 2xx. After a 404, the result is `missing` and not an error. */
  delete: async (groupId: string, options?: CallOptions): Promise<'deleted' | 'missing'> => {
    try {
      await call({ endpoint: DELETE, ids: { groupId }, decoding: NOTHING }, options);
      return 'deleted';
    } catch (error) {
      if (error instanceof NotFoundError) return 'missing';
      throw error;
    }
  },
});
