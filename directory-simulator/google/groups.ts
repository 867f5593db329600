import * as z from 'zod';
import type { Group, View } from '../engine/directory.ts';
import type { Simulation } from '../engine/simulation.ts';
import { apiMethod, listAnswer, pageParameters } from './api.ts';
import { groupBody } from './bodies.ts';
import { groupByKey, refuseOtherCustomers } from './customer-checks.ts';
import { badRequest, invalidInput } from './errors.ts';
import { GROUP_SCOPES } from './scopes.ts';

export const groupMethods = (simulation: Simulation) => [
  apiMethod(simulation, {
    path: '/admin/directory/v1/groups',
    operation: 'directory.groups.list',
    lag: 'groups',
    scopes: GROUP_SCOPES,
    query: {
      customer: z.string().optional(),
      domain: z.string().optional(),
      userKey: z.string().optional(),
      orderBy: z.literal('email').optional(),
      sortOrder: z.literal('ASCENDING').optional(),
      ...pageParameters(200, 200),
    },
    handle({ query, view, requestNumber }) {
      const { customer, domain, userKey, orderBy } = query;
      // Google documents: "Cannot be used with the customer parameter" (groups.list, userKey).
      if (userKey !== undefined && customer !== undefined) throw badRequest();
      if (userKey === undefined) refuseOtherCustomers(simulation.directory(), { customer, domain });
      const existing = view.groups().filter(({ deletedAtMs }) => deletedAtMs === null);
      return listAnswer(simulation, {
        key: ['groups', userKey, orderBy],
        kind: 'admin#directory#groups',
        field: 'groups',
        items: userKey === undefined ? existing : groupsOf(view, existing, userKey),
        idOf: ({ id }) => id,
        rankOf: orderBy === undefined ? undefined : ({ email }) => email.toLowerCase(),
        bodyOf: (group) => groupBody(group, countOf({ simulation, view, group, requestNumber })),
        query,
      });
    },
  }),
  apiMethod(simulation, {
    path: '/admin/directory/v1/groups/:groupKey',
    operation: 'directory.groups.get',
    lag: 'groups',
    scopes: GROUP_SCOPES,
    params: z.object({ groupKey: z.string() }),
    query: {},
    handle({ params: { groupKey }, view, requestNumber }) {
      const group = groupByKey(simulation.directory(), view, groupKey);
      return groupBody(group, countOf({ simulation, view, group, requestNumber }));
    },
  }),
];

/** Returns the groups that have the user, group or external address `key` as a direct member. */
function groupsOf(view: View, groups: readonly Group[], key: string): readonly Group[] {
  const id = view.user(key)?.id ?? view.group(key)?.id;
  const found = groups.filter((group) =>
    view.members(group.id).some((one) => one.memberId === id || one.externalEmail === key),
  );
  if (id === undefined && found.length === 0) throw invalidInput('memberKey');
  return found;
}

interface Counted {
  readonly simulation: Simulation;
  readonly view: View;
  readonly group: Group;
  readonly requestNumber: number;
}

/**
 * Returns "the number of users that are direct members"; null if no count is shown. External users count. Groups count
 * only with the setting `countsGroups`.
 */
function countOf({ simulation, view, group, requestNumber }: Counted): string | null {
  const wrong = simulation.wrongCounts.get(group.id);
  if (wrong !== undefined) return wrong;
  const random = simulation.random(`count/${group.id}/${requestNumber}`);
  const { absentCounts, countsGroups } = simulation.settings();
  if (random.chance(absentCounts)) return null;
  const counted = countsGroups
    ? ['user', 'externalUser', 'group', 'externalGroup']
    : ['user', 'externalUser'];
  return String(view.members(group.id).filter(({ kind }) => counted.includes(kind)).length);
}
