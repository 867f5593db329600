import { type Attribute, attribute, text } from '../attribute.ts';

/** What every resource has, whatever its schema (RFC 7643 section 3.1); `/Schemas` does not list them. */
export const COMMON_ATTRIBUTES: readonly Attribute[] = [
  attribute('reference', 'schemas', 'Schemas of the resource.', {
    multiValued: true,
    caseExact: true,
    mutability: 'readOnly',
    returned: 'always',
  }),
  text('id', 'Our id of the resource.', { caseExact: true, mutability: 'readOnly', returned: 'always' }),
  text('externalId', "The client's id of the resource.", { caseExact: true }),
  attribute('complex', 'meta', 'Facts about the resource.', {
    mutability: 'readOnly',
    subAttributes: [
      text('resourceType', 'Name of its type.', { caseExact: true, mutability: 'readOnly' }),
      attribute('dateTime', 'created', 'When it was made.', { mutability: 'readOnly' }),
      attribute('dateTime', 'lastModified', 'When it last changed.', { mutability: 'readOnly' }),
      attribute('reference', 'location', 'Its address.', { caseExact: true, mutability: 'readOnly' }),
      text('version', 'Its weak entity tag.', { caseExact: true, mutability: 'readOnly' }),
    ],
  }),
];
