import { expect } from 'vitest';
import * as z from 'zod';
import type { Answer, Client } from './server.ts';

/*
 * A client whose models follow RFC 7643 and refuse unknown attributes, like the models of typed client libraries. The
 * client knows only the base URL. It finds endpoints and schemas by discovery.
 */

const CORE = 'urn:ietf:params:scim:schemas:core:2.0';
const MESSAGES = 'urn:ietf:params:scim:api:messages:2.0';
const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

const text = z.string().min(1);
const url = z.url();
const texts = (...names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, text.optional()]));
const schemas = (...urns: string[]) => z.tuple(urns.map((urn) => z.literal(urn)) as [z.ZodLiteral<string>]);
const meta = (resourceType: string) =>
  z.strictObject({
    resourceType: z.literal(resourceType),
    created: z.iso.datetime().optional(),
    lastModified: z.iso.datetime().optional(),
    location: url,
    version: z
      .string()
      .regex(/^W\/".+"$/)
      .optional(),
  });
/** The default sub-attributes of a multi-valued attribute (RFC 7643 section 2.4). */
const plural = (value: z.ZodType = text) =>
  z.array(
    z.strictObject({
      value: value.optional(),
      type: text.optional(),
      display: text.optional(),
      primary: z.boolean().optional(),
      $ref: url.optional(),
    }),
  );

/** A part of ServiceProviderConfig (RFC 7643 section 5). */
const supported = z.strictObject({ supported: z.boolean() });
const ServiceProviderConfig = z.strictObject({
  schemas: schemas(`${CORE}:ServiceProviderConfig`),
  documentationUri: url.optional(),
  patch: supported,
  bulk: supported.extend({ maxOperations: z.int(), maxPayloadSize: z.int() }),
  filter: supported.extend({ maxResults: z.int() }),
  changePassword: supported,
  sort: supported,
  etag: supported,
  authenticationSchemes: z
    .array(
      z.strictObject({
        type: z.enum(['oauth', 'oauth2', 'oauthbearertoken', 'httpbasic', 'httpdigest']),
        name: text,
        description: text,
        specUri: url.optional(),
        documentationUri: url.optional(),
        primary: z.boolean().optional(),
      }),
    )
    .min(1),
  meta: meta('ServiceProviderConfig'),
});

/** The model of a resource type (RFC 7643 section 6). */
const ResourceType = z.strictObject({
  schemas: schemas(`${CORE}:ResourceType`),
  id: text.optional(),
  name: text,
  description: text.optional(),
  endpoint: z.string().startsWith('/'),
  schema: z.string().startsWith('urn:'),
  schemaExtensions: z
    .array(z.strictObject({ schema: z.string().startsWith('urn:'), required: z.boolean() }))
    .optional(),
  meta: meta('ResourceType'),
});

/** The characteristics of an attribute in a schema (RFC 7643 section 7). */
const characteristics = {
  name: text,
  type: z.enum(['string', 'boolean', 'decimal', 'integer', 'dateTime', 'binary', 'reference', 'complex']),
  multiValued: z.boolean(),
  description: text.optional(),
  required: z.boolean(),
  canonicalValues: z.array(z.string()).optional(),
  caseExact: z.boolean(),
  mutability: z.enum(['readOnly', 'readWrite', 'immutable', 'writeOnly']),
  returned: z.enum(['always', 'never', 'default', 'request']),
  uniqueness: z.enum(['none', 'server', 'global']),
  referenceTypes: z.array(text).optional(),
};
const SubAttribute = z.strictObject({
  ...characteristics,
  subAttributes: z.array(z.strictObject(characteristics)).optional(),
});
const Schema = z.strictObject({
  schemas: schemas(`${CORE}:Schema`).optional(),
  id: z.string().startsWith('urn:'),
  name: text.optional(),
  description: text.optional(),
  attributes: z.array(SubAttribute.extend({ subAttributes: z.array(SubAttribute).optional() })),
  meta: meta('Schema').optional(),
});

/** The model of a user, with the enterprise extension (RFC 7643 sections 4.1 and 4.3). */
const User = z.strictObject({
  schemas: z.array(z.enum([`${CORE}:User`, ENTERPRISE])).min(1),
  id: text,
  externalId: text.optional(),
  userName: text,
  name: z
    .strictObject(
      texts('formatted', 'familyName', 'givenName', 'middleName', 'honorificPrefix', 'honorificSuffix'),
    )
    .optional(),
  ...texts('displayName', 'nickName', 'profileUrl', 'title', 'userType', 'preferredLanguage', 'locale'),
  ...texts('timezone'),
  active: z.boolean().optional(),
  ...Object.fromEntries(
    ['emails', 'phoneNumbers', 'ims', 'photos', 'entitlements', 'roles', 'x509Certificates', 'groups'].map(
      (name) => [name, plural().optional()],
    ),
  ),
  addresses: z
    .array(
      z.strictObject({
        ...texts('formatted', 'streetAddress', 'locality', 'region', 'postalCode', 'country', 'type'),
        primary: z.boolean().optional(),
      }),
    )
    .optional(),
  [ENTERPRISE]: z
    .strictObject({
      ...texts('employeeNumber', 'costCenter', 'organization', 'division', 'department'),
      manager: z
        .strictObject({ value: text.optional(), $ref: url.optional(), displayName: text.optional() })
        .optional(),
    })
    .optional(),
  meta: meta('User'),
});

/** The model of a group (RFC 7643 section 4.2). */
const Group = z.strictObject({
  schemas: schemas(`${CORE}:Group`),
  id: text,
  externalId: text.optional(),
  displayName: text,
  members: plural().optional(),
  meta: meta('Group'),
});

/** The model of a list of resources (RFC 7644 section 3.4.2). */
const listOf = <Resource extends z.ZodType>(resource: Resource) =>
  z.strictObject({
    schemas: schemas(`${MESSAGES}:ListResponse`),
    totalResults: z.int().min(0),
    itemsPerPage: z.int().min(0).optional(),
    startIndex: z.int().min(1).optional(),
    Resources: z.array(resource),
  });
const ScimError = z.strictObject({
  schemas: schemas(`${MESSAGES}:Error`),
  status: z.string().regex(/^[45]\d\d$/),
  scimType: text.optional(),
  detail: text.optional(),
});
const BulkResponse = z.strictObject({
  schemas: schemas(`${MESSAGES}:BulkResponse`),
  Operations: z.array(
    z.strictObject({
      method: z.enum(['POST', 'PUT', 'PATCH', 'DELETE']),
      bulkId: text.optional(),
      version: text.optional(),
      path: z.string().startsWith('/').optional(),
      location: url.optional(),
      status: z.string().regex(/^\d{3}$/),
      response: ScimError.optional(),
    }),
  ),
});

const MODELS = {
  ServiceProviderConfig,
  ResourceTypes: listOf(ResourceType),
  Schemas: listOf(Schema),
  User,
  Users: listOf(User),
  Group,
  Groups: listOf(Group),
  BulkResponse,
  Error: ScimError,
} as const;
type Model = keyof typeof MODELS;

/** Parses the answer with a model. Throws an error that lists every attribute that the model does not allow. */
export function parsed<Name extends Model>(answer: Answer, status: number, name: Name) {
  expect({ status: answer.status, detail: answer.body?.detail }).toMatchObject({ status });
  expect(answer.headers['content-type']).toBe('application/scim+json');
  return MODELS[name].parse(answer.body) as z.infer<(typeof MODELS)[Name]>;
}

/** Finds the endpoint of each resource type. Checks that every schema of a resource type exists. */
export async function discover(client: Client): Promise<ReadonlyMap<string, string>> {
  parsed(await client.get('/ServiceProviderConfig'), 200, 'ServiceProviderConfig');
  const types = parsed(await client.get('/ResourceTypes'), 200, 'ResourceTypes').Resources;
  const known = parsed(await client.get('/Schemas'), 200, 'Schemas').Resources.map(({ id }) => id);
  for (const { schema, schemaExtensions = [] } of types)
    expect(known).toEqual(expect.arrayContaining([schema, ...schemaExtensions.map((one) => one.schema)]));
  return new Map(types.map(({ name, endpoint }) => [name, endpoint]));
}
