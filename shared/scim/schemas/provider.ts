import { type Attribute, attribute, flag, type Schema, text } from '../attribute.ts';

/* Schemas of the discovery documents themselves (RFC 7643 section 8.7.2). Clients can read but not write them. */

const TYPES = 'string complex boolean decimal integer dateTime reference binary'.split(' ');
const WRITERS = ['readOnly', 'readWrite', 'immutable', 'writeOnly'];
const SCHEMES = 'oauth oauth2 oauthbearertoken httpbasic httpdigest'.split(' ');
const fixed = { mutability: 'readOnly' } as const;
const needed = { ...fixed, required: true } as const;
const optional = { required: false } as const;
const uri = { required: true, referenceTypes: ['uri'] } as const;

const exact = (name: string, description: string, details = {}) =>
  text(name, description, { ...needed, caseExact: true, ...details });

const address = (name: string, description: string, details = {}) =>
  attribute('reference', name, description, {
    ...fixed,
    caseExact: true,
    referenceTypes: ['external'],
    ...details,
  });

const yesNo = (name: string, description: string) => flag(name, description, needed);

const amount = (name: string, description: string) => attribute('integer', name, description, needed);

const complex =
  (details: object) => (name: string, description: string, subAttributes: readonly Attribute[]) =>
    attribute('complex', name, description, { ...details, subAttributes });
const group = complex(needed);
const list = complex({ ...fixed, multiValued: true });

const supported = yesNo('supported', 'Whether the operation is supported.');

export const SERVICE_PROVIDER_CONFIG: Schema = {
  id: 'urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig',
  name: 'ServiceProviderConfig',
  description: 'Features of the server',
  attributes: [
    address('documentationUri', 'Where people read how to use it.'),
    group('patch', 'PATCH.', [supported]),
    group('bulk', 'Bulk operations.', [
      supported,
      amount('maxOperations', 'Most operations in one request.'),
      amount('maxPayloadSize', 'Largest body, in bytes.'),
    ]),
    group('filter', 'Filters.', [supported, amount('maxResults', 'Most resources in one answer.')]),
    group('changePassword', 'Changes of passwords.', [supported]),
    group('sort', 'Sorting.', [supported]),
    group('etag', 'Entity tags.', [supported]),
    list('authenticationSchemes', 'How clients authenticate.', [
      exact('type', 'Kind of the scheme.', { canonicalValues: SCHEMES }),
      exact('name', 'Name of the scheme.'),
      exact('description', 'What it is.'),
      address('specUri', 'Where it is specified.'),
      address('documentationUri', 'Where people read how to use it.'),
      flag('primary', 'Whether it is the preferred one.', fixed),
    ]),
  ],
};

const pagination = complex(fixed)('pagination', 'Pages of lists (RFC 9865).', [
  yesNo('cursor', 'Whether by cursor.'),
  yesNo('index', 'Whether by startIndex.'),
  exact('defaultPaginationMethod', 'Which one without either.', optional),
  attribute('integer', 'defaultPageSize', 'Resources in an answer without count.', fixed),
  attribute('integer', 'maxPageSize', 'Most resources in one answer.', fixed),
]);

export const withPagination = (schema: Schema): Schema => ({
  ...schema,
  attributes: [...schema.attributes, pagination],
});

export const RESOURCE_TYPE: Schema = {
  id: 'urn:ietf:params:scim:schemas:core:2.0:ResourceType',
  name: 'ResourceType',
  description: 'A type of resource',
  attributes: [
    exact('id', 'Id of the type.', optional),
    exact('name', 'Name of the type.'),
    exact('description', 'What it is.', optional),
    address('endpoint', 'Where its resources are, below the base URL.', uri),
    address('schema', 'Its core schema.', uri),
    list('schemaExtensions', 'Its extensions.', [
      address('schema', 'The schema of the extension.', uri),
      yesNo('required', 'Whether each resource must have it.'),
    ]),
  ],
};

/**
 * Definition of an attribute and of a sub-attribute. They differ only in that a sub-attribute has no sub-attributes.
 */
const definition: readonly Attribute[] = [
  exact('name', 'Name of the attribute.'),
  exact('type', 'Its type.', { canonicalValues: TYPES }),
  yesNo('multiValued', 'Whether it holds several values.'),
  exact('description', 'What it is.', optional),
  yesNo('required', 'Whether it must have a value.'),
  exact('canonicalValues', 'Values that are suggested.', { required: false, multiValued: true }),
  flag('caseExact', 'Whether case matters.', fixed),
  exact('mutability', 'Who may change it.', { canonicalValues: WRITERS }),
  exact('returned', 'When it is shown.', { canonicalValues: ['always', 'never', 'default', 'request'] }),
  exact('uniqueness', 'Where it is unique.', { ...optional, canonicalValues: ['none', 'server', 'global'] }),
  exact('referenceTypes', 'What it may refer to.', { required: false, multiValued: true }),
];

export const SCHEMA: Schema = {
  id: 'urn:ietf:params:scim:schemas:core:2.0:Schema',
  name: 'Schema',
  description: 'A schema',
  attributes: [
    exact('id', 'URN of the schema.'),
    exact('name', 'Its name.', optional),
    exact('description', 'What it describes.', optional),
    list('attributes', 'Its attributes.', [
      ...definition,
      list('subAttributes', 'Parts of a complex attribute.', definition),
    ]),
  ],
};
