import { attribute, type Schema, text } from '../attribute.ts';

/** RFC 7643 sections 4.2 and 8.7.1; names are unique here, because a platform group is found by its name. */
export const GROUP_SCHEMA: Schema = {
  id: 'urn:ietf:params:scim:schemas:core:2.0:Group',
  name: 'Group',
  description: 'Group',
  attributes: [
    text('displayName', 'Name of the group; unique without regard to case.', {
      required: true,
      uniqueness: 'server',
    }),
    attribute('complex', 'members', 'The users in the group.', {
      multiValued: true,
      subAttributes: [
        text('value', 'Id of the member.', { caseExact: true, mutability: 'immutable' }),
        attribute('reference', '$ref', 'Address of the member.', {
          caseExact: true,
          mutability: 'immutable',
          referenceTypes: ['User'],
        }),
        text('type', 'Type of the member.', { mutability: 'immutable', canonicalValues: ['User'] }),
      ],
    }),
  ],
};
