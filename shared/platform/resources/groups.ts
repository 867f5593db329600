import * as z from 'zod';
import { eachField } from '../../domain/group-fields.ts';
import { platformGroupId, platformUserId, versionToken } from '../../domain/ids.ts';
import type { Caller, CallOptions, Endpoint } from '../call.ts';
import type { Decoding } from '../decode.ts';
import { NotFoundError } from '../errors.ts';
import { holdVersions, releaseVersions } from '../version-digits.ts';

const filled = z.string().min(1);
const version = z.union([filled, z.number()]);

/**
 * Workforce Platform API, Group. All of it must be there but the fields other than the name: a response without `users` read as an empty
 * list would empty the group at the next write. `users` may hold ids of no user. `version` is opaque, and
 * a string or a number.
 */
const Group = z.lazy(() =>
  z.object({
    id: z.string().min(1).transform(platformGroupId),
    ...eachField(() => z.string().nullish()),
    name: z.string(),
    spokeId: z
      .string()
      .nullish()
      .transform((id) => id ?? null),
    users: z.array(z.string().transform(platformUserId)),
    version: version.transform(versionToken),
  }),
);

/** Of a listed group of another form, what still can be read. */
const OddGroup = z.lazy(() =>
  z.object({ id: z.string().min(1).transform(platformGroupId), spokeId: z.string().nullable().catch(null) }),
);

/**
 * A list is read element by element: one malformed group, which may be unmanaged, must not hide the others. `undefined`
 * stands for an element without an id. A list that contains only such elements is not a list of groups.
 */
const GroupList = z.lazy(() =>
  z
    .array(z.union([Group, OddGroup, z.unknown().transform(() => undefined)]))
    .refine((list) => list.length === 0 || list.some((group) => group !== undefined), {
      error: 'expected groups with ids, got a list of something else',
    }),
);

const content = () => ({
  ...eachField(() => z.string().nullish()),
  name: filled,
  spokeId: filled.nullable(),
  users: z.array(filled).readonly(),
});

/** Body of a new group. `spokeId` is the group's id in our application. */
const NewGroup = z.lazy(() => z.strictObject({ ...content(), spokeId: filled }));
type NewGroup = z.infer<typeof NewGroup>;

/** Body of a replacement: always whole, since a PUT updates the fields that are missing too. */
const GroupReplacement = z.lazy(() => z.strictObject({ ...content(), version }));
type GroupReplacement = z.infer<typeof GroupReplacement>;

/** Body of a change: the version it was computed from, and only what changes; at least one field. */
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

/** A group is read exactly: no field of another form is left out in silence, for what we write next depends on it. */
const decoding = { schema: Group, exact: true, prepare: holdVersions } as const;
const listDecoding: Decoding<z.infer<typeof GroupList>> = {
  schema: GroupList,
  exact: true,
  prepare: holdVersions,
  oddOf: (list) =>
    list.flatMap((group, at) => (group === undefined || !('version' in group) ? [`[${at}]`] : [])),
};

/**
 * Workforce Platform API, Groups (OAuth applications only: another credential is a ForbiddenError). Every answer must
 * hold id, name, users and version, else UnexpectedBodyError: a list that did not come is never an empty list. Only in
 * a list an odd group stands for itself: of it id and spokeId are told, and one without an id is left out.
 *
 * A write that fails may have been done all the same; `mayHaveTakenEffect(error)` tells. A stale version may come back
 * as ConflictError or as another 4xx: only reading the group tells a conflict from a refusal.
 */
export const groupsResource = (call: Caller) => ({
  /** `GET /groups`: all third-party groups of the organisation, in one answer. */
  list: async (options?: CallOptions) => {
    const groups = await call({ endpoint: LIST, decoding: listDecoding }, options);
    return groups.filter((group) => group !== undefined);
  },
  /** `GET /groups/{groupId}`. @throws NotFoundError */
  get: (groupId: string, options?: CallOptions) =>
    call({ endpoint: READ, ids: { groupId }, decoding }, options),
  /**
   * `POST /groups` with name, spokeId (our id of the group) and users; answers the group with its version. Repeated
   * only if the first try provably did nothing.
   */
  create: (value: NewGroup, options?: CallOptions) =>
    call({ endpoint: CREATE, body: { schema: NewGroup, value }, decoding }, options),
  /** `PUT /groups/{groupId}` with the whole group and the version it was computed from. @throws ConflictError */
  replace: (groupId: string, value: GroupReplacement, options?: CallOptions) => {
    const body = { schema: GroupReplacement, value, finish: releaseVersions };
    return call({ endpoint: REPLACE, ids: { groupId }, body, decoding }, options);
  },
  /** `PATCH /groups/{groupId}` with the version and only the fields given. @throws ConflictError */
  patch: (groupId: string, value: GroupChange, options?: CallOptions) => {
    const body = { schema: GroupChange, value, finish: releaseVersions };
    return call({ endpoint: CHANGE, ids: { groupId }, body, decoding }, options);
  },
  /** `DELETE /groups/{groupId}`: any 2xx, with or without a body. A group that is gone already is `absent`, no error. */
  delete: async (groupId: string, options?: CallOptions): Promise<'deleted' | 'absent'> => {
    const nothing = { schema: z.undefined(), ignoreBody: true };
    try {
      await call({ endpoint: DELETE, ids: { groupId }, decoding: nothing }, options);
      return 'deleted';
    } catch (error) {
      if (error instanceof NotFoundError) return 'absent';
      throw error;
    }
  },
});
