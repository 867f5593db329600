import type { Schema } from './attribute.ts';
import { MAX_PAGE } from './list-query.ts';
import type { ResourceType, ResourceTypes } from './resource-type.ts';
import type { ScimObject, ScimValue } from './value.ts';

const CORE = 'urn:ietf:params:scim:schemas:core:2.0';

/** Returns the service provider configuration (RFC 7643 section 5). */
export const serviceProviderConfig = (baseUrl: string): ScimObject => ({
  schemas: [`${CORE}:ServiceProviderConfig`],
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
  schemas: [`${CORE}:ResourceType`],
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
  schemas: [`${CORE}:Schema`],
  id: schema.id,
  name: schema.name,
  description: schema.description,
  attributes: schema.attributes as unknown as ScimValue,
  meta: { resourceType: 'Schema', location: `${baseUrl}/Schemas/${schema.id}` },
});

/** Returns the schemas of all resource types. `/Schemas` describes only attributes that are stored. */
export const schemaDocuments = (types: ResourceTypes, baseUrl: string): readonly ScimObject[] =>
  [types.User.kept.core, types.User.kept.extension, types.Group.kept.core]
    .filter((schema) => schema !== undefined)
    .map((schema) => schemaDocument(schema, baseUrl));
