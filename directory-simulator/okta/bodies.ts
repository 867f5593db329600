import type { Group, User, View } from '../engine/directory.ts';
import {
  groupUpdatedAt,
  loginOf,
  membershipUpdatedAt,
  shownTime,
  statusOf,
  typeOf,
  userUpdatedAt,
} from './org.ts';

/** Returns a user as lists show it (Users API, user object). */
export function userBody(view: View, user: User, orgUrl: string) {
  const created = shownTime(user.createdAtMs);
  const status = statusOf(user);
  const wasActivated = status !== 'STAGED';
  const further = user.vendorFields['profile'];
  return {
    id: user.id,
    status,
    created,
    activated: wasActivated ? created : null,
    statusChanged: wasActivated ? created : null,
    lastLogin: status === 'ACTIVE' ? created : null,
    lastUpdated: shownTime(userUpdatedAt(view, user)),
    passwordChanged: wasActivated ? created : null,
    type: { id: 'oty1simulated00000g4' },
    profile: {
      firstName: user.givenName,
      lastName: user.familyName,
      mobilePhone: null,
      secondEmail: user.aliases[0] ?? null,
      login: loginOf(user),
      email: user.primaryEmail,
      ...(typeof further === 'object' && further !== null ? further : {}),
    },
    credentials: { password: {}, provider: { type: 'OKTA', name: 'OKTA' } },
    _links: { self: { href: `${orgUrl}/api/v1/users/${user.id}` } },
  };
}

const LOGOS = { OKTA_GROUP: 'okta', BUILT_IN: 'okta', APP_GROUP: 'active_directory' } as const;
const APP_ID = '0oa1simulated0Direct4';

interface GroupShown {
  readonly view: View;
  readonly group: Group;
  readonly orgUrl: string;
  /** The shown count of users. null means statistics without a count, and undefined means no statistics. */
  readonly usersCount?: number | null;
}

/** Returns a group (Groups API, group object). Only a group of an app has `source`, and fields of this app. */
export function groupBody({ view, group, orgUrl, usersCount }: GroupShown) {
  const type = typeOf(group);
  const isOfApp = type === 'APP_GROUP';
  const logo = LOGOS[type as keyof typeof LOGOS] ?? 'okta';
  const link = (what: string) => ({ href: `${orgUrl}/api/v1/groups/${group.id}/${what}` });
  return {
    id: group.id,
    created: shownTime(group.createdAtMs),
    lastUpdated: shownTime(groupUpdatedAt(view, group)),
    lastMembershipUpdated: shownTime(membershipUpdatedAt(view, group)),
    objectClass: [isOfApp ? 'okta:windows_security_principal' : 'okta:user_group'],
    type,
    profile: {
      name: group.name,
      description: group.description === '' ? null : group.description,
      ...(isOfApp ? profileOfApp(group) : {}),
    },
    ...(isOfApp ? { source: { id: APP_ID } } : {}),
    ...(usersCount === undefined ? {} : { _embedded: { stats: statsOf(usersCount, link('users')) } }),
    _links: {
      logo: ['medium', 'large'].map((name) => ({
        name,
        href: `${orgUrl}/img/logos/groups/${logo}-${name}.png`,
        type: 'image/png',
      })),
      ...(isOfApp ? { source: { href: `${orgUrl}/api/v1/apps/${APP_ID}` } } : {}),
      users: link('users'),
      apps: link('apps'),
    },
  };
}

const profileOfApp = ({ id, name }: Group) => ({
  groupType: 'Security',
  samAccountName: name,
  objectSid: `S-1-5-21-717838489-685202119-709183397-${1_000 + (name.length % 9_000)}`,
  groupScope: 'Global',
  dn: `CN=${name},OU=Groups,DC=corp,DC=example,DC=com`,
  windowsDomainQualifiedName: `CORP\\${name}`,
  externalId: Buffer.from(id).toString('base64'),
});

const statsOf = (usersCount: number | null, users: { readonly href: string }) => ({
  ...(usersCount === null ? {} : { usersCount }),
  appsCount: 0,
  groupPushMappingsCount: 0,
  hasAdminPrivilege: false,
  _links: { users },
});
