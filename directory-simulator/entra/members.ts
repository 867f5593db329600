import type { Group, View } from '../engine/directory.ts';
import type { Simulation } from '../engine/simulation.ts';
import { collectionAnswer, type GraphCall, graphMethod } from './api.ts';
import { type Application, rolesOf } from './application.ts';
import { groupBody, groupById } from './groups.ts';
import { type DirectMember, type EntraKind, isHidden, membersOf } from './objects.ts';
import { DEFAULT_USER, type Properties, userProperties } from './properties.ts';
import { queryOf, selected, selectedSuffix } from './query.ts';
import { GROUP_RIGHTS, READ_HIDDEN_MEMBERS, USER_RIGHTS } from './rights.ts';

/** The kinds of members that a path with a cast can select. */
const CASTS = { 'microsoft.graph.user': 'user', 'microsoft.graph.group': 'group' } as const;
type Cast = keyof typeof CASTS;

export const memberMethods = (application: Application) =>
  [undefined, ...(Object.keys(CASTS) as Cast[])].map((cast) => {
    const { simulation } = application;
    const suffix = cast === undefined ? '' : `/${cast}`;
    return graphMethod(simulation, {
      path: `/v1.0/groups/:id/members${suffix}`,
      operation: `group.members.list${suffix}`,
      lag: 'members',
      rights: GROUP_RIGHTS,
      handle: (call) => memberList(application, call, cast),
    });
  });

function memberList(application: Application, call: GraphCall, cast: Cast | undefined) {
  const { simulation } = application;
  const { params, view, headers } = call;
  const accepted = ['$select', '$top', '$count', '$skiptoken'] as const;
  const { select, top, skipToken, isCounted } = queryOf(call.query, accepted, headers);
  const group = groupById(view, params['id'] ?? '');
  const roles = rolesOf(application, headers) ?? [];
  const kind = cast === undefined ? undefined : CASTS[cast];
  const collection = kind === undefined ? 'directoryObjects' : `${kind}s`;
  const shown = { simulation, view, roles, select, isCast: kind !== undefined };
  return collectionAnswer(simulation, call, {
    path: `/v1.0/groups/${group.id}/members${cast === undefined ? '' : `/${cast}`}`,
    context: `${collection}${selectedSuffix(select)}`,
    items: visibleMembers(simulation, view, { group, kind, roles }),
    idOf: ({ id }) => id,
    bodyOf: (member) => memberBody(shown, member),
    top,
    skipToken,
    count: isCounted ? countOf(simulation, call, { group, kind, roles }) : undefined,
  });
}

interface Wanted {
  readonly group: Group;
  readonly kind: EntraKind | undefined;
  readonly roles: readonly string[];
}

/**
 * Returns the members that a list shows. In version 1.0, lists leave out service principals (known issue). Without the
 * right `Member.Read.Hidden`, a group with hidden membership looks empty.
 */
function visibleMembers(simulation: Simulation, view: View, { group, kind, roles }: Wanted) {
  if (isHidden(group) && !roles.includes(READ_HIDDEN_MEMBERS)) return [];
  const { listsServicePrincipals } = simulation.settings();
  return membersOf(simulation, view, group).filter(
    (member) =>
      member.isLive &&
      (kind === undefined || member.kind === kind) &&
      (listsServicePrincipals || member.kind !== 'servicePrincipal'),
  );
}

/** Returns the count, which can be older than the list; undefined if the answer has no count. */
function countOf(simulation: Simulation, { view, requestNumber }: GraphCall, wanted: Wanted) {
  const { group, kind } = wanted;
  const wrong = simulation.wrongCounts.get(group.id);
  if (wrong !== undefined && kind !== 'group') return wrong === null ? undefined : Number(wrong);
  const { absentCounts, lagSeconds } = simulation.settings();
  const random = simulation.random(`count/${group.id}/${requestNumber}`);
  if (random.chance(absentCounts)) return undefined;
  const lagMs = lagSeconds.counts * 1_000 * random.fraction();
  const earlier = lagMs === 0 ? view : simulation.directory().viewAt(view.atMs - lagMs);
  return visibleMembers(simulation, earlier, wanted).length;
}

interface Shown {
  readonly simulation: Simulation;
  readonly view: View;
  readonly roles: readonly string[];
  readonly select: readonly string[] | undefined;
  readonly isCast: boolean;
}

/** Returns a member. In a list with a cast, members have no `@odata.type`, because all have the same type. */
function memberBody(shown: Shown, member: DirectMember) {
  const type = shown.isCast ? {} : { '@odata.type': `#microsoft.graph.${member.kind}` };
  return { ...type, ...memberProperties(shown, member) };
}

/**
 * Returns the properties of a member. If the application lacks the right to read this kind of member, only the id has a
 * value ("Limited information returned for inaccessible member objects").
 */
function memberProperties(shown: Shown, { id, kind }: DirectMember): Properties {
  const { simulation, view, roles, select, isCast } = shown;
  const user = kind === 'user' ? view.storedUser(id) : undefined;
  if (user !== undefined) {
    const known = userProperties(user, simulation.directory().domain);
    const names = namesFor(known, select ?? DEFAULT_USER, isCast);
    const properties = selected(known, names, 'user');
    return roles.some((role) => USER_RIGHTS.includes(role)) ? properties : limited(properties, id);
  }
  const group = kind === 'group' ? view.storedGroup(id) : undefined;
  if (group !== undefined) {
    const known = groupBody(group, undefined);
    return select === undefined ? known : selected(known, namesFor(known, select, isCast), 'group');
  }
  return limited(Object.fromEntries((select ?? ['id', 'displayName']).map((name) => [name, null])), id);
}

/**
 * Returns the selected properties that a member has. A list of several kinds leaves out the properties that a kind does
 * not have.
 */
const namesFor = (known: Properties, names: readonly string[], isCast: boolean) =>
  isCast ? names : names.filter((name) => Object.hasOwn(known, name));

const limited = (properties: Properties, id: string): Properties => ({
  ...Object.fromEntries(Object.keys(properties).map((name) => [name, null])),
  id,
});
