import { badRequest } from './errors.ts';
import { type ResourceType, UNIQUE_ATTRIBUTE } from './resource-type.ts';
import { elements, fieldOf, isObject, type ScimObject, type ScimValue } from './value.ts';

/**
 * Maximum size of a value that matching reads. The value is stored in a register, whose name and value together have at
 * most 1 KB.
 */
const MAX_MATCHED_BYTES = 900;
/** Maximum size of a resource, which is one item of the table. An item can have 400 KB (Amazon DynamoDB quotas). */
const MAX_RESOURCE_BYTES = 200_000;

/**
 * Checks `schemas` of a request body (RFC 7643 section 3, RFC 7644 sections 3.4.3, 3.5.2 and 3.7). Additional schemas
 * are accepted, because Microsoft Entra ID adds its own schema to groups and the schemas of custom attributes to users. A
 * request without `schemas` is accepted too, because some clients omit it, and the path determines the schema.
 * @throws ScimError invalidSyntax
 */
export function checkSchemas(body: ScimObject, expected: string): void {
  const schemas = fieldOf(body, 'schemas');
  if (schemas === undefined) return;
  const isExpected = (schema: ScimValue) =>
    typeof schema === 'string' && schema.toLowerCase() === expected.toLowerCase();
  if (Array.isArray(schemas) && schemas.some(isExpected)) return;
  throw badRequest('invalidSyntax', `schemas: expected a list with "${expected}", got other schemas`);
}

/**
 * Checks the length of a group's name, so that the client gets the error before groupsync writes to the platform.
 * @param rendered the name on the platform, from the setting `nameTemplate`
 * @param most the value of the setting `scim.maxGroupNameLength`
 * @throws ScimError invalidValue
 */
export function checkGroupName(rendered: string, most: number): void {
  const { length } = [...rendered];
  if (length <= most) return;
  throw badRequest(
    'invalidValue',
    `displayName: expected a name of at most ${most} characters on the platform, got ${length}`,
  );
}

/**
 * Returns the attributes if they form a valid resource. Every kind of write must satisfy these rules.
 * @throws ScimError invalidValue or tooMany
 */
export function checkResource(attributes: ScimObject, type: ResourceType): ScimObject {
  const unique = UNIQUE_ATTRIBUTE[type.name];
  const name = attributes[unique];
  if (typeof name !== 'string' || name.trim() === '') {
    throw badRequest('invalidValue', `${unique}: expected a value, because each ${type.name} needs one`);
  }
  for (const [where, text] of matchedTexts(attributes, type)) {
    if (Buffer.byteLength(text) > MAX_MATCHED_BYTES) {
      throw badRequest('invalidValue', `${where}: expected at most ${MAX_MATCHED_BYTES} bytes`);
    }
  }
  if (Buffer.byteLength(JSON.stringify(attributes)) > MAX_RESOURCE_BYTES) {
    throw badRequest('tooMany', `expected a resource of at most ${MAX_RESOURCE_BYTES} bytes`);
  }
  return attributes;
}

function matchedTexts(attributes: ScimObject, type: ResourceType): readonly (readonly [string, string])[] {
  const extension = attributes[type.extension?.id ?? ''];
  const partOf = (holder: ScimValue | undefined, name: string) =>
    isObject(holder) ? holder[name] : undefined;
  const named: readonly (readonly [string, ScimValue | undefined])[] = [
    ['externalId', attributes['externalId']],
    ['userName', type.name === 'User' ? attributes['userName'] : undefined],
    ...elements(attributes['emails']).map((email) => ['emails', partOf(email, 'value')] as const),
    ['employeeNumber', partOf(extension, 'employeeNumber')],
  ];
  return named.flatMap(([where, value]) => (typeof value === 'string' ? [[where, value] as const] : []));
}
