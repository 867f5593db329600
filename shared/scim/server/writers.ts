import { renderName } from '../../contract/name-template.ts';
import { type GroupId, groupId } from '../../domain/ids.ts';
import { isVisible } from '../../domain/visible.ts';
import type { ScimResource } from '../ports.ts';
import { checkGroupName, checkResource, checkSchemas } from '../protocol/checks.ts';
import { badRequest } from '../protocol/errors.ts';
import { openWrites } from '../protocol/member-writes.ts';
import { applyPatch, readResource } from '../protocol/patch/apply.ts';
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
} from '../protocol/patch/members.ts';
import { readPatch } from '../protocol/patch/operation.ts';
import { isSameValue, type ScimObject, type ScimValue } from '../protocol/value.ts';
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
import { factsOf, type Recorded, record, stampOf } from './record.ts';
import type { MembersChange, ResourceChange, Rewrite } from './resources.ts';
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
function replaceUser(id: string, body: ScimObject, change: ResourceChange): Promise<Written> {
  const type = change.context.types.User;
  checkSchemas(body, type.core.id);
  const given = readResource(body, type);
  const replaced = ({ active }: ScimObject) => (active === undefined ? given : { active, ...given });
  return rewriteUser(id, change, replaced);
}

function patchUser(id: string, body: ScimValue, change: ResourceChange): Promise<Written> {
  const operations = readPatch(body);
  return rewriteUser(id, change, (attributes) =>
    applyPatch(attributes, operations, change.context.types.User),
  );
}

async function rewriteUser(id: string, change: ResourceChange, edit: (attributes: ScimObject) => ScimObject) {
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

/**
 * Replaces a group. Without `members` in the body, the members stay, because some clients leave out members that they
 * do not change. Other clients leave out an empty list, so `status` shows such groups. An empty list removes the members.
 */
function replaceGroup(id: string, body: ScimObject, change: ResourceChange): Promise<Written> {
  const type = change.context.types.Group;
  checkSchemas(body, type.core.id);
  const { members, others } = splitMembers(body, type);
  const replaced = readResource(others, type);
  const net: MemberOperation[] =
    members === undefined ? [] : [{ kind: 'replace', ids: readMemberIds(members, type) }];
  const mention = members === undefined ? 'kept' : 'sent';
  return rewriteGroup(id, change, () => replaced, { members: net, mention });
}

function patchGroup(id: string, body: ScimValue, change: ResourceChange): Promise<Written> {
  const type = change.context.types.Group;
  const { members, attributes: operations } = splitGroupPatch(readPatch(body), type);
  const edit = (attributes: ScimObject) => applyPatch(attributes, operations, type);
  const mention = members.length === 0 ? undefined : 'sent';
  return rewriteGroup(id, change, operations.length === 0 ? keepAttributes : edit, { members, mention });
}

type Edit = (attributes: ScimObject) => ScimObject;

/**
 * Changes the attributes and the members of a group. The whole request is validated before any part is written, and all
 * parts have the stamp of one revision. Adding members who are already in the group changes nothing (RFC 7644 section
 * 3.5.2.1). The version increases before the registers are written. After a crash between these two writes, the client
 * repeats the request. The repeated request increases the version again, except if it finds the wanted list.
 * `scim/member-writes.ts` describes which list other requests read during the write.
 *
 * A request for a whole list first takes a revision, then reads the current list, and writes the new list with the
 * stamps of this revision. So of two overlapping requests for a whole list, the later request wins.
 */
async function rewriteGroup(
  id: string,
  change: ResourceChange,
  edit: Edit,
  {
    members,
    mention,
  }: { readonly members: readonly MemberOperation[]; readonly mention: MembersChange['mention'] },
) {
  const { context } = change;
  const group = groupId(id);
  const decided = await decideMembers(group, members, change);
  const { net, taken } = decided;
  const membersChange = { ...decided.membersChange, mention };
  const decision = { ...decided, membersChange };
  const rewrite = await reviseGroup(id, change, { edit, decision }).catch(async (error: unknown) => {
    if (taken !== undefined) await endTaken(taken, context);
    throw error;
  });
  const { after } = rewrite;
  const write = rewrite.write ?? membersChange.write;
  const by = taken === undefined ? after : asOf(taken.revision, { after, write });
  // A write that was open when the list was read may have ended since. The list may lack its changes.
  const read = taken?.revision ?? after;
  const others = [...openWrites(read.writes, context.ports.clock()), ...read.replacements.keys()];
  const isAlone = others.every((open) => open === write);
  const isReplaced = net.emptied && rewrite.write !== undefined;
  const known = isAlone ? taken?.listed : undefined;
  const current = isReplaced ? (known ?? (await viewGroup(after, context)).members) : undefined;
  const changes = await membershipChanges(group, net, { context, isAlone, current });
  await noteNesting(group, net.present, context);
  const shown = await holdLists({ by, write, current, wanted: net.present }, context);
  const records = [...nameRecords(rewrite, edit, by), ...changes.map((one) => ({ by, change: one }))];
  if (records.length === 0) records.push({ by, change: { kind: 'member.added', group, members: [] } });
  const { writes, replacements } = shown;
  await recordAndSettle(records, { ...rewrite, write, after: { ...after, writes, replacements } }, context);
  return { resource: shownAs(after, taken), members: net.emptied ? [...net.present].sort() : undefined };
}

/**
 * Records the changes of a group, and ends their write while the group is woken. But the dirty mark also stores a name
 * and the floor of a whole list, so such a write ends after it.
 */
async function recordAndSettle(records: readonly Recorded[], rewrite: Rewrite, context: ScimContext) {
  const at = records.findIndex(({ change }) => change.kind === 'group.snapshot');
  const whole = records[at];
  const settle = () => settleResource(rewrite, context, whole && stampOf(whole.by, at));
  const endsLater = !rewrite.after.settled || records.some(({ change }) => change.kind.startsWith('group.'));
  await record(records, context, endsLater ? undefined : settle);
  if (endsLater) await settle();
}

async function reviseGroup(
  id: string,
  change: ResourceChange,
  { edit, decision }: { readonly edit: Edit; readonly decision: DecidedMembers },
): Promise<Rewrite> {
  const { context } = change;
  const { membersChange, found } = decision;
  const advanced = await advanceIfUnchanged(id, change, { ...decision, edit });
  return (
    advanced ??
    rewriteResource(id, 'Group', {
      ...change,
      membersChange,
      found,
      edit: (before) => {
        const attributes = checkResource(edit(before), context.types.Group);
        if (attributes['displayName'] !== before['displayName']) checkName({ id, attributes }, context);
        return attributes;
      },
    })
  );
}

/** Ends the write of a request that was refused after it took a revision. */
const endTaken = ({ revision, write }: TakenRevision, { ports, connection }: ScimContext): Promise<void> =>
  ports.scim.endWrite(connection, { ...revision, settled: true }, { id: write, supersedes: [] });

/** Returns the resource with the stamps of an earlier revision, and without the writes that began after it. */
function asOf(
  { revision, modifiedMs, ...earlier }: ScimResource,
  { after, write }: Pick<Rewrite, 'after' | 'write'>,
): ScimResource {
  const writes = [...after.writes].filter(([id]) => id === write || earlier.writes.has(id));
  const replacements = [...after.replacements].filter(([id]) => earlier.replacements.has(id));
  return { ...after, revision, modifiedMs, writes: new Map(writes), replacements: new Map(replacements) };
}

/**
 * Returns the resource for the answer. If another request took a revision in the meantime, the list may be its list. The
 * answer then has a version that no list has, so that the client cannot overwrite the other list with If-Match.
 */
function shownAs(after: ScimResource, taken: TakenRevision | undefined): ScimResource {
  const isLatest = taken === undefined || after.revision <= taken.revision.revision + 1;
  return isLatest ? after : { ...after, version: taken.revision.revision };
}

async function holdLists(
  {
    by,
    write,
    current,
    wanted,
  }: {
    readonly by: ScimResource;
    readonly write: string | undefined;
    readonly current: readonly string[] | undefined;
    readonly wanted: ReadonlySet<string>;
  },
  context: ScimContext,
): Promise<ScimResource> {
  if (write === undefined || current === undefined || !takesSeveralWrites(current, wanted)) return by;
  return holdMembers({ after: by, write }, { before: current, after: wanted }, context);
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

interface TakenRevision {
  readonly revision: ScimResource;
  readonly write: string;
  readonly listed: readonly string[];
}

interface DecidedMembers {
  readonly net: MemberChange;
  readonly membersChange: MembersChange;
  readonly found: ScimResource | undefined;
  /** For a whole list; undefined for other changes, and for requests with a condition or a filter. */
  readonly taken?: TakenRevision | undefined;
}

async function decideMembers(group: GroupId, operations: readonly MemberOperation[], change: ResourceChange) {
  const { context } = change;
  const { types } = context;
  // A filter selects members from the list of the version in `If-Match`. So the group is read before its members.
  const isFiltered = needsCurrentMembers(operations);
  const seen = isFiltered ? await readGroup(group, context) : undefined;
  const current: readonly string[] = isFiltered ? await listedMembers(group, context) : [];
  const elementOf = (id: string) => ({ ...listedMember(id) });
  const named = foldMembers(operations, { current: new Set(current), type: types.Group, elementOf });
  checkMemberCount(named.present.size + named.absent.size);
  const requested = await withNestedGroups(group, named, context);
  if (requested.emptied) return decideWholeList(group, { requested, seen }, change);
  const reading = seen === undefined ? readGroup(group, context) : Promise.resolve(seen);
  return decideDifference(group, requested, reading, context);
}

const readGroup = async (group: GroupId, { ports, connection }: ScimContext) =>
  (await ports.scim.read(connection, 'Group', [group]))[0];

/**
 * Searches for deleted users only among members who are not listed yet. A listed member is not a deleted user, because
 * a deletion removes the user from every list.
 */
async function decideWholeList(
  group: GroupId,
  { requested, seen }: { readonly requested: MemberChange; readonly seen: ScimResource | undefined },
  change: ResourceChange,
): Promise<DecidedMembers> {
  const { context } = change;
  const write = context.ports.newId();
  const revision = seen === undefined ? await takeRevision(group, write, change) : undefined;
  const found = revision ?? seen ?? (await readGroup(group, context));
  const listed = await listedMembers(group, context);
  const known: ReadonlySet<string> = new Set(listed);
  const newcomers = [...requested.present].filter((id) => !known.has(id));
  const net = await withoutDeleted(group, requested, newcomers, context);
  const isSame = net.present.size === known.size && listed.every((id) => net.present.has(id));
  if (revision === undefined) return decided(net, { found, isSame }, context);
  const writes = new Map([...revision.writes].filter(([id]) => id !== write));
  const decision = decided(net, { found: { ...revision, writes }, isSame }, context);
  const membersChange = { ...decision.membersChange, write };
  return { ...decision, found: revision, membersChange, taken: { revision, write, listed } };
}

/**
 * Takes the next revision of a group, and begins a write of its members. Clients see no change yet.
 * @returns undefined for a request with a condition, and if the write was refused
 */
async function takeRevision(
  group: GroupId,
  begins: string,
  { context, ifMatch, ifNoneMatch }: ResourceChange,
) {
  if (ifMatch !== undefined || ifNoneMatch !== undefined) return undefined;
  const { ports, connection, admitted } = context;
  await admitted;
  const target = { type: 'Group', id: group } as const;
  return ports.scim.advance(connection, target, { nowMs: ports.clock(), isChange: false, begins });
}

/**
 * Reads the members concurrently with the group. For most requests, this read is enough. If it shows no change, the
 * members are read again after the group. Only this second read proves that the request changes nothing, because the
 * first list may be older than the group's version.
 */
async function decideDifference(
  group: GroupId,
  requested: MemberChange,
  reading: Promise<ScimResource | undefined>,
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
  { context, ifMatch, ifNoneMatch }: ResourceChange,
  { edit, membersChange, found, taken }: Omit<DecidedMembers, 'net'> & { readonly edit: Edit },
): Promise<Rewrite | undefined> {
  if (ifMatch !== undefined || ifNoneMatch !== undefined) return undefined;
  const isKept = found?.keptMs !== undefined;
  if (membersChange.mention === (isKept ? 'sent' : 'kept')) return undefined;
  const repeats = found !== undefined && isSameValue(edit(found.attributes), found.attributes);
  const isSame = edit === keepAttributes || repeats;
  if (isSame && taken !== undefined && !membersChange.isChange)
    return { before: taken.revision, after: taken.revision };
  return isSame ? advanceGroup(id, membersChange, { found, context }) : undefined;
}

const keepAttributes: Edit = (attributes) => attributes;

/**
 * Returns the record of the name. An event, for example of an import, may have given the group another name, so the name
 * is also recorded if it has not changed. Its stamp is then earlier than those of the members, which keep their sender:
 * the author of their removal.
 */
function nameRecords({ before, after }: Rewrite, edit: Edit, by: ScimResource): readonly Recorded[] {
  // After a crash, an earlier record may be missing.
  const isRenamed = !before.settled || before.attributes['displayName'] !== after.attributes['displayName'];
  if (!isRenamed && edit === keepAttributes) return [];
  return [{ by: isRenamed ? after : by, change: factsOf(after) }];
}

export const WRITERS = {
  User: { create: createUser, replace: replaceUser, patch: patchUser },
  Group: { create: createGroup, replace: replaceGroup, patch: patchGroup },
} as const;
