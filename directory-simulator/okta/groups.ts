import * as z from 'zod';
import { endpoint } from '../engine/dialect.ts';
import type { Group, View } from '../engine/directory.ts';
import type { Access } from './access.ts';
import { listAnswer, type Org, pageParameters, withUndocumentedFields } from './api.ts';
import { groupBody, userBody } from './bodies.ts';
import { invalidSearch, notFound, validationFailed } from './errors.ts';
import { FilterError, type FilterFields, filterFor } from './filter.ts';
import {
  existingGroups,
  groupById,
  groupUpdatedAt,
  membershipUpdatedAt,
  shownTime,
  typeOf,
  usersOf,
} from './org.ts';

/** The scopes for groups and their members. A token needs one of these scopes. */
const GROUP_SCOPES = ['okta.groups.read', 'okta.groups.manage'];

/** Okta's "List all groups": the default page size is also the maximum, for historical reasons. */
const MAX_GROUPS = 10_000;
/** Okta's "List all member users": the default page size is 1,000. */
const MAX_MEMBERS = 1_000;

const Params = z.object({ groupId: z.string() });

export const groupEndpoints = (org: Org, access: Access) => [
  endpoint({
    method: 'GET',
    path: '/api/v1/groups',
    operation: 'listGroups',
    lag: 'groups',
    scopes: GROUP_SCOPES,
    query: z.object({
      filter: z.string().optional(),
      expand: z.string().optional(),
      q: z.string().optional(),
      search: z.string().optional(),
      ...pageParameters(MAX_GROUPS, MAX_GROUPS),
    }),
    handle(call) {
      const { query, view, url, requestNumber } = call;
      refuseSearch(query);
      const isWanted = groupFilter(view, query.filter);
      const hasStats = query.expand?.split(',').includes('stats') === true;
      return listAnswer(org, call, {
        key: ['groups', query.filter, query.expand],
        items: existingGroups(view).filter((group) => access.shows(group) && isWanted(group)),
        idOf: ({ id }) => id,
        bodyOf: (group) =>
          groupBody({
            view,
            group,
            orgUrl: org.orgUrl(url),
            ...(hasStats ? { usersCount: countOf(org, { view, group, requestNumber }) } : {}),
          }),
      });
    },
  }),
  endpoint({
    method: 'GET',
    path: '/api/v1/groups/:groupId',
    operation: 'getGroup',
    lag: 'groups',
    scopes: GROUP_SCOPES,
    params: Params,
    handle({ params: { groupId }, view, url, requestNumber }) {
      const group = shownGroup(view, access, groupId);
      return withUndocumentedFields(
        org.simulation,
        groupBody({ view, group, orgUrl: org.orgUrl(url) }),
        requestNumber,
      );
    },
  }),
  endpoint({
    method: 'GET',
    path: '/api/v1/groups/:groupId/users',
    operation: 'listGroupUsers',
    lag: 'members',
    scopes: GROUP_SCOPES,
    params: Params,
    query: z.object(pageParameters(MAX_MEMBERS, MAX_MEMBERS)),
    handle(call) {
      const { params, view, url } = call;
      const group = shownGroup(view, access, params.groupId);
      return listAnswer(org, call, {
        key: ['members', group.id],
        items: usersOf(view, group),
        idOf: ({ id }) => id,
        bodyOf: (user) => userBody(view, user, org.orgUrl(url)),
      });
    },
  }),
];

function shownGroup(view: View, access: Access, id: string): Group {
  const group = groupById(view, id);
  if (group === undefined || !access.shows(group)) throw notFound('UserGroup', id);
  return group;
}

/** Refuses the parameters for eventually consistent searches, which are not simulated. */
export function refuseSearch(query: {
  readonly q?: string | undefined;
  readonly search?: string | undefined;
}) {
  for (const name of ['q', 'search'] as const) {
    if (query[name] !== undefined) throw validationFailed(name, 'This parameter is not simulated.');
  }
}

function groupFilter(view: View, text: string | undefined): (group: Group) => boolean {
  if (text === undefined) return () => true;
  const time = (timeOf: (group: Group) => number) => ({
    operators: ['eq', 'gt', 'lt'] as const,
    isTime: true,
    valuesOf: (group: Group) => [shownTime(timeOf(group))],
  });
  const fields: FilterFields<Group> = {
    id: { operators: ['eq'], valuesOf: ({ id }) => [id] },
    type: { operators: ['eq'], valuesOf: (group) => [typeOf(group)] },
    lastUpdated: time((group) => groupUpdatedAt(view, group)),
    lastMembershipUpdated: time((group) => membershipUpdatedAt(view, group)),
  };
  try {
    return filterFor(text, fields);
  } catch (error) {
    if (error instanceof FilterError) throw invalidSearch();
    throw error;
  }
}

interface Counted {
  readonly view: View;
  readonly group: Group;
  readonly requestNumber: number;
}

/**
 * Returns the count that `expand=stats` shows: the number of users with any status, or a wrong count that a test has
 * set. null means that Okta returns no count.
 */
function countOf({ simulation }: Org, { view, group, requestNumber }: Counted): number | null {
  const wrong = simulation.wrongCounts.get(group.id);
  if (wrong !== undefined) return wrong === null ? null : Number(wrong);
  const random = simulation.random(`count/${group.id}/${requestNumber}`);
  if (random.chance(simulation.settings().absentCounts)) return null;
  return usersOf(view, group).length;
}
