import { type Attribute, attribute, flag, plural, type Schema, text } from '../attribute.ts';

const USER_URN = 'urn:ietf:params:scim:schemas:core:2.0:User';
const ENTERPRISE_URN = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

/** Attributes that are always stored, because matching and membership need them. */
const NEEDED: readonly Attribute[] = [
  text('userName', 'Login name; unique without regard to case.', { required: true, uniqueness: 'server' }),
  flag('active', 'Whether the user counts as a member of groups.'),
  plural('emails', 'E-mail addresses.', ['work', 'home', 'other']),
];
const EMPLOYEE_NUMBER = text('employeeNumber', 'Number of the employee.');
const USER_TYPE = text('userType', 'Relation to the organisation.');
const DEPARTMENT = text('department', 'Department.');

const complex = (name: string, description: string, subAttributes: readonly Attribute[]) =>
  attribute('complex', name, description, { subAttributes });

const address = attribute('complex', 'addresses', 'Postal addresses.', {
  multiValued: true,
  subAttributes: [
    text('formatted', 'The whole address.'),
    text('streetAddress', 'Street and number.'),
    text('locality', 'City.'),
    text('region', 'State or region.'),
    text('postalCode', 'Postal code.'),
    text('country', 'Country.'),
    text('type', 'What the address is used for.', { canonicalValues: ['work', 'home', 'other'] }),
    flag('primary', 'Whether this is the preferred address.'),
  ],
});

const photo = attribute('reference', 'value', 'Address of the photo.', {
  caseExact: true,
  referenceTypes: ['external'],
});
const certificate = attribute('binary', 'value', 'The certificate, in DER and base64.', { caseExact: true });

/** Attributes that are stored only with the setting `scim.storeProfile`. A password is never stored. */
const PROFILE: readonly Attribute[] = [
  complex('name', 'Parts of the name.', [
    text('formatted', 'The whole name.'),
    text('familyName', 'Family name.'),
    text('givenName', 'Given name.'),
    text('middleName', 'Middle names.'),
    text('honorificPrefix', 'Title before the name.'),
    text('honorificSuffix', 'Suffix after the name.'),
  ]),
  text('displayName', 'Name for people to read.'),
  text('nickName', 'Casual name.'),
  attribute('reference', 'profileUrl', 'Address of a profile page.', { referenceTypes: ['external'] }),
  text('title', 'Job title.'),
  USER_TYPE,
  text('preferredLanguage', 'Language.'),
  text('locale', 'Locale.'),
  text('timezone', 'Time zone.'),
  plural('phoneNumbers', 'Phone numbers.', ['work', 'home', 'mobile', 'fax', 'pager', 'other']),
  plural('ims', 'Instant messaging addresses.'),
  plural('photos', 'Addresses of photos.', ['photo', 'thumbnail'], photo),
  address,
  plural('entitlements', 'Entitlements.'),
  plural('roles', 'Roles.'),
  plural('x509Certificates', 'Certificates.', [], certificate),
];

const ENTERPRISE_PROFILE: readonly Attribute[] = [
  text('costCenter', 'Cost centre.'),
  text('organization', 'Organisation.'),
  text('division', 'Division.'),
  DEPARTMENT,
  complex('manager', 'The manager.', [
    text('value', 'Id of the manager.', { caseExact: true }),
    attribute('reference', '$ref', 'URL of the user resource of the manager.', { referenceTypes: ['User'] }),
    text('displayName', 'Name of the manager.', { mutability: 'readOnly' }),
  ]),
];

const schema =
  (id: string, name: string, description: string) =>
  (attributes: readonly Attribute[]): Schema => ({ id, name, description, attributes });
const user = schema(USER_URN, 'User', 'User account');
const enterprise = schema(ENTERPRISE_URN, 'EnterpriseUser', 'Enterprise user');

const PASSWORD = text('password', 'Password of the user; accepted but never stored.', {
  caseExact: true,
  mutability: 'writeOnly',
  returned: 'never',
});

export const FULL_USER = [
  user([...NEEDED, ...PROFILE]),
  enterprise([EMPLOYEE_NUMBER, ...ENTERPRISE_PROFILE]),
] as const;
/** All attributes that a client can send (RFC 7643 section 4.1). */
export const NAMED_USER = user([...FULL_USER[0].attributes, PASSWORD]);
/** Returns the schemas without the profile. `type` and `department` are attributes of `people.exclude`. */
export const leanUser = (named: readonly string[]) =>
  [
    user([...NEEDED, ...(named.includes('type') ? [USER_TYPE] : [])]),
    enterprise([EMPLOYEE_NUMBER, ...(named.includes('department') ? [DEPARTMENT] : [])]),
  ] as const;
