import type { Group, User } from '../engine/directory.ts';
import { isUnified } from './objects.ts';

export type Properties = Readonly<Record<string, unknown>>;

const timeOf = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`;

/** The properties of a user in an answer without `$select` (resource type user). */
export const DEFAULT_USER = [
  'businessPhones',
  'displayName',
  'givenName',
  'jobTitle',
  'mail',
  'mobilePhone',
  'officeLocation',
  'preferredLanguage',
  'surname',
  'userPrincipalName',
  'id',
];

/** Returns the user principal name. For a guest, it is computed from the guest's address. */
export function principalNameOf({ primaryEmail, vendorFields }: User, domain: string): string {
  const given = vendorFields['userPrincipalName'];
  if (typeof given === 'string') return given;
  if (vendorFields['userType'] !== 'Guest') return primaryEmail;
  return `${primaryEmail.replace('@', '_')}#EXT#@${domain}`;
}

export function userProperties(user: User, domain: string): Properties {
  const isGuest = user.vendorFields['userType'] === 'Guest';
  const others = user.aliases.map((alias) => `smtp:${alias}`);
  return {
    businessPhones: [],
    displayName: `${user.givenName} ${user.familyName}`.trim() || user.primaryEmail,
    givenName: user.givenName === '' ? null : user.givenName,
    jobTitle: null,
    mail: user.primaryEmail,
    mobilePhone: null,
    officeLocation: null,
    preferredLanguage: null,
    surname: user.familyName === '' ? null : user.familyName,
    userPrincipalName: principalNameOf(user, domain),
    id: user.id,
    accountEnabled: !user.suspended && !user.archived,
    companyName: null,
    createdDateTime: timeOf(user.createdAtMs),
    creationType: isGuest ? 'Invitation' : null,
    deletedDateTime: user.deletedAtMs === null ? null : timeOf(user.deletedAtMs),
    department: user.orgUnitPath === '/' ? null : user.orgUnitPath.slice(1),
    employeeId: null,
    externalUserState: isGuest ? 'Accepted' : null,
    mailNickname: user.primaryEmail.split('@', 1)[0] ?? '',
    onPremisesImmutableId: null,
    onPremisesSyncEnabled: null,
    otherMails: isGuest ? [user.primaryEmail] : [],
    proxyAddresses: [`SMTP:${user.primaryEmail}`, ...others],
    userType: 'Member',
    ...user.vendorFields,
  };
}

/** Returns all properties of a group. An answer without `$select` contains all properties (Get group, example 1). */
export function groupProperties(group: Group): Properties {
  const isMailEnabled = isUnified(group);
  return {
    id: group.id,
    deletedDateTime: group.deletedAtMs === null ? null : timeOf(group.deletedAtMs),
    classification: null,
    createdDateTime: '2020-01-01T00:00:00Z',
    description: group.description === '' ? null : group.description,
    displayName: group.name,
    expirationDateTime: null,
    groupTypes: [],
    isAssignableToRole: null,
    mail: isMailEnabled ? group.email : null,
    mailEnabled: isMailEnabled,
    mailNickname: group.email.split('@', 1)[0] ?? '',
    membershipRule: null,
    membershipRuleProcessingState: null,
    onPremisesDomainName: null,
    onPremisesLastSyncDateTime: null,
    onPremisesNetBiosName: null,
    onPremisesSamAccountName: null,
    onPremisesSecurityIdentifier: null,
    onPremisesSyncEnabled: null,
    preferredDataLocation: null,
    preferredLanguage: null,
    proxyAddresses: isMailEnabled ? [`SMTP:${group.email}`] : [],
    renewedDateTime: '2020-01-01T00:00:00Z',
    resourceBehaviorOptions: [],
    resourceProvisioningOptions: [],
    securityEnabled: !isMailEnabled,
    securityIdentifier: 'S-1-12-1-0-0-0-0',
    theme: null,
    visibility: isMailEnabled ? 'Private' : null,
    onPremisesProvisioningErrors: [],
    ...group.vendorFields,
  };
}
