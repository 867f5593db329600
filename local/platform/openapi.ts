import * as z from 'zod';
import type { Endpoint } from './endpoint.ts';

type Json = Record<string, unknown>;

const ERROR_SCHEMA = {
  type: 'object',
  properties: {
    error: {
      type: 'object',
      properties: { code: { type: 'string' }, message: { type: 'string' }, requestId: { type: 'string' } },
      required: ['code', 'message', 'requestId'],
    },
  },
  required: ['error'],
};

/** Returns the endpoints as an OpenAPI 3.1 document, generated from the endpoints' validation schemas. */
export function openApiDocument(endpoints: readonly Endpoint[]): Json {
  const components: Json = { Error: ERROR_SCHEMA };
  const paths: Record<string, Json> = {};
  for (const endpoint of endpoints) {
    const path = endpoint.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: operation(endpoint, components) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Workforce Platform (simulator)',
      version: '1.0',
      description:
        'The file docs/platform-simulator.md describes behaviour that the specification leaves open.',
    },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }],
    tags: [...new Set(endpoints.map((endpoint) => endpoint.area))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'A customer API key or the access token of an OAuth application',
        },
      },
      schemas: components,
    },
  };
}

function operation(endpoint: Endpoint, components: Json): Json {
  const parameters = [
    ...parametersOf(endpoint.params, 'path', components),
    ...parametersOf(endpoint.query, 'query', components),
  ];
  return {
    operationId: endpoint.operationId,
    tags: [endpoint.area],
    summary: endpoint.summary,
    description: endpoint.description,
    parameters: parameters.length === 0 ? undefined : parameters,
    requestBody: endpoint.body && { required: true, ...content(endpoint.body, 'input', components) },
    responses: {
      200: { description: 'Success', ...content(endpoint.response, 'output', components) },
      ...Object.fromEntries(errorsOf(endpoint).map((error) => [error.status, refusal(error.description)])),
    },
  };
}

function errorsOf(endpoint: Endpoint) {
  const takesInput = endpoint.query !== undefined || endpoint.body !== undefined;
  const isForbidding = endpoint.oauthOnly === true || endpoint.operationId === 'processLeaveRequest';
  const canConflict =
    ['PUT', 'PATCH'].includes(endpoint.method) || endpoint.operationId === 'processLeaveRequest';
  return [
    ...(takesInput ? [{ status: 400, description: 'A parameter or the body is invalid' }] : []),
    { status: 401, description: 'The token is missing or unknown' },
    ...(isForbidding ? [{ status: 403, description: 'The credential lacks the right for this call' }] : []),
    ...(endpoint.params === undefined
      ? []
      : [{ status: 404, description: 'The company has no object with this id' }]),
    ...(canConflict
      ? [{ status: 409, description: 'The resource is not in the state that the request expects' }]
      : []),
    { status: 429, description: 'Too many requests (only if a setting limits the requests)' },
  ];
}

const refusal = (description: string) => ({
  description,
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
});

function parametersOf(schema: z.ZodType | undefined, place: 'path' | 'query', components: Json): Json[] {
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape as Record<string, z.ZodType>).map(([name, field]) => ({
    name,
    in: place,
    required: place === 'path' || !field.safeParse(undefined).success,
    schema: jsonSchema(field, 'output', components),
  }));
}

const content = (schema: z.ZodType, io: 'input' | 'output', components: Json) => ({
  content: { 'application/json': { schema: jsonSchema(schema, io, components) } },
});

/** Converts a schema to JSON Schema, and moves the named parts of the schema to the document's components. */
function jsonSchema(schema: z.ZodType, io: 'input' | 'output', components: Json): unknown {
  const { $schema: _, $defs, ...converted } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  const root = relocate(converted);
  for (const [name, part] of Object.entries($defs ?? {})) components[name] ??= relocate(part);
  const name = schema.meta()?.id;
  if (name === undefined) return root;
  components[name] ??= root;
  return { $ref: `#/components/schemas/${name}` };
}

function relocate(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(relocate);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, field]) => !(key === 'id' && typeof field === 'string'))
      .map(([key, field]) =>
        key === '$ref' && typeof field === 'string'
          ? [key, field.replace('#/$defs/', '#/components/schemas/')]
          : [key, relocate(field)],
      ),
  );
}
