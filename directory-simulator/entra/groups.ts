import type { Group, View } from '../engine/directory.ts';
import type { Simulation } from '../engine/simulation.ts';
import { collectionAnswer, entityAnswer, graphMethod } from './api.ts';
import { notFound } from './errors.ts';
import { filterOf } from './filter.ts';
import { groupProperties } from './properties.ts';
import { queryOf, selected, selectedSuffix } from './query.ts';
import { GROUP_RIGHTS } from './rights.ts';

export const groupMethods = (simulation: Simulation) => [
  graphMethod(simulation, {
    path: '/v1.0/groups',
    operation: 'group.list',
    lag: 'groups',
    rights: GROUP_RIGHTS,
    handle(call) {
      const accepted = ['$select', '$top', '$filter', '$count', '$skiptoken'] as const;
      const { select, filter, isCounted, top, skipToken } = queryOf(call.query, accepted, call.headers);
      const isWanted = filter === undefined ? () => true : filterOf(filter);
      const existing = call.view.groups().filter(({ deletedAtMs }) => deletedAtMs === null);
      const items = existing.filter((group) => isWanted(groupProperties(group)));
      return collectionAnswer(simulation, call, {
        path: '/v1.0/groups',
        context: `groups${selectedSuffix(select)}`,
        items,
        idOf: ({ id }) => id,
        bodyOf: (group) => groupBody(group, select),
        top,
        skipToken,
        count: isCounted ? items.length : undefined,
      });
    },
  }),
  graphMethod(simulation, {
    path: '/v1.0/groups/:id',
    operation: 'group.get',
    lag: 'groups',
    rights: GROUP_RIGHTS,
    handle({ params: { id = '' }, query, view, headers }) {
      const { select } = queryOf(query, ['$select'], headers);
      return entityAnswer(`groups${selectedSuffix(select)}`, groupBody(groupById(view, id), select));
    },
  }),
];

export function groupBody(group: Group, select: readonly string[] | undefined) {
  const properties = groupProperties(group);
  return select === undefined ? properties : selected(properties, select, 'group');
}

/** Returns a group by its id. Graph does not find groups by address. @throws {DirectoryError} 404 */
export function groupById(view: View, id: string): Group {
  const group = view.storedGroup(id);
  if (group === undefined || group.deletedAtMs !== null) throw notFound(id);
  return group;
}
