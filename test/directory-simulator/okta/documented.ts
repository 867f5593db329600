/**
 * Objects with the fields of Okta's documented examples, and with other values. Sources: Groups API (List groups),
 * Users API (List all users), System Log API (LogEvent object), error codes, DPoP guide.
 */
const logo = { name: 'medium', href: 'text', type: 'image/png' };
const links = { logo: [logo, logo], users: { href: 'text' }, apps: { href: 'text' } };
const times = { created: 'text', lastUpdated: 'text', lastMembershipUpdated: 'text' };

export const OKTA_GROUP = {
  id: 'text',
  ...times,
  objectClass: ['okta:user_group'],
  type: 'OKTA_GROUP',
  profile: { name: 'text', description: 'text' },
  _links: links,
};

export const APP_GROUP = {
  ...OKTA_GROUP,
  objectClass: ['okta:windows_security_principal'],
  profile: {
    name: 'text',
    description: 'text',
    groupType: 'Security',
    samAccountName: 'text',
    objectSid: 'text',
    groupScope: 'Global',
    dn: 'text',
    windowsDomainQualifiedName: 'text',
    externalId: 'text',
  },
  source: { id: 'text' },
  _links: { ...links, source: { href: 'text' } },
};

export const USER = {
  id: 'text',
  status: 'ACTIVE',
  created: 'text',
  activated: null,
  statusChanged: null,
  lastLogin: 'text',
  lastUpdated: 'text',
  passwordChanged: 'text',
  type: { id: 'text' },
  profile: {
    firstName: 'text',
    lastName: 'text',
    mobilePhone: null,
    secondEmail: null,
    login: 'text',
    email: 'text',
  },
  credentials: { password: {}, provider: { type: 'OKTA', name: 'OKTA' } },
  _links: { self: { href: 'text' } },
};

const actor = { id: 'text', type: 'User', alternateId: 'text', displayName: 'text', detailEntry: null };
export const LOG_EVENT = {
  uuid: 'text',
  published: 'text',
  eventType: 'text',
  version: '0',
  severity: 'INFO',
  legacyEventType: 'text',
  displayMessage: 'text',
  actor,
  client: {
    userAgent: { rawUserAgent: 'text', os: 'text', browser: 'text' },
    geographicalContext: null,
    zone: 'text',
    ipAddress: 'text',
    device: 'text',
    id: null,
  },
  device: null,
  outcome: { result: 'SUCCESS', reason: null },
  target: [actor, actor],
  transaction: { id: 'text', type: 'WEB', detail: {} },
  debugContext: { debugData: { requestId: 'text' } },
  authenticationContext: {
    authenticationProvider: null,
    credentialProvider: null,
    credentialType: null,
    issuer: null,
    externalSessionId: 'text',
    interface: null,
    authenticationStep: 0,
  },
  securityContext: { asNumber: null, asOrg: null, isp: null, domain: null, isProxy: null },
  request: { ipChain: [{ ip: 'text', geographicalContext: null, version: 'V4', source: null }] },
};

export const ERROR = {
  errorCode: 'E0000007',
  errorSummary: 'Not found: Resource not found: missing@example.com (User)',
  errorLink: 'E0000007',
  errorId: 'text',
  errorCauses: [],
};
