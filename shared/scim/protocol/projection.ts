import { badRequest } from './errors.ts';
import type { AttributePath, Place, ResourceType } from './resource-type.ts';
import { namesExtension, parseAttributePath, placeOf } from './resource-type.ts';
import { elements, isObject, type ScimDraft, type ScimObject, type ScimValue } from './value.ts';

/** The attributes of a response (RFC 7644 section 3.9). */
export interface Projection {
  /** The requested attributes; undefined means all. The response also contains attributes that are always returned. */
  readonly only: readonly AttributePath[] | undefined;
  readonly without: readonly AttributePath[];
}

/** @throws ScimError invalidValue for text that is not an attribute name */
export function readProjection(
  attributes: readonly string[] | undefined,
  excludedAttributes: readonly string[] | undefined,
): Projection {
  return {
    only: attributes === undefined ? undefined : attributes.map(readPath),
    without: (excludedAttributes ?? []).map(readPath),
  };
}

function readPath(text: string): AttributePath {
  const path = parseAttributePath(text.trim());
  if (path === undefined) throw badRequest('invalidValue', 'attributes: expected names of attributes');
  return path;
}

/**
 * Returns whether the response contains any part of the attribute. If not, the caller need not read it from the table.
 */
export function shows(projection: Projection, name: string, type: ResourceType): boolean {
  const names = (path: AttributePath) => placeOf(type, path)?.attribute.name === name;
  if (projection.only !== undefined && !projection.only.some(names)) return false;
  return !projection.without.some((path) => path.sub === undefined && names(path));
}

/** Returns the resource with `schemas`, `id` and the requested attributes, without the excluded attributes. */
export function project(resource: ScimObject, projection: Projection, type: ResourceType): ScimObject {
  const { only, without } = projection;
  const chosen = only === undefined ? resource : including(resource, only, type);
  if (without.length === 0) return chosen;
  const draft = structuredClone(chosen) as ScimDraft;
  for (const path of without) exclude(draft, path, type);
  return draft;
}

const ALWAYS = ['schemas', 'id'] as const;

function including(resource: ScimObject, only: readonly AttributePath[], type: ResourceType): ScimObject {
  const chosen: ScimDraft = {};
  for (const name of ALWAYS) if (resource[name] !== undefined) chosen[name] = resource[name];
  for (const path of only) {
    const place = placeOf(type, path);
    const id = type.extension?.id;
    if (place !== undefined) include(chosen, resource, place);
    else if (id !== undefined && namesExtension(path, type) && resource[id] !== undefined)
      chosen[id] = resource[id];
  }
  return chosen;
}

function include(chosen: ScimDraft, resource: ScimObject, { extension, attribute, sub }: Place): void {
  const holder = extension === undefined ? resource : resource[extension];
  const value = isObject(holder) ? holder[attribute.name] : undefined;
  if (value === undefined) return;
  const target: ScimDraft = extension === undefined ? chosen : { ...asObject(chosen[extension]) };
  target[attribute.name] =
    sub === undefined ? value : merged(target[attribute.name], partOf(value, sub.name));
  if (extension !== undefined) chosen[extension] = target;
}

function exclude(draft: ScimDraft, path: AttributePath, type: ResourceType): void {
  const place = placeOf(type, path);
  if (place === undefined) {
    if (type.extension !== undefined && namesExtension(path, type)) delete draft[type.extension.id];
    return;
  }
  const { extension, attribute, sub } = place;
  if (attribute.returned === 'always') return;
  const holder = (extension === undefined ? draft : draft[extension]) as ScimDraft | undefined;
  if (holder === undefined) return;
  const value = holder[attribute.name];
  if (sub === undefined) delete holder[attribute.name];
  else if (value !== undefined) holder[attribute.name] = withoutPart(value, sub.name);
  if (extension !== undefined && Object.keys(holder).length === 0) delete draft[extension];
}

const asObject = (value: ScimValue | undefined): ScimObject => (isObject(value) ? value : {});

function partOf(value: ScimValue, name: string): ScimValue {
  if (Array.isArray(value)) return value.map((element: ScimValue) => partOf(element, name));
  const part = asObject(value)[name];
  return part === undefined ? {} : { [name]: part };
}

function withoutPart(value: ScimValue, name: string): ScimValue {
  if (Array.isArray(value)) return value.map((element: ScimValue) => withoutPart(element, name));
  const { [name]: _gone, ...others } = asObject(value);
  return others;
}

/** Merges two sub-attributes of the same values, such as `emails.value` and `emails.type`. */
function merged(before: ScimValue | undefined, added: ScimValue): ScimValue {
  if (Array.isArray(added)) {
    const others = elements(before);
    return added.map((element: ScimValue, index) => merged(others[index], element));
  }
  return { ...asObject(before), ...asObject(added) };
}
