import { badRequest } from '../errors.ts';
import { type PatchPath, parsePatchPath } from '../filter/parse.ts';
import {
  type AttributePath,
  isKept,
  namesExtension,
  type Place,
  placeOf,
  type ResourceType,
} from '../resource-type.ts';
import { isObject, type ScimDraft, type ScimObject, type ScimValue } from '../value.ts';
import { type Assignment, assign } from './assign.ts';
import type { PatchOperation } from './operation.ts';

/**
 * Returns a new resource with the operations applied in order. Attributes that the type does not store are ignored.
 * @throws ScimError if one operation is invalid
 */
export function applyPatch(resource: ScimObject, operations: readonly PatchOperation[], type: ResourceType) {
  const draft = structuredClone(resource) as ScimDraft;
  for (const operation of operations) {
    if (operation.path === undefined) {
      refuseUnknown(operation.value, type);
      assignAll(draft, operation, type);
    } else assignOne(draft, operation, type);
  }
  return draft;
}

/** Reads the resource of a POST or PUT: the attributes that clients can write and the type stores. */
export function readResource(body: ScimObject, type: ResourceType): ScimObject {
  const draft: ScimDraft = {};
  assignAll(draft, { op: 'add', path: undefined, value: body }, type);
  return draft;
}

/** Refuses unknown attributes in the value of an operation without a path, by the same rules as in a path. */
function refuseUnknown(value: ScimValue | undefined, type: ResourceType): void {
  if (!isObject(value)) return;
  for (const key of Object.keys(value)) {
    const path = readKey(key)?.path;
    if (path === undefined) throw unknownAttribute(type);
    if (placeOf(type, path) === undefined) checkSchemaOf(path, type);
  }
}

/**
 * An attribute of an unknown schema is accepted and not stored, because Entra ID sends custom attributes.
 * @throws ScimError invalidPath for an unknown attribute of the resource's own schema
 */
function checkSchemaOf(path: AttributePath, type: ResourceType): void {
  if (namesExtension({ ...path, sub: undefined }, type)) return;
  if (path.schema === undefined || path.schema === type.core.id.toLowerCase()) throw unknownAttribute(type);
}

const unknownAttribute = ({ name }: ResourceType) =>
  badRequest('invalidPath', `expected an attribute of ${name}, got one that is not in its schemas`);

function assignOne(draft: ScimDraft, { op, path, value }: PatchOperation, type: ResourceType): void {
  if (path === undefined) return;
  const place = placeOf(type, path.path);
  if (place !== undefined) {
    if (isReadOnly(place))
      throw badRequest('mutability', `${place.attribute.name}: expected an attribute that clients can write`);
    if (isKept(type, place)) write(draft, place, { op, where: path.where, value });
    return;
  }
  checkSchemaOf(path.path, type);
  if (namesExtension({ ...path.path, sub: undefined }, type)) {
    assignExtension(draft, op, value ?? null, type);
  }
}

/**
 * Applies an operation without a path, whose value is an object of attributes. Entra ID sends names with dots
 * (`name.givenName`) and names with the schema. Unknown and read-only attributes are ignored. In a replace, null
 * removes the value of an attribute that is not required. In an add, null has no effect.
 */
function assignAll(draft: ScimDraft, { op, value }: PatchOperation, type: ResourceType): void {
  if (!isObject(value)) return;
  for (const [key, item] of Object.entries(value)) {
    if (type.extension !== undefined && key.toLowerCase() === type.extension.id.toLowerCase()) {
      assignExtension(draft, op, item, type);
      continue;
    }
    const { path, where } = readKey(key) ?? {};
    const place = path && placeOf(type, path);
    if (place === undefined || isReadOnly(place) || !isKept(type, place)) continue;
    const change = changeOf(op, item, where, place);
    if (change !== undefined) write(draft, place, change);
  }
}

/** Returns the change of one attribute, if any. If the filter selects no value, the change creates a value. */
function changeOf(
  op: PatchOperation['op'],
  item: ScimValue,
  where: Assignment['where'],
  { attribute }: Place,
): Assignment | undefined {
  if (item !== null) return { op: where === undefined ? op : 'add', where, value: item };
  return op === 'add' || attribute.required ? undefined : { op: 'remove', where, value: undefined };
}

/** Parses a key: an attribute name, or a whole path as Entra ID sends it. Returns undefined for any other value. */
function readKey(key: string): PatchPath | undefined {
  try {
    return parsePatchPath(key);
  } catch {
    return undefined;
  }
}

function assignExtension(draft: ScimDraft, op: PatchOperation['op'], value: ScimValue, type: ResourceType) {
  const { extension } = type;
  if (extension === undefined) return;
  if (op === 'remove' || value === null) {
    if (op !== 'add') delete draft[extension.id];
    return;
  }
  if (!isObject(value)) throw badRequest('invalidValue', `${extension.name}: expected an object`);
  const named = Object.entries(value).map(([name, item]): [string, ScimValue] => [
    `${extension.id}:${name}`,
    item,
  ]);
  assignAll(draft, { op, path: undefined, value: Object.fromEntries(named) }, type);
}

const isReadOnly = ({ attribute, sub }: Place): boolean =>
  attribute.mutability === 'readOnly' || sub?.mutability === 'readOnly';

/** Writes to the resource or its extension. An extension without attributes is removed. */
function write(draft: ScimDraft, { extension, attribute, sub }: Place, change: Assignment): void {
  if (extension === undefined) {
    assign(draft, { attribute, sub }, change);
    return;
  }
  const held = draft[extension];
  const holder: ScimDraft = isObject(held) ? { ...held } : {};
  assign(holder, { attribute, sub }, change);
  if (Object.keys(holder).length === 0) delete draft[extension];
  else draft[extension] = holder;
}
