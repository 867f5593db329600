import * as z from 'zod';
import type { Membership, View } from '../engine/directory.ts';
import type { Simulation } from '../engine/simulation.ts';
import { apiMethod, listAnswer, pageParameters } from './api.ts';
import { memberBody } from './bodies.ts';
import { groupByKey } from './customer-checks.ts';
import { forbidden, invalidInput, notFound } from './errors.ts';
import type { Mask } from './field-mask.ts';
import { MEMBER_SCOPES } from './scopes.ts';

const ROLES = ['OWNER', 'MANAGER', 'MEMBER'];

export const memberMethods = (simulation: Simulation) => [
  apiMethod(simulation, {
    path: '/admin/directory/v1/groups/:groupKey/members',
    operation: 'directory.members.list',
    lag: 'members',
    scopes: MEMBER_SCOPES,
    params: z.object({ groupKey: z.string() }),
    query: {
      roles: z.string().optional(),
      includeDerivedMembership: z.enum(['true', 'false']).default('false'),
      ...pageParameters(200, 200),
    },
    handle({ params, query, view, mask }) {
      const group = groupByKey(simulation.directory(), view, params.groupKey);
      const isDerived = query.includeDerivedMembership === 'true';
      const all = isDerived ? derivedMembers(simulation, view, group.id) : view.members(group.id);
      refuseExternalStatus(all, mask);
      const roles = rolesOf(query.roles);
      return listAnswer(simulation, {
        key: ['members', group.id, query.roles, query.includeDerivedMembership],
        kind: 'admin#directory#members',
        field: 'members',
        items: all.filter(({ role }) => roles.includes(role)),
        idOf: ({ memberId }) => memberId,
        bodyOf: (membership) => memberBody(view, membership),
        query,
      });
    },
  }),
  apiMethod(simulation, {
    path: '/admin/directory/v1/groups/:groupKey/members/:memberKey',
    operation: 'directory.members.get',
    lag: 'members',
    scopes: MEMBER_SCOPES,
    params: z.object({ groupKey: z.string(), memberKey: z.string() }),
    query: {},
    handle({ params: { groupKey, memberKey }, view }) {
      const group = groupByKey(simulation.directory(), view, groupKey);
      const id = view.user(memberKey)?.id ?? view.group(memberKey)?.id ?? memberKey;
      const membership =
        view.membership(group.id, id) ??
        view.members(group.id).find(({ externalEmail }) => externalEmail === memberKey);
      if (membership === undefined) throw notFound('memberKey');
      return { ...memberBody(view, membership), delivery_settings: 'ALL_MAIL' };
    },
  }),
  apiMethod(simulation, {
    path: '/admin/directory/v1/groups/:groupKey/hasMember/:memberKey',
    operation: 'directory.members.hasMember',
    lag: 'members',
    scopes: MEMBER_SCOPES,
    params: z.object({ groupKey: z.string(), memberKey: z.string() }),
    query: {},
    handle({ params: { groupKey, memberKey }, view }) {
      const group = groupByKey(simulation.directory(), view, groupKey);
      const user = view.user(memberKey);
      // Google refuses a `memberKey` that is a group or a person of another domain (members.hasMember, "Invalid
      // input").
      if (user === undefined) throw invalidInput('memberKey');
      const below = membersBelow(view, group.id);
      const isMember = below.some(({ memberId, kind }) => memberId === user.id || kind === 'everyone');
      return { isMember };
    },
  }),
];

function rolesOf(text: string | undefined): readonly string[] {
  if (text === undefined || text === '') return ROLES;
  const roles = text.split(',').map((role) => role.trim().toUpperCase());
  if (roles.some((role) => !ROLES.includes(role))) throw invalidInput('roles');
  return roles;
}

/** Refuses a request for the field `status` if the group has members of another customer. */
function refuseExternalStatus(members: readonly Membership[], mask: Mask): void {
  const isAsked = mask['members']?.['status'] !== undefined;
  if (isAsked && members.some(({ externalEmail }) => externalEmail !== null)) throw forbidden();
}

/**
 * Returns the direct members and the members of all nested groups. Each member occurs once, with the first membership
 * that the search found.
 */
function membersBelow(view: View, groupId: string): readonly Membership[] {
  const found = new Map<string, Membership>();
  const waiting = [groupId];
  for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
    for (const membership of view.members(id)) {
      if (found.has(membership.memberId)) continue;
      found.set(membership.memberId, membership);
      if (membership.kind === 'group') waiting.push(membership.memberId);
    }
  }
  return [...found.values()];
}

/**
 * Returns the members and the indirect members. Some indirect members are left out, because users reported incomplete
 * lists (googleapis issue tracker 158068869).
 */
function derivedMembers(simulation: Simulation, view: View, groupId: string): readonly Membership[] {
  const share = simulation.settings().missingDerivedMembers;
  return membersBelow(view, groupId).filter(({ memberId }) => {
    if (view.membership(groupId, memberId) !== undefined) return true;
    return !simulation.random(`derived/${groupId}/${memberId}`).chance(share);
  });
}
