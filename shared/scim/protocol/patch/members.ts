import { badRequest, ScimError } from '../errors.ts';
import { type Filter, matchesElement } from '../filter/evaluate.ts';
import { MAX_MEMBERS_CHANGED } from '../limits.ts';
import { LONE_SURROGATE } from '../read-value.ts';
import {
  type AttributePath,
  acceptsNested,
  parseAttributePath,
  placeOf,
  type ResourceType,
} from '../resource-type.ts';
import { elements, isObject, type ScimObject, type ScimValue } from '../value.ts';
import type { PatchOperation } from './operation.ts';

export type MemberOperation =
  | { readonly kind: 'add' | 'remove' | 'replace'; readonly ids: readonly string[] }
  | { readonly kind: 'clear' }
  /** Removes the members that a filter selects. Which members the filter selects depends on the current members. */
  | { readonly kind: 'removeWhere'; readonly where: Filter }
  /**
   * Replaces the members that a filter selects. If it selects none, the request is rejected. Without `ids`, the members
   * stay.
   */
  | {
      readonly kind: 'replaceWhere';
      readonly where: Filter;
      readonly ids: readonly string[] | undefined;
    };

const MAX_ID_LENGTH = 512;

/** Separates changes of members from changes of other attributes. One operation without a path can contain both. */
export function splitGroupPatch(operations: readonly PatchOperation[], type: ResourceType) {
  const members: MemberOperation[] = [];
  const attributes: PatchOperation[] = [];
  for (const operation of operations) {
    const { op, path, value } = operation;
    if (path !== undefined) {
      if (isMembersPath(path.path, type)) members.push(...memberOperations(operation, path, type));
      else attributes.push(operation);
      continue;
    }
    const split = splitMembers(isObject(value) ? value : {}, type);
    if (split.members !== undefined) members.push(setOperation(op, split.members, type));
    if (Object.keys(split.others).length > 0) attributes.push({ ...operation, value: split.others });
  }
  return { members, attributes };
}

/**
 * Separates `members` (in any spelling) from a group's other attributes.
 * @throws ScimError invalidPath for a path with a filter or with a sub-attribute
 */
export function splitMembers(value: ScimObject, type: ResourceType) {
  let members: ScimValue | undefined;
  const others: [string, ScimValue][] = [];
  for (const [key, item] of Object.entries(value)) {
    const path = parseAttributePath(key.replace(/\[.*/s, ''));
    if (path === undefined || !isMembersPath(path, type)) others.push([key, item]);
    else if (path.sub === undefined && !key.includes('[')) members = item;
    else throw invalidMembersPath();
  }
  return { members, others: Object.fromEntries(others) };
}

/** Returns whether the path names `members` or any sub-attribute of `members`, even an unknown sub-attribute. */
export const isMembersPath = (path: AttributePath, type: ResourceType): boolean =>
  placeOf(type, { ...path, sub: undefined })?.attribute.name === 'members';

/**
 * Returns the operations of one PATCH operation on members:
 *
 * | op      | `members`, value a list | value absent | `members[filter]`             | `members[filter].part` |
 * |---------|-------------------------|--------------|-------------------------------|------------------------|
 * | add     | listed members added    | rejected     | rejected                      | no effect              |
 * | replace | the list is replaced    | rejected     | selected members are replaced | no effect              |
 * | remove  | listed members removed  | all removed  | selected members are removed  | no effect              |
 *
 * The value null means an empty list (RFC 7643 section 2.5), so a remove with null removes no member. A replace whose
 * filter selects no member is rejected with noTarget (RFC 7644 section 3.5.2.3). The sub-attributes `display` and
 * `type` of a member are not stored, so changing them has no effect. The sub-attribute `value` is the member's id. Ids
 * never change, so a change of `value` is rejected.
 */
function memberOperations(
  { op, value }: PatchOperation,
  { path, where }: NonNullable<PatchOperation['path']>,
  type: ResourceType,
): readonly MemberOperation[] {
  if (path.sub?.toLowerCase() === 'value') throw invalidMembersPath();
  if (path.sub !== undefined) {
    return op === 'replace' && where !== undefined ? [{ kind: 'replaceWhere', where, ids: undefined }] : [];
  }
  if (where === undefined)
    return [
      op === 'remove' && value === undefined ? { kind: 'clear' } : setOperation(op, value ?? null, type),
    ];
  return [selectedOperation(op, where, value ?? null, type)];
}

function selectedOperation(
  op: PatchOperation['op'],
  where: Filter,
  value: ScimValue,
  type: ResourceType,
): MemberOperation {
  if (op === 'add')
    throw badRequest('invalidPath', 'members: expected remove or replace for a path with a filter, got add');
  if (op === 'replace') return { kind: 'replaceWhere', where, ids: replacements(value, type) };
  const ids = namedIds(where);
  return ids === undefined ? { kind: 'removeWhere', where } : { kind: 'remove', ids };
}

/** Returns the ids of the new members; undefined for a value that has only sub-attributes other than `value`. */
function replacements(value: ScimValue, type: ResourceType): readonly string[] | undefined {
  const given = elements(value);
  const isPart = given.length > 0 && given.every((one) => isObject(one) && one['value'] === undefined);
  return isPart ? undefined : readMemberIds(value, type);
}

const invalidMembersPath = () =>
  badRequest(
    'invalidPath',
    'members: expected a path to whole members, because the id of a member never changes',
  );

function setOperation(op: PatchOperation['op'], value: ScimValue, type: ResourceType): MemberOperation {
  return { kind: op, ids: readMemberIds(value, type, op !== 'remove') };
}

export const groupAsMember = () =>
  badRequest(
    'invalidValue',
    'members: expected users, got a group; push that group by itself, or name its users as members here; ' +
      'the setting nested=flatten accepts groups',
  );

/**
 * Reads the ids of a list of members without duplicates. An item is an object with `value`, or an id alone.
 * @param join whether the ids become members. If true, groups are refused for a type without nested groups
 * @throws ScimError invalidValue
 */
export function readMemberIds(value: ScimValue, type: ResourceType, join = true): readonly string[] {
  const ids = new Set<string>();
  const isRefused = join && !acceptsNested(type);
  for (const element of elements(value)) {
    if (isRefused && namesGroup(element)) throw groupAsMember();
    const id = isObject(element) ? element['value'] : element;
    if (typeof id !== 'string' || id.length === 0 || id.length > MAX_ID_LENGTH || LONE_SURROGATE.test(id)) {
      throw badRequest('invalidValue', `members: expected values of 1 to ${MAX_ID_LENGTH} characters`);
    }
    ids.add(id);
  }
  return [...ids];
}

const namesGroup = (element: ScimValue): boolean =>
  isObject(element) && (isText(element['type'], /^group$/i) || isText(element['$ref'], /\/Groups\//i));

const isText = (value: ScimValue | undefined, form: RegExp): boolean =>
  typeof value === 'string' && form.test(value);

/** Returns the ids in `value eq "a" or value eq "b"`; undefined for any other filter. */
export function namedIds(where: Filter): readonly string[] | undefined {
  if (where.kind === 'or') {
    const each = where.of.map(namedIds);
    return each.every((ids) => ids !== undefined) ? each.flat() : undefined;
  }
  const isId =
    where.kind === 'compare' && where.operator === 'eq' && where.path.name.toLowerCase() === 'value';
  return isId && typeof where.value === 'string' ? [where.value] : undefined;
}

/** @throws ScimError 413 if the request would take longer than the gateway's timeout */
export function checkMemberCount(count: number): void {
  if (count <= MAX_MEMBERS_CHANGED) return;
  throw new ScimError(
    413,
    `members: expected at most ${MAX_MEMBERS_CHANGED} in one request; send the other members in another request`,
  );
}

/** The net effect of operations on the members. */
export interface MemberChange {
  /** If true, members that are not in `present` are removed. */
  readonly emptied: boolean;
  readonly present: ReadonlySet<string>;
  readonly absent: ReadonlySet<string>;
}

/** Returns whether the change can have an effect. The actual effect depends on the current members. */
export const changesMembers = ({ emptied, present, absent }: MemberChange): boolean =>
  emptied || present.size + absent.size > 0;

export const needsCurrentMembers = (operations: readonly MemberOperation[]): boolean =>
  operations.some(({ kind }) => kind === 'removeWhere' || kind === 'replaceWhere');

/**
 * Combines operations, in order, into their net effect.
 * @param current the current members; only operations with a filter need them
 * @throws ScimError noTarget
 */
export function foldMembers(
  operations: readonly MemberOperation[],
  { current, ...listing }: Listing & { readonly current: ReadonlySet<string> },
): MemberChange {
  let emptied = false;
  const present = new Set<string>();
  const absent = new Set<string>();
  const now = () => [...new Set([...(emptied ? [] : current), ...present])].filter((id) => !absent.has(id));
  for (const operation of operations) {
    switch (operation.kind) {
      case 'add':
        move(operation.ids, absent, present);
        break;
      case 'remove':
        move(operation.ids, present, absent);
        break;
      case 'removeWhere':
        move(selected(now(), operation.where, listing), present, absent);
        break;
      case 'replaceWhere': {
        const selectedIds = requireSelection(selected(now(), operation.where, listing));
        if (operation.ids === undefined) break;
        move(selectedIds, present, absent);
        move(operation.ids, absent, present);
        break;
      }
      default:
        emptied = true;
        present.clear();
        absent.clear();
        move(operation.kind === 'replace' ? operation.ids : [], absent, present);
    }
  }
  return { emptied, present, absent };
}

function move(ids: Iterable<string>, from: Set<string>, to: Set<string>): void {
  for (const id of ids) {
    from.delete(id);
    to.add(id);
  }
}

/** @throws ScimError noTarget (RFC 7644 section 3.5.2.3) */
function requireSelection(members: readonly string[]): readonly string[] {
  if (members.length > 0) return members;
  throw badRequest('noTarget', 'members: expected a filter that selects a member');
}

interface Listing {
  readonly type: ResourceType;
  /** Returns the list item of an id. By default every id is a user. */
  readonly elementOf?: (id: string) => ScimObject;
}

const userElement = (id: string): ScimObject => ({ value: id, type: 'User' });

function selected(ids: Iterable<string>, where: Filter, { type, elementOf = userElement }: Listing) {
  const attribute = type.core.attributes.find(({ name }) => name === 'members');
  if (attribute === undefined) return [];
  return [...ids].filter((id) => matchesElement(where, elementOf(id), attribute));
}
