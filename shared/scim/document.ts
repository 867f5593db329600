import type { Schema } from './attribute.ts';
import type { ResourceType } from './resource-type.ts';
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

/** A resource as clients see it, its members aside (RFC 7643 section 3). */
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

/** What is kept now: the connection may have kept more when the resource was written. */
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

/** Past this many in one answer, type and address of each would be most of it, and Lambda limits it to 6 MB. */
const MAX_LINKED_MEMBERS = 10_000;

/** Members as clients see them; what is the same for all of them only while there are not too many. */
export function memberValues(ids: readonly string[], baseUrl: string, groups: number): readonly ScimObject[] {
  const isLinked = ids.length <= MAX_LINKED_MEMBERS / groups;
  return ids.map((value) =>
    isLinked ? { value, type: 'User', $ref: `${baseUrl}/Users/${encodeURIComponent(value)}` } : { value },
  );
}

/** Weak, because equal resources may be written differently (RFC 7644 section 3.14). */
export const etagOf = (version: number): string => `W/"${version}"`;

/**
 * The entity tag while members are being written: the version, and a digest that distinguishes the lists under it. No
 * header matches it (`namesVersion`).
 */
export const openEtagOf = (version: number, content: string): string => `W/"${version}-${content}"`;

const TAG = /(?:W\/)?"([^"]*)"/g;

/**
 * Whether a header If-Match or If-None-Match names the version: `*`, or one of a list. Compared weakly, since all of
 * ours are weak; a bare version without quotes, as some clients send it, is taken too.
 * @param version undefined while members are being written: then only `*` matches
 */
export function namesVersion(header: string, version: number | undefined): boolean {
  const text = header.trim();
  if (text === '*') return true;
  if (version === undefined) return false;
  if (text === String(version)) return true;
  return [...text.matchAll(TAG)].some(([, tag]) => tag === String(version));
}
