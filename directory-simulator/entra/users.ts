import type { User, View } from '../engine/directory.ts';
import type { Simulation } from '../engine/simulation.ts';
import { collectionAnswer, entityAnswer, type GraphCall, graphMethod } from './api.ts';
import { notFound } from './errors.ts';
import { filterOf } from './filter.ts';
import { lifecycleOfUser } from './objects.ts';
import { DEFAULT_USER, principalNameOf, userProperties } from './properties.ts';
import { queryOf, selected, selectedSuffix } from './query.ts';
import { USER_RIGHTS } from './rights.ts';

export const userMethods = (simulation: Simulation) => [
  graphMethod(simulation, {
    path: '/v1.0/users',
    operation: 'user.list',
    lag: 'users',
    rights: USER_RIGHTS,
    handle: (call) =>
      userList(simulation, call, {
        path: '/v1.0/users',
        users: call.view.users().filter(({ deletedAtMs }) => deletedAtMs === null),
        usual: DEFAULT_USER,
      }),
  }),
  graphMethod(simulation, {
    path: '/v1.0/users/:id',
    operation: 'user.get',
    lag: 'users',
    rights: USER_RIGHTS,
    handle({ params: { id = '' }, query, view, headers }) {
      const { select } = queryOf(query, ['$select'], headers);
      const { domain } = simulation.directory();
      const user = userByKey(view, domain, id);
      const properties = selected(userProperties(user, domain), select ?? DEFAULT_USER, 'user');
      return entityAnswer(`users${selectedSuffix(select)}`, properties);
    },
  }),
  graphMethod(simulation, {
    path: '/v1.0/directory/deletedItems/microsoft.graph.user',
    operation: 'directory.deletedItems.list',
    lag: 'users',
    rights: USER_RIGHTS,
    handle: (call) =>
      userList(simulation, call, {
        path: '/v1.0/directory/deletedItems/microsoft.graph.user',
        users: call.view.users().filter((user) => lifecycleOfUser(user, simulation.clock()) === 'deleted'),
        usual: [...DEFAULT_USER, 'deletedDateTime'],
      }),
  }),
];

interface Listed {
  readonly path: string;
  readonly users: readonly User[];
  readonly usual: readonly string[];
}

function userList(simulation: Simulation, call: GraphCall, { path, users, usual }: Listed) {
  const accepted = ['$select', '$top', '$filter', '$count', '$skiptoken'] as const;
  const { select, filter, isCounted, top, skipToken } = queryOf(call.query, accepted, call.headers);
  const { domain } = simulation.directory();
  const isWanted = filter === undefined ? () => true : filterOf(filter);
  const items = users.filter((user) => isWanted(userProperties(user, domain)));
  return collectionAnswer(simulation, call, {
    path,
    context: `users${selectedSuffix(select)}`,
    items,
    idOf: ({ id }) => id,
    bodyOf: (user) => selected(userProperties(user, domain), select ?? usual, 'user'),
    top,
    skipToken,
    count: isCounted ? items.length : undefined,
  });
}

/** Returns a user by id or user principal name. Graph does not find users by other addresses. */
function userByKey(view: View, domain: string, key: string): User {
  const isNamed = (user: User) =>
    user.id === key || principalNameOf(user, domain).toLowerCase() === key.toLowerCase();
  const user = view.users().find((one) => one.deletedAtMs === null && isNamed(one));
  if (user === undefined) throw notFound(key);
  return user;
}
