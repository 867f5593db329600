import * as z from 'zod';
import type { Caller, CallOptions } from '../call.ts';
import type { Decoding } from '../decode.ts';
import type { Endpoint } from '../endpoint.ts';
import { NotFoundError } from '../errors.ts';
import { Group, GroupChange, GroupList, GroupReplacement, NewGroup } from '../schemas/group.ts';

const LIST: Endpoint = { method: 'GET', path: '/platform/api/groups' };
const CREATE: Endpoint = { method: 'POST', path: '/platform/api/groups' };
const READ: Endpoint = { method: 'GET', path: '/platform/api/groups/{groupId}' };
const REPLACE: Endpoint = { method: 'PUT', path: '/platform/api/groups/{groupId}' };
const CHANGE: Endpoint = { method: 'PATCH', path: '/platform/api/groups/{groupId}' };
const DELETE: Endpoint = { method: 'DELETE', path: '/platform/api/groups/{groupId}' };

/** A group is read exactly: no field of another form is left out in silence, for what we write next depends on it. */
const decoding = { schema: Group, exact: true } as const;
const listDecoding: Decoding<z.infer<typeof GroupList>> = {
  schema: GroupList,
  exact: true,
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
   * only where the first try provably did nothing.
   */
  create: (value: NewGroup, options?: CallOptions) =>
    call({ endpoint: CREATE, body: { schema: NewGroup, value }, decoding }, options),
  /** `PUT /groups/{groupId}` with the whole group and the version it was computed from. @throws ConflictError */
  replace: (groupId: string, value: GroupReplacement, options?: CallOptions) => {
    const body = { schema: GroupReplacement, value };
    return call({ endpoint: REPLACE, ids: { groupId }, body, decoding }, options);
  },
  /** `PATCH /groups/{groupId}` with the version and only the fields given. @throws ConflictError */
  patch: (groupId: string, value: GroupChange, options?: CallOptions) =>
    call({ endpoint: CHANGE, ids: { groupId }, body: { schema: GroupChange, value }, decoding }, options),
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
