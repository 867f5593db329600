import * as z from 'zod';
import { endpoint } from '../engine/dialect.ts';
import type { User, View } from '../engine/directory.ts';
import type { Access } from './access.ts';
import { listAnswer, type Org, pageParameters, withUndocumentedFields } from './api.ts';
import { userBody } from './bodies.ts';
import { invalidSearch, notFound } from './errors.ts';
import { FilterError, type FilterFields, filterFor } from './filter.ts';
import { refuseSearch } from './groups.ts';
import { loginOf, shownTime, statusOf, userByKey, userUpdatedAt } from './org.ts';

const USER_SCOPES = ['okta.users.read', 'okta.users.manage'];
/** Okta's "List all users": the maximum page size is 200. */
const MAX_USERS = 200;

export const userEndpoints = (org: Org, access: Access) => [
  endpoint({
    method: 'GET',
    path: '/api/v1/users',
    operation: 'listUsers',
    lag: 'users',
    scopes: USER_SCOPES,
    query: z.object({
      filter: z.string().optional(),
      q: z.string().optional(),
      search: z.string().optional(),
      ...pageParameters(MAX_USERS, MAX_USERS),
    }),
    handle(call) {
      const { query, view, url } = call;
      refuseSearch(query);
      const isWanted = userFilter(view, query.filter);
      const isShown = access.userTest(view);
      return listAnswer(org, call, {
        key: ['users', query.filter],
        items: view.users().filter((user) => user.deletedAtMs === null && isShown(user) && isWanted(user)),
        idOf: ({ id }) => id,
        bodyOf: (user) => userBody(view, user, org.orgUrl(url)),
      });
    },
  }),
  endpoint({
    method: 'GET',
    path: '/api/v1/users/:userId',
    operation: 'getUser',
    lag: 'users',
    scopes: USER_SCOPES,
    params: z.object({ userId: z.string() }),
    handle({ params: { userId }, view, url, requestNumber }) {
      const user = userByKey(view, userId);
      if (user === undefined || !access.userTest(view)(user)) throw notFound('User', userId);
      return withUndocumentedFields(org.simulation, userBody(view, user, org.orgUrl(url)), requestNumber);
    },
  }),
];

const text = (textOf: (user: User) => string) => ({
  operators: ['eq'] as const,
  valuesOf: (user: User) => [textOf(user)],
});

/** Returns a function that tests users against the filter. Without a filter, deprovisioned users fail the test. */
function userFilter(view: View, filter: string | undefined): (user: User) => boolean {
  if (filter === undefined) return (user) => statusOf(user) !== 'DEPROVISIONED';
  const fields: FilterFields<User> = {
    id: text(({ id }) => id),
    status: text(statusOf),
    lastUpdated: {
      operators: ['eq', 'gt', 'ge', 'lt', 'le'],
      isTime: true,
      valuesOf: (user) => [shownTime(userUpdatedAt(view, user))],
    },
    'profile.login': text(loginOf),
    'profile.email': text(({ primaryEmail }) => primaryEmail),
    'profile.firstName': text(({ givenName }) => givenName),
    'profile.lastName': text(({ familyName }) => familyName),
  };
  try {
    return filterFor(filter, fields);
  } catch (error) {
    if (error instanceof FilterError) throw invalidSearch();
    throw error;
  }
}
