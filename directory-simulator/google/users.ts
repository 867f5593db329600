import * as z from 'zod';
import type { User } from '../engine/directory.ts';
import type { Simulation } from '../engine/simulation.ts';
import { apiMethod, listAnswer, pageParameters } from './api.ts';
import { userBody } from './bodies.ts';
import { refuseOtherCustomers } from './customer-checks.ts';
import { forbidden, invalidInput, notFound } from './errors.ts';
import { USER_SCOPES } from './scopes.ts';

/** Deleted users can be listed and restored for 20 days ("Manage users", retrieve deleted users). */
const DELETED_FOR_MS = 20 * 86_400_000;

/**
 * The parameters for views and custom fields. The simulator has only the view of an administrator.
 */
const VIEW = {
  viewType: z.literal('admin_view').optional(),
  projection: z.enum(['basic', 'custom', 'full']).optional(),
  customFieldMask: z.string().optional(),
};

const ORDER = {
  email: (user: User) => user.primaryEmail.toLowerCase(),
  familyName: (user: User) => user.familyName.toLowerCase(),
  givenName: (user: User) => user.givenName.toLowerCase(),
};

export const userMethods = (simulation: Simulation) => [
  apiMethod(simulation, {
    path: '/admin/directory/v1/users',
    operation: 'directory.users.list',
    lag: 'users',
    scopes: USER_SCOPES,
    query: {
      customer: z.string().optional(),
      domain: z.string().optional(),
      showDeleted: z.enum(['true', 'false']).default('false'),
      query: z.string().optional(),
      orderBy: z.enum(['email', 'familyName', 'givenName']).optional(),
      sortOrder: z.literal('ASCENDING').optional(),
      ...VIEW,
      ...pageParameters(500, 100),
    },
    handle({ query, view }) {
      refuseOtherCustomers(simulation.directory(), query);
      const isWanted = query.query === undefined ? () => true : searchFor(query.query);
      const isListed = (user: User) =>
        query.showDeleted === 'true' ? isRestorable(user, simulation.clock()) : user.deletedAtMs === null;
      return listAnswer(simulation, {
        key: ['users', query.showDeleted, query.query, query.orderBy],
        kind: 'admin#directory#users',
        field: 'users',
        items: view.users().filter((user) => isListed(user) && isWanted(user)),
        idOf: ({ id }) => id,
        rankOf: query.orderBy === undefined ? undefined : ORDER[query.orderBy],
        bodyOf: (user) => userBody(simulation.directory(), user, query),
        query,
      });
    },
  }),
  apiMethod(simulation, {
    path: '/admin/directory/v1/users/:userKey',
    operation: 'directory.users.get',
    lag: 'users',
    scopes: USER_SCOPES,
    params: z.object({ userKey: z.string() }),
    query: VIEW,
    handle({ params: { userKey }, query, view }) {
      const user = view.user(userKey);
      if (user !== undefined) return userBody(simulation.directory(), user, query);
      const isOwnDomain = !userKey.includes('@') || userKey.endsWith(`@${simulation.directory().domain}`);
      throw isOwnDomain ? notFound('userKey') : forbidden();
    },
  }),
];

const isRestorable = ({ deletedAtMs, purgedAtMs }: User, nowMs: number) =>
  deletedAtMs !== null && purgedAtMs === null && nowMs - deletedAtMs <= DELETED_FOR_MS;

/**
 * Parses a part of the search language: clauses separated by spaces. A user must satisfy all clauses.
 * @throws {DirectoryError} 400 for an unsupported clause
 */
function searchFor(text: string): (user: User) => boolean {
  const clauses = text.trim().split(/\s+/).map(clauseOf);
  return (user) => clauses.every((clause) => clause(user));
}

function clauseOf(text: string): (user: User) => boolean {
  const flag = /^is(Suspended|Archived|Admin)=(true|false)$/.exec(text);
  if (flag !== null) {
    const isWanted = flag[2] === 'true';
    if (flag[1] === 'Admin') return (user) => user.isAdmin === isWanted;
    return (user) => (flag[1] === 'Suspended' ? user.suspended : user.archived) === isWanted;
  }
  const email = /^email[:=](\S+?)(\*?)$/.exec(text);
  const [, wanted, star] = email ?? [];
  if (wanted === undefined) throw invalidInput('query');
  const addressesOf = (user: User) => [user.primaryEmail, ...user.aliases];
  return (user) =>
    addressesOf(user).some((address) => (star === '*' ? address.startsWith(wanted) : address === wanted));
}
