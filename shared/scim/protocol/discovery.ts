import { type Attribute, attribute, flag, type Schema, text } from './attribute.ts';
import { MAX_PAGE } from './list-query.ts';
import type { ResourceType, ResourceTypes } from './resource-type.ts';
import type { ScimObject, ScimValue } from './value.ts';

/** Returns the service provider configuration (RFC 7643 section 5). */
export const serviceProviderConfig = (baseUrl: string): ScimObject => ({
  schemas: [SERVICE_PROVIDER_CONFIG.id],
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: MAX_PAGE },
  changePassword: { supported: false },
  sort: { supported: false },
  etag: { supported: true },
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'OAuth Bearer Token',
      description: 'A token of this connection in the header Authorization, as Bearer.',
      specUri: 'https://www.rfc-editor.org/info/rfc6750',
      primary: true,
    },
    {
      type: 'oauth2',
      name: 'OAuth 2.0 client credentials',
      description: `An access token for a client of this connection, from POST ${baseUrl}/oauth/token.`,
      specUri: 'https://www.rfc-editor.org/info/rfc6749',
      primary: false,
    },
  ],
  meta: { resourceType: 'ServiceProviderConfig', location: `${baseUrl}/ServiceProviderConfig` },
});

/** Returns the document of a resource type (RFC 7643 section 6). */
export const resourceTypeDocument = (type: ResourceType, baseUrl: string): ScimObject => ({
  schemas: [RESOURCE_TYPE.id],
  id: type.name,
  name: type.name,
  description: type.core.description,
  endpoint: type.endpoint,
  schema: type.core.id,
  schemaExtensions:
    type.kept.extension === undefined ? [] : [{ schema: type.kept.extension.id, required: false }],
  meta: { resourceType: 'ResourceType', location: `${baseUrl}/ResourceTypes/${type.name}` },
});

/** Returns the document of a schema (RFC 7643 section 7). */
const schemaDocument = (schema: Schema, baseUrl: string): ScimObject => ({
  schemas: [SCHEMA.id],
  id: schema.id,
  name: schema.name,
  description: schema.description,
  attributes: schema.attributes as unknown as ScimValue,
  meta: { resourceType: 'Schema', location: `${baseUrl}/Schemas/${schema.id}` },
});

/** Returns the schemas of all resource types. `/Schemas` describes only attributes that are stored. */
export const schemaDocuments = (types: ResourceTypes, baseUrl: string): readonly ScimObject[] =>
  [
    types.User.kept.core,
    types.User.kept.extension,
    types.Group.kept.core,
    SERVICE_PROVIDER_CONFIG,
    RESOURCE_TYPE,
    SCHEMA,
  ]
    .filter((schema) => schema !== undefined)
    .map((schema) => schemaDocument(schema, baseUrl));

/* The schemas of the discovery documents (RFC 7643 section 8.7.2). Clients can only read these documents. */

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

const SERVICE_PROVIDER_CONFIG: Schema = {
  id: 'urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig',
  name: 'ServiceProviderConfig',
  description: 'Features of the server',
  attributes: [
    address('documentationUri', 'URL of the documentation.'),
    group('patch', 'PATCH.', [supported]),
    group('bulk', 'Bulk operations.', [
      supported,
      amount('maxOperations', 'Maximum number of operations in one request.'),
      amount('maxPayloadSize', 'Maximum size of a body in bytes.'),
    ]),
    group('filter', 'Filters.', [
      supported,
      amount('maxResults', 'Maximum number of resources in one response.'),
    ]),
    group('changePassword', 'Changes of passwords.', [supported]),
    group('sort', 'Sorting.', [supported]),
    group('etag', 'Entity tags.', [supported]),
    list('authenticationSchemes', 'How clients authenticate.', [
      exact('type', 'Kind of the scheme.', { canonicalValues: SCHEMES }),
      exact('name', 'Name of the scheme.'),
      exact('description', 'Description of the scheme.'),
      address('specUri', 'URL of the specification of the scheme.'),
      address('documentationUri', 'URL of the documentation.'),
      flag('primary', 'Whether the scheme is the preferred one.', fixed),
    ]),
  ],
};

const RESOURCE_TYPE: Schema = {
  id: 'urn:ietf:params:scim:schemas:core:2.0:ResourceType',
  name: 'ResourceType',
  description: 'A type of resource',
  attributes: [
    exact('id', 'Id of the type.', optional),
    exact('name', 'Name of the type.'),
    exact('description', 'Description of the type.', optional),
    address('endpoint', 'Path of the resources of the type, below the base URL.', uri),
    address('schema', 'Core schema of the type.', uri),
    list('schemaExtensions', 'Extensions of the type.', [
      address('schema', 'The schema of the extension.', uri),
      yesNo('required', 'Whether each resource must have the extension.'),
    ]),
  ],
};

/** The fields that define an attribute or a sub-attribute. Attributes also have the field `subAttributes`. */
const definition: readonly Attribute[] = [
  exact('name', 'Name of the attribute.'),
  exact('type', 'Type of the attribute.', { canonicalValues: TYPES }),
  yesNo('multiValued', 'Whether the attribute holds several values.'),
  exact('description', 'Description of the attribute.', optional),
  yesNo('required', 'Whether the attribute must have a value.'),
  exact('canonicalValues', 'Suggested values.', { required: false, multiValued: true }),
  flag('caseExact', 'Whether case matters.', fixed),
  exact('mutability', 'Whether clients may read and write the attribute.', { canonicalValues: WRITERS }),
  exact('returned', 'When a response contains the attribute.', {
    canonicalValues: ['always', 'never', 'default', 'request'],
  }),
  exact('uniqueness', 'Where the value is unique.', {
    ...optional,
    canonicalValues: ['none', 'server', 'global'],
  }),
  exact('referenceTypes', 'Types of resources that the attribute may refer to.', {
    required: false,
    multiValued: true,
  }),
];

const SCHEMA: Schema = {
  id: 'urn:ietf:params:scim:schemas:core:2.0:Schema',
  name: 'Schema',
  description: 'A schema',
  attributes: [
    exact('id', 'URN of the schema.'),
    exact('name', 'Name of the schema.', optional),
    exact('description', 'Description of the schema.', optional),
    list('attributes', 'Attributes of the schema.', [
      ...definition,
      list('subAttributes', 'Parts of a complex attribute.', definition),
    ]),
  ],
};
