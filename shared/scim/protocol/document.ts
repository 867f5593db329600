import type { Schema } from './attribute.ts';
import type { ResourceType, ResourceTypes, TypeName } from './resource-type.ts';
import { isObject, type ScimDraft, type ScimObject } from './value.ts';

interface Described {
  readonly id: string;
  readonly attributes: ScimObject;
  readonly version: number;
  readonly createdMs: number;
  readonly changedMs: number;
}

export const locationOf = (type: ResourceType, id: string, baseUrl: string): string =>
  `${baseUrl}${type.endpoint}/${encodeURIComponent(id)}`;

/** Returns a resource as clients see it, without its members (RFC 7643 section 3). */
export function documentOf(
  resource: Described,
  type: ResourceType,
  baseUrl: string,
  etag = etagOf(resource.version),
): ScimObject {
  const { id, createdMs, changedMs } = resource;
  const attributes = keptAttributes(resource.attributes, type);
  const extension = type.kept.extension?.id;
  const hasExtension = extension !== undefined && attributes[extension] !== undefined;
  return {
    schemas: [type.core.id, ...(hasExtension ? [extension] : [])],
    id,
    ...attributes,
    meta: {
      resourceType: type.name,
      created: new Date(createdMs).toISOString(),
      lastModified: new Date(changedMs).toISOString(),
      location: locationOf(type, id, baseUrl),
      version: etag,
    },
  };
}

/** Returns only the attributes that the current settings store. Earlier settings can have stored more attributes. */
function keptAttributes(attributes: ScimObject, { kept, extension }: ResourceType): ScimObject {
  const shown: ScimDraft = {};
  for (const [name, value] of Object.entries(attributes)) {
    if (name === 'externalId' || knows(kept.core, name)) shown[name] = value;
    if (name !== extension?.id || !isObject(value)) continue;
    const parts = Object.entries(value).filter(([part]) => knows(kept.extension, part));
    if (parts.length > 0) shown[name] = Object.fromEntries(parts);
  }
  return shown;
}

const knows = (schema: Schema | undefined, wanted: string): boolean =>
  schema?.attributes.some(({ name }) => name === wanted) ?? false;

/** Maximum number of members with name and `$ref` in one response. Each of these members can cost a read. */
const MAX_DESCRIBED_MEMBERS = 1_000;
/** Maximum number of users with a type in one response, because Lambda limits a response to 6 MB. */
const MAX_TYPED_MEMBERS = 10_000;

/** Returns whether a response with this number of members and groups shows the name and `$ref` of each member. */
export const isDescribed = (members: number, groups: number): boolean =>
  members <= MAX_DESCRIBED_MEMBERS / groups;

export interface ListedMember {
  readonly value: string;
  readonly type: TypeName;
}

/**
 * Returns members as clients see them. A user has a `$ref` only if `names` contains the user, because a user without a
 * resource has no URL. Nested groups always have type and `$ref`.
 * @param names the name of each member that has a resource, by id; undefined if the group has too many members
 */
export function memberValues(
  members: readonly ListedMember[],
  {
    types,
    baseUrl,
    groups,
    names,
  }: {
    readonly types: ResourceTypes;
    readonly baseUrl: string;
    readonly groups: number;
    readonly names: ReadonlyMap<string, string> | undefined;
  },
): readonly ScimObject[] {
  const isTyped = members.length <= MAX_TYPED_MEMBERS / groups;
  return members.map(({ value, type }) => {
    const $ref = locationOf(types[type], value, baseUrl);
    const display = names?.get(value);
    if (display !== undefined) return { value, type, $ref, display };
    if (type === 'Group') return { value, type, $ref };
    return isTyped ? { value, type } : { value };
  });
}

/** Returns a weak tag, because equal resources can have different JSON texts (RFC 7644 section 3.14). */
export const etagOf = (version: number): string => `W/"${version}"`;

/**
 * Returns the entity tag of a group while its members are being written: the version, and a digest of the shown
 * content. `namesVersion` accepts no such tag.
 */
export const openEtagOf = (version: number, content: string): string => `W/"${version}-${content}"`;

const TAG = /(?:W\/)?"([^"]*)"/g;

/**
 * Returns whether a header If-Match or If-None-Match contains the version or is `*`. The comparison is weak, because
 * all tags of this server are weak. A version without quotes is accepted too, because some clients send it.
 * @param version undefined while members are being written; only `*` matches undefined
 */
export function namesVersion(header: string, version: number | undefined): boolean {
  const text = header.trim();
  if (text === '*') return true;
  if (version === undefined) return false;
  if (text === String(version)) return true;
  return [...text.matchAll(TAG)].some(([, tag]) => tag === String(version));
}
