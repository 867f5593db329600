import { etagOf } from './etag.ts';
import { isKept, placeOf, type ResourceType } from './resource-type.ts';
import { isObject, type ScimDraft, type ScimObject } from './value.ts';

/** What a document is made of. */
export interface Described {
  readonly id: string;
  readonly attributes: ScimObject;
  readonly version: number;
  readonly createdMs: number;
  readonly changedMs: number;
}

export const locationOf = (type: ResourceType, id: string, baseUrl: string): string =>
  `${baseUrl}${type.endpoint}/${encodeURIComponent(id)}`;

/** A resource as clients see it, its members aside (RFC 7643 section 3). */
export function documentOf(resource: Described, type: ResourceType, baseUrl: string): ScimObject {
  const { id, version, createdMs, changedMs } = resource;
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
      version: etagOf(version),
    },
  };
}

/** What is kept now: the connection may have kept more when the resource was written. */
export function keptAttributes(attributes: ScimObject, type: ResourceType): ScimObject {
  const kept: ScimDraft = {};
  for (const [name, value] of Object.entries(attributes)) {
    if (name !== type.extension?.id) {
      if (keeps(type, undefined, name)) kept[name] = value;
      continue;
    }
    const parts = Object.entries(isObject(value) ? value : {}).filter(([part]) => keeps(type, name, part));
    if (parts.length > 0) kept[name] = Object.fromEntries(parts);
  }
  return kept;
}

function keeps(type: ResourceType, schema: string | undefined, name: string): boolean {
  const place = placeOf(type, { schema: schema?.toLowerCase(), name, sub: undefined });
  return place !== undefined && isKept(type, place);
}

/** Past this many, type and address of each would be most of an answer, which Lambda limits to 6 MB. */
const MAX_LINKED_MEMBERS = 10_000;

/** Members as clients see them; what is the same for all of them only while there are not too many. */
export function memberValues(ids: readonly string[], baseUrl: string): readonly ScimObject[] {
  const isLinked = ids.length <= MAX_LINKED_MEMBERS;
  return ids.map((value) =>
    isLinked ? { value, type: 'User', $ref: `${baseUrl}/Users/${encodeURIComponent(value)}` } : { value },
  );
}
