import { badRequest } from './errors.ts';
import { type ResourceType, UNIQUE_ATTRIBUTE } from './resource-type.ts';
import { elements, isObject, type ScimObject, type ScimValue } from './value.ts';

/** What matching reads goes into registers, which hold 1 KB each with their name. */
const MAX_MATCHED_BYTES = 900;
/** Longest name of a group, in characters; also the bound of events. */
const MAX_GROUP_NAME_LENGTH = 1_024;
/** A resource is one item of the table, which may have 400 KB (Amazon DynamoDB quotas). */
const MAX_RESOURCE_BYTES = 200_000;

/**
 * The attributes, which are what a resource must be whichever request made it so.
 * @throws ScimError invalidValue or tooMany
 */
export function checkResource(attributes: ScimObject, type: ResourceType): ScimObject {
  const unique = UNIQUE_ATTRIBUTE[type.name];
  const name = attributes[unique];
  if (typeof name !== 'string' || name.trim() === '') {
    throw badRequest('invalidValue', `${unique}: expected a value, which a ${type.name} needs`);
  }
  if (type.name === 'Group' && name.length > MAX_GROUP_NAME_LENGTH) {
    throw badRequest('invalidValue', `displayName: expected at most ${MAX_GROUP_NAME_LENGTH} characters`);
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
