import { renderName } from '../../contract/name-template.ts';
import { type GroupId, groupId } from '../../domain/ids.ts';
import { isVisible } from '../../domain/visible.ts';
import { checkGroupName, checkResource, checkSchemas } from '../../scim/checks.ts';
import { badRequest } from '../../scim/errors.ts';
import { openWrites } from '../../scim/member-writes.ts';
import { applyPatch, readResource } from '../../scim/patch/apply.ts';
import {
  changesMembers,
  checkMemberCount,
  foldMembers,
  type MemberChange,
  type MemberOperation,
  needsCurrentMembers,
  readMemberIds,
  splitGroupPatch,
  splitMembers,
} from '../../scim/patch/members.ts';
import { readPatch } from '../../scim/patch/operation.ts';
import { isSameValue, type ScimObject, type ScimValue } from '../../scim/value.ts';
import type { ScimResource } from '../ports/scim.ts';
import type { ScimContext } from './context.ts';
import { createGroupResource, createUserResource, newResourceId } from './creation.ts';
import { holdMembers, isOpen, viewGroup } from './group-view.ts';
import {
  addFirstMembers,
  isAlreadyListed,
  listedMembers,
  membershipChanges,
  withoutDeleted,
} from './membership.ts';
import { listedMember, noteNesting, withNestedGroups } from './nesting.ts';
import { factsOf, record, stampOf } from './record.ts';
import type { Change, MembersChange, Rewrite } from './resources.ts';
import { advanceGroup, rewriteResource, settleResource } from './resources.ts';

export interface Written {
  readonly resource: ScimResource;
  /** All members of a group at this version; undefined if the request does not contain all of them. */
  readonly members?: readonly string[] | undefined;
}

/** A new user is active if the client sends no value for `active`. */
async function createUser(body: ScimObject, context: ScimContext): Promise<Written> {
  const type = context.types.User;
  checkSchemas(body, type.core.id);
  const attributes = checkResource({ active: true, ...readResource(body, type) }, type);
  return { resource: await createUserResource(attributes, context) };
}

/**
 * Replaces a user, and removes all attributes that the body does not contain. A missing `active` keeps its value,
 * because it must not reactivate an account.
 */
function replaceUser(id: string, body: ScimObject, change: Change): Promise<Written> {
  const type = change.context.types.User;
  checkSchemas(body, type.core.id);
  const given = readResource(body, type);
  const replaced = ({ active }: ScimObject) => (active === undefined ? given : { active, ...given });
  return rewriteUser(id, change, replaced);
}

function patchUser(id: string, body: ScimValue, change: Change): Promise<Written> {
  const operations = readPatch(body);
  return rewriteUser(id, change, (attributes) =>
    applyPatch(attributes, operations, change.context.types.User),
  );
}

async function rewriteUser(id: string, change: Change, edit: (attributes: ScimObject) => ScimObject) {
  const { context } = change;
  const type = context.types.User;
  const rewrite = await rewriteResource(id, 'User', {
    ...change,
    edit: (attributes) => checkResource(edit(attributes), type),
  });
  await record([{ by: rewrite.after, change: factsOf(rewrite.after) }], context);
  await settleResource(rewrite, context);
  return { resource: rewrite.after };
}

/** Writes the members before the group. So readers see the complete group, or no group after a crash. */
async function createGroup(body: ScimObject, context: ScimContext): Promise<Written> {
  const type = context.types.Group;
  checkSchemas(body, type.core.id);
  const { members, others } = splitMembers(body, type);
  const ids = readMemberIds(members ?? null, type);
  checkMemberCount(ids.length);
  const id = newResourceId('Group', context);
  const group = groupId(id);
  const named = { emptied: true, present: new Set(ids), absent: new Set<string>() };
  const requested = await withNestedGroups(group, named, context);
  const { present } = await withoutDeleted(group, requested, requested.present, context);
  const attributes = checkResource(readResource(others, type), type);
  const joined = [...present].sort();
  checkName({ id, attributes }, context);
  const resource = await createGroupResource({ id, attributes }, context, async (made) => {
    await noteNesting(group, joined, context);
    await addFirstMembers(made, joined, context);
  });
  return { resource, members: joined };
}

/** @throws ScimError invalidValue for a name that the platform would reject */
function checkName({ id, attributes }: Pick<ScimResource, 'id' | 'attributes'>, context: ScimContext): void {
  const { connection, settings } = context;
  const name = String(attributes['displayName']);
  if (!isVisible(name)) throw badRequest('invalidValue', 'displayName: expected a visible character');
  checkGroupName(
    renderName(settings.nameTemplate, { name, id, connection }),
    settings.scim.maxGroupNameLength,
  );
}

/** Replaces a group. Without `members` in the body, the members stay. An empty list removes them. */
function replaceGroup(id: string, body: ScimObject, change: Change): Promise<Written> {
  const type = change.context.types.Group;
  checkSchemas(body, type.core.id);
  const { members, others } = splitMembers(body, type);
  const replaced = readResource(others, type);
  const net: MemberOperation[] =
    members === undefined ? [] : [{ kind: 'replace', ids: readMemberIds(members, type) }];
  return rewriteGroup(id, change, () => replaced, net);
}

function patchGroup(id: string, body: ScimValue, change: Change): Promise<Written> {
  const type = change.context.types.Group;
  const { members, attributes: operations } = splitGroupPatch(readPatch(body), type);
  const edit = (attributes: ScimObject) => applyPatch(attributes, operations, type);
  return rewriteGroup(id, change, operations.length === 0 ? keepAttributes : edit, members);
}

type Edit = (attributes: ScimObject) => ScimObject;

/**
 * Changes the attributes and the members of a group. The whole request is validated before any part is written, and all
 * parts have the stamp of one revision. Adding members who are already in the group changes nothing (RFC 7644 section
 * 3.5.2.1). The version increases before the registers are written. After a crash between these two writes, the client
 * repeats the request. The repeated request increases the version again, except if it finds the wanted list.
 * `scim/member-writes.ts` describes which list other requests read during the write.
 */
async function rewriteGroup(id: string, change: Change, edit: Edit, members: readonly MemberOperation[]) {
  const { context } = change;
  const type = context.types.Group;
  const group = groupId(id);
  const { net, membersChange, found } = await decideMembers(group, members, context);
  const rewrite =
    (await advanceIfUnchanged(id, change, { edit, membersChange, found })) ??
    (await rewriteResource(id, 'Group', {
      ...change,
      membersChange,
      found,
      edit: (before) => {
        const attributes = checkResource(edit(before), type);
        if (attributes['displayName'] !== before['displayName']) checkName({ id, attributes }, context);
        return attributes;
      },
    }));
  const { after, write } = rewrite;
  const others = [...openWrites(after.writes, context.ports.clock()), ...after.replacements.keys()];
  const isAlone = others.every((open) => open === write);
  const isReplaced = net.emptied && write !== undefined;
  const current = isReplaced ? (await viewGroup(after, context)).members : undefined;
  const changes = [...(await membershipChanges(group, net, { context, isAlone, current }))];
  if (changesName(rewrite)) changes.unshift(factsOf(after));
  const isHeld = isReplaced && current !== undefined && takesSeveralWrites(current, net.present);
  const lists = isHeld && { before: current, after: net.present };
  await noteNesting(group, net.present, context);
  const shown = lists ? await holdMembers({ after, write }, lists, context) : after;
  if (changes.length === 0) changes.push({ kind: 'member.added', group, members: [] });
  const records = changes.map((one) => ({ by: after, change: one }));
  await record(records, context);
  const whole = changes.findIndex(({ kind }) => kind === 'group.snapshot');
  const listedAt = whole === -1 ? undefined : stampOf(after, whole);
  await settleResource({ ...rewrite, after: shown }, context, listedAt);
  return { resource: after, members: net.emptied ? [...net.present].sort() : undefined };
}

/**
 * Returns whether readers could see only a part of a new whole list. The floor removes all members in one write, but
 * each added member needs a write of its own.
 */
function takesSeveralWrites(current: readonly string[], wanted: ReadonlySet<string>): boolean {
  const stayed = current.filter((id) => wanted.has(id)).length;
  const joined = wanted.size - stayed;
  const left = current.length - stayed;
  return joined > 0 && joined + left > 1;
}

interface DecidedMembers {
  readonly net: MemberChange;
  readonly membersChange: MembersChange;
  readonly found: ScimResource | undefined;
}

/** Returns the change of a group's members in a request, and whether the change has an effect. */
async function decideMembers(group: GroupId, operations: readonly MemberOperation[], context: ScimContext) {
  const { types } = context;
  // A filter selects members from the list of the version in `If-Match`. So the group is read before its members.
  const isFiltered = needsCurrentMembers(operations);
  const seen = isFiltered ? await readGroup(group, context) : undefined;
  const current: readonly string[] = isFiltered ? await listedMembers(group, context) : [];
  const elementOf = (id: string) => ({ ...listedMember(id) });
  const named = foldMembers(operations, { current: new Set(current), type: types.Group, elementOf });
  checkMemberCount(named.present.size + named.absent.size);
  const requested = await withNestedGroups(group, named, context);
  const reading = seen === undefined ? readGroup(group, context) : Promise.resolve(seen);
  return requested.emptied
    ? decideWholeList(group, { requested, reading }, context)
    : decideDifference(group, { requested, reading }, context);
}

const readGroup = async (group: GroupId, { ports, connection }: ScimContext) =>
  (await ports.scim.read(connection, 'Group', [group]))[0];

interface RequestedMembers {
  readonly requested: MemberChange;
  readonly reading: Promise<ScimResource | undefined>;
}

/**
 * Searches for deleted users only among members who are not listed yet. A listed member is not a deleted user, because
 * a deletion removes the user from every list.
 */
async function decideWholeList(
  group: GroupId,
  { requested, reading }: RequestedMembers,
  context: ScimContext,
) {
  const found = await reading;
  const listed: ReadonlySet<string> = new Set(await listedMembers(group, context));
  const newcomers = [...requested.present].filter((id) => !listed.has(id));
  const net = await withoutDeleted(group, requested, newcomers, context);
  const isSame = net.present.size === listed.size && [...listed].every((id) => net.present.has(id));
  return decided(net, { found, isSame }, context);
}

/**
 * Reads the members concurrently with the group. For most requests, this read is enough. If it shows no change, the
 * members are read again after the group. Only this second read proves that the request changes nothing, because the
 * first list may be older than the group's version.
 */
async function decideDifference(
  group: GroupId,
  { requested, reading }: RequestedMembers,
  context: ScimContext,
) {
  const [found, maySame, net] = await Promise.all([
    reading,
    changesMembers(requested) && isAlreadyListed(group, requested, context),
    withoutDeleted(group, requested, requested.present, context),
  ]);
  const mayStay = (maySame || net !== requested) && changesMembers(net);
  const isSame = mayStay && (await isAlreadyListed(group, net, context));
  return decided(net, { found, isSame }, context);
}

function decided(
  net: MemberChange,
  { found, isSame }: { readonly found: ScimResource | undefined; readonly isSame: boolean },
  context: ScimContext,
): DecidedMembers {
  // While a write of members is open, the list from this read is not final.
  const isProved = isSame && found !== undefined && !isOpen(found, context);
  const membersChange = isProved
    ? { isChange: false, seen: found.revision }
    : { isChange: changesMembers(net) };
  return { net, membersChange, found };
}

/**
 * Handles the most common requests, which only change members or repeat the same attributes. The group's attributes do
 * not change, so one write without a condition on the attributes is enough.
 */
async function advanceIfUnchanged(
  id: string,
  { context, ifMatch, ifNoneMatch }: Change,
  {
    edit,
    membersChange,
    found,
  }: { edit: Edit; membersChange: MembersChange; found: ScimResource | undefined },
) {
  if (ifMatch !== undefined || ifNoneMatch !== undefined) return undefined;
  const repeats = found !== undefined && isSameValue(edit(found.attributes), found.attributes);
  return edit === keepAttributes || repeats ? advanceGroup(id, membersChange, { found, context }) : undefined;
}

const keepAttributes: Edit = (attributes) => attributes;

/** Whether the name must be recorded: it has changed, or an earlier record may be missing after a crash. */
const changesName = ({ before, after }: Rewrite): boolean =>
  !before.settled || before.attributes['displayName'] !== after.attributes['displayName'];

export const WRITERS = {
  User: { create: createUser, replace: replaceUser, patch: patchUser },
  Group: { create: createGroup, replace: replaceGroup, patch: patchGroup },
} as const;
