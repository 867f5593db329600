import { type Attribute, attribute, type Schema, text } from '../attribute.ts';

/** Attributes of every resource (RFC 7643 section 3.1). `/Schemas` does not list these attributes. */
export const COMMON_ATTRIBUTES: readonly Attribute[] = [
  attribute('reference', 'schemas', 'Schemas of the resource.', {
    multiValued: true,
    caseExact: true,
    mutability: 'readOnly',
    returned: 'always',
  }),
  text('id', "The server's id of the resource.", {
    caseExact: true,
    mutability: 'readOnly',
    returned: 'always',
  }),
  text('externalId', "The client's id of the resource.", { caseExact: true }),
  attribute('complex', 'meta', 'Facts about the resource.', {
    mutability: 'readOnly',
    subAttributes: [
      text('resourceType', 'Name of the type of the resource.', { caseExact: true, mutability: 'readOnly' }),
      attribute('dateTime', 'created', 'When the resource was created.', { mutability: 'readOnly' }),
      attribute('dateTime', 'lastModified', 'When the resource last changed.', { mutability: 'readOnly' }),
      attribute('reference', 'location', 'URL of the resource.', { caseExact: true, mutability: 'readOnly' }),
      text('version', 'Weak entity tag of the resource.', { caseExact: true, mutability: 'readOnly' }),
    ],
  }),
];

/**
 * Returns the schema of groups (RFC 7643 sections 4.2 and 8.7.1). Names are unique, because groupsync finds a platform
 * group by its name.
 * @param memberTypes types of resources that can be members
 */
const groupSchema = (memberTypes: readonly string[]): Schema => ({
  id: 'urn:ietf:params:scim:schemas:core:2.0:Group',
  name: 'Group',
  description: 'Group',
  attributes: [
    text(
      'displayName',
      'Name of the group; unique without regard to case, white space and invisible characters.',
      {
        required: true,
        uniqueness: 'server',
      },
    ),
    attribute('complex', 'members', 'The members of the group.', {
      multiValued: true,
      subAttributes: [
        text('value', 'Id of the member.', { caseExact: true, mutability: 'immutable' }),
        attribute('reference', '$ref', 'Address of the member.', {
          caseExact: true,
          mutability: 'immutable',
          referenceTypes: memberTypes,
        }),
        text('display', 'The displayName of the member, or its userName if it has no displayName.', {
          mutability: 'readOnly',
        }),
        text('type', 'Type of the member.', { mutability: 'immutable', canonicalValues: memberTypes }),
      ],
    }),
  ],
});

export const GROUP_SCHEMA = groupSchema(['User']);
export const NESTING_GROUP_SCHEMA = groupSchema(['User', 'Group']);
