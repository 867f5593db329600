import * as z from 'zod';
import type { DirectoryChange, Member } from '../../domain/event.ts';
import { type GroupId, groupId, memberId } from '../../domain/ids.ts';
import { MAX_EVENTS_PER_MESSAGE } from '../events/bounds.ts';
import { ConnectionText, expecting, GroupName, Identifier, Instant, Sequence } from '../events/fields.ts';
import { attributesOfDisplay, MembersField } from '../events/member.ts';
import { parseJson } from '../json.ts';
import { type Adapter, IGNORED, type Invalid, invalid, invalidBy } from './reading.ts';

const PATCH_OP_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
export const GROUP_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:Group';

/** Whether the list `schemas` contains the URN. The comparison ignores case (RFC 7643 section 2.1). */
function namesSchema(value: Readonly<Record<string, unknown>>, urn: string): boolean {
  const { schemas } = value;
  return (
    Array.isArray(schemas) &&
    schemas.some((schema) => typeof schema === 'string' && schema.toLowerCase() === urn.toLowerCase())
  );
}

/** Optional fields for the position in the order of events, and for the connection. */
const scimPlace = () => ({
  time: Instant.nullish().transform((time) => time ?? undefined),
  sequence: Sequence.nullish().transform((sequence) => sequence ?? undefined),
  connection: ConnectionText.nullish().transform((connection) => connection ?? undefined),
});

/** A list of members, or one member. A member is `{value, display?, …}` or, from some clients, an id. */
const ScimMembers = z.lazy(() => z.preprocess(asMemberList, MembersField));

function asMemberList(raw: unknown): unknown {
  if (raw == null) return raw;
  const list: readonly unknown[] = Array.isArray(raw) ? raw : [raw];
  return list.map(asNativeMember);
}

function asNativeMember(raw: unknown): unknown {
  if (typeof raw === 'string') return { id: raw };
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return raw;
  const { value, display, $ref: _link, ...others } = raw as Readonly<Record<string, unknown>>;
  const named = typeof display === 'string' && display !== '' ? attributesOfDisplay(display) : {};
  return { ...named, ...others, id: value };
}

const GroupResource = z.lazy(() =>
  z.object({
    ...scimPlace(),
    id: Identifier.nullish(),
    externalId: Identifier.nullish(),
    displayName: GroupName.nullish(),
    members: ScimMembers.nullish(),
  }),
);

/**
 * A whole SCIM Group (RFC 7643 section 4.2). A Group with `members` is a snapshot. A Group without `members` (absent or
 * null) names the group and changes no member. All messages about a group contain the same resource id, so the message
 * id distinguishes two messages with the same time.
 */
export const readScimGroup: Adapter = (value) => {
  if (!namesSchema(value, GROUP_SCHEMA)) return undefined;
  const parsed = GroupResource.safeParse(value);
  if (!parsed.success) return invalidBy(parsed.error);
  const { id, externalId, displayName: name, members, ...place } = parsed.data;
  const stableId = externalId ?? id;
  if (stableId == null) return invalid('externalId: expected externalId or id, got neither');
  const group = groupId(stableId);
  const common = { kind: 'changes', source: 'scim', ...place } as const;
  if (members != null) {
    return {
      ...common,
      changes: [{ kind: 'group.snapshot', group, ...(name != null && { name }), members }],
    };
  }
  if (name == null) return invalid('displayName: expected displayName or members, got neither');
  return { ...common, changes: [{ kind: 'group.upserted', group, name }] };
};

const Operation = z.lazy(() =>
  z.object({
    op: z
      .string()
      .toLowerCase()
      .pipe(z.enum(['add', 'remove', 'replace'], expecting('add, remove or replace'))),
    path: z.string().nullish(),
    value: z.unknown().optional(),
  }),
);
type Operation = z.infer<typeof Operation>;

const PatchOp = z.lazy(() =>
  z.object({
    ...scimPlace(),
    id: Identifier.nullish().transform((id) => id ?? undefined),
    groupId: Identifier,
    Operations: z
      .array(Operation, expecting('a list of operations'))
      .min(1, expecting('at least one operation'))
      .max(MAX_EVENTS_PER_MESSAGE, { error: `expected at most ${MAX_EVENTS_PER_MESSAGE} operations` }),
  }),
);

/**
 * A SCIM PATCH of a group (RFC 7644 section 3.5.2), with the group's id as an additional field. As in a SCIM request,
 * all operations take effect in their order. If one operation cannot be read, no operation takes effect.
 */
export const readScimPatch: Adapter = (value) => {
  if (!namesSchema(value, PATCH_OP_SCHEMA)) return undefined;
  const parsed = PatchOp.safeParse(value);
  if (!parsed.success) return invalidBy(parsed.error);
  const { groupId: group, Operations: operations, id, ...place } = parsed.data;
  const changes: DirectoryChange[] = [];
  for (const [index, operation] of operations.entries()) {
    const read = readOperation(operation, groupId(group));
    if ('code' in read) return within(`Operations.${index}`, read);
    changes.push(...read.changes);
  }
  if (changes.length === 0) return IGNORED;
  // If `id` is the group's id, `id` does not identify this request, because every request for the group has the same
  // `id`.
  return { kind: 'changes', source: 'scim', ...place, ...(id !== group && { id }), changes };
};

type OperationReading = { readonly changes: readonly DirectoryChange[] } | Invalid;

const within = (where: string, { code, message }: Invalid) => invalid(`${where}: ${message}`, code);

const NO_CHANGES: OperationReading = { changes: [] };

function readOperation(operation: Operation, group: GroupId): OperationReading {
  const path = withoutUrn(operation.path ?? '');
  switch (path.toLowerCase()) {
    case '':
      return readPathless(operation, group);
    case 'displayname':
      return operation.op === 'remove' ? NO_CHANGES : readName(operation.value, group);
    case 'members':
      return readMembers(operation, group);
    default:
      return /^members\b/i.test(path) ? readFiltered(operation, path, group) : NO_CHANGES;
  }
}

/** The URN of the schema may precede the name of an attribute (RFC 7644 section 3.10). */
const withoutUrn = (path: string): string =>
  path.toLowerCase().startsWith(`${GROUP_SCHEMA.toLowerCase()}:`)
    ? path.slice(GROUP_SCHEMA.length + 1)
    : path;

/** Reads an operation whose value is an object of attributes. Okta sends names and member lists in this form. */
function readPathless(operation: Operation, group: GroupId): OperationReading {
  const { op, value } = operation;
  if (op === 'remove') return invalid('expected a path, which remove needs (RFC 7644 section 3.5.2.2)');
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return invalid('expected a path, or a value that is an object of attributes');
  }
  const changes: DirectoryChange[] = [];
  for (const [key, item] of Object.entries(value)) {
    const name = withoutUrn(key).toLowerCase();
    if (name !== 'displayname' && name !== 'members') continue;
    const read = name === 'members' ? readMembers({ op, value: item }, group) : readName(item, group);
    if ('code' in read) return within(`value.${name}`, read);
    changes.push(...read.changes);
  }
  return { changes };
}

function readName(value: unknown, group: GroupId): OperationReading {
  const name = GroupName.safeParse(value);
  if (!name.success) return invalidBy(name.error);
  return { changes: [{ kind: 'group.upserted', group, name: name.data }] };
}

/**
 * The meaning of each operation on the path `members`:
 *
 * | op      | value absent   | value null | value a list                             |
 * |---------|----------------|------------|------------------------------------------|
 * | add     | refused        | refused    | adds these members                       |
 * | replace | refused        | refused    | leaves exactly these members             |
 * | remove  | removes all    | refused    | removes these members (Entra ID)         |
 */
function readMembers({ op, value }: Operation, group: GroupId): OperationReading {
  if (op === 'remove' && value === undefined) return snapshot(group, []);
  const parsed = ScimMembers.safeParse(value);
  if (!parsed.success) return invalidBy(parsed.error);
  const members = parsed.data;
  if (op === 'replace') return snapshot(group, members);
  return { changes: [{ kind: op === 'add' ? 'member.added' : 'member.removed', group, members }] };
}

const snapshot = (group: GroupId, members: readonly Member[]): OperationReading => ({
  changes: [{ kind: 'group.snapshot', group, members }],
});

const VALUE_FILTER = /^members\[\s*value\s+eq\s+("(?:[^"\\]|\\.)*")\s*\](\..*)?$/is;

/** Reads `members[value eq "x"]`, the only filter that identity providers send. The quoted value is a JSON string. */
function readFiltered({ op }: Operation, path: string, group: GroupId): OperationReading {
  const [, literal, subAttribute] = VALUE_FILTER.exec(path) ?? [];
  const unquoted = literal === undefined ? undefined : parseJson(literal);
  const id = unquoted?.ok ? Identifier.safeParse(unquoted.value) : undefined;
  if (id?.success !== true) return invalid('expected a path such as members or members[value eq "…"]');
  if (subAttribute !== undefined) return NO_CHANGES;
  if (op !== 'remove') return invalid(`expected remove for a path with a filter, got ${op}`);
  const member: Member = { id: memberId(id.data), attributes: new Map() };
  return { changes: [{ kind: 'member.removed', group, members: [member] }] };
}
