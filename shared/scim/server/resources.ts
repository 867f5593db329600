import type { DirectoryChange } from '../../domain/event.ts';
import { groupId, type MemberId, memberId } from '../../domain/ids.ts';
import { nestedMember } from '../../domain/nesting.ts';
import type { Stamp } from '../../domain/stamp.ts';
import { mapConcurrently, READS_IN_FLIGHT } from '../../sync/tuning.ts';
import type { ScimResource } from '../ports.ts';
import { namesVersion } from '../protocol/document.ts';
import { ScimError } from '../protocol/errors.ts';
import { deadWrites, openWrites, withWrite } from '../protocol/member-writes.ts';
import { type TypeName, UNIQUE_ATTRIBUTE } from '../protocol/resource-type.ts';
import { isSameValue, type ScimObject } from '../protocol/value.ts';
import { claimHolder, claimUnique, isBlocked, uniquenessError } from './claims.ts';
import { isIndexedAlike, pointAt, type ScimContext, unindex } from './context.ts';
import { deadReplacement, finishReplacement } from './group-view.ts';
import { listedAmong } from './membership.ts';
import { yieldToReader } from './reader-groups.ts';
import type { MemberWrite, Recorded } from './record.ts';
import {
  asSender,
  beginWrite,
  factsOf,
  idleRevision,
  MAX_RACES,
  nextRevision,
  record,
  userEnd,
} from './record.ts';

/**
 * Reads a resource consistently. If a crash interrupted a write of the resource, this function completes the write
 * first.
 * @throws ScimError 404
 */
export async function findResource(id: string, type: TypeName, context: ScimContext): Promise<ScimResource> {
  const [found] = await context.ports.scim.read(context.connection, type, [id]);
  const finished = found && (await finishWrite(found, context));
  if (finished === undefined) throw new ScimError(404, `expected the id of a ${type}, got an unknown id`);
  return finished;
}

/**
 * Completes a write that a crash may have interrupted: the registers of the resource, a replacement of its members, or
 * the rest of its deletion.
 * @returns undefined for a deleted resource or a blocked id
 */
export async function finishWrite(
  found: ScimResource,
  context: ScimContext,
): Promise<ScimResource | undefined> {
  if (isBlocked(found) && context.ports.clock() < found.modifiedMs) return undefined;
  if (found.state === 'deleting' || !found.settled) await context.admitted;
  if (found.state === 'deleting') {
    await finishDeletion(found, context);
    return undefined;
  }
  const dead = deadReplacement(found, context.ports.clock());
  if (dead !== undefined) {
    await finishReplacement(found, dead, context);
    const [finished] = await context.ports.scim.read(context.connection, found.type, [found.id]);
    return finished?.state === 'live' ? finishWrite(finished, context) : undefined;
  }
  if (!found.settled) {
    if (found.type === 'Group' && found.revision === 1) await yieldToReader(found, context);
    await record([{ by: found, change: factsOf(found) }], asSender(found.sentBy, context));
    await context.ports.scim.settle(context.connection, found);
  }
  return found;
}

export interface ResourceChange {
  readonly context: ScimContext;
  readonly ifMatch: string | undefined;
  readonly ifNoneMatch?: string | undefined;
}

export interface MembersChange {
  readonly isChange: boolean;
  /** The revision at which the members need no change; undefined if this does not depend on the revision. */
  readonly seen?: number;
  readonly write?: string | undefined;
  /** Whether the request mentions members: `kept` for a PUT without them; undefined for a PATCH without them. */
  readonly mention?: 'kept' | 'sent' | undefined;
}

export interface Rewrite {
  readonly before: ScimResource;
  readonly after: ScimResource;
  /** The id of the write of members that began with this revision; undefined if the member list does not change. */
  readonly write?: string | undefined;
}

/**
 * Writes the next revision of a resource. If another request has changed the resource, it reads the resource again and
 * makes the change again. The caller records the change in the desired state and settles the resource.
 * @throws ScimError 404, 412, 409 or an error of `edit`. After such an error, the resource has its earlier content
 */
export async function rewriteResource(
  id: string,
  type: TypeName,
  {
    context,
    ifMatch,
    ifNoneMatch,
    edit,
    membersChange = { isChange: false },
    state = 'live',
    found,
  }: ResourceChange & {
    readonly edit: (attributes: ScimObject) => ScimObject;
    readonly membersChange?: MembersChange;
    readonly state?: ScimResource['state'];
    readonly found?: ScimResource | undefined;
  },
): Promise<Rewrite> {
  const { ports } = context;
  for (let race = 0; race < MAX_RACES; race += 1) {
    const before = await readForChange(id, type, context, race === 0 ? found : undefined);
    await context.admitted;
    if (ifMatch !== undefined) checkIfMatch(ifMatch, before, ports.clock());
    if (ifNoneMatch !== undefined) checkIfNoneMatch(ifNoneMatch, before);
    const { after, write } = rewritten(
      before,
      { attributes: edit(before.attributes), membersChange, state },
      context,
    );
    if (await saveIndexed({ before, after }, context)) return { before, after, write };
  }
  throw new Error(`gave up after ${MAX_RACES} concurrent writes of one resource`);
}

/**
 * Saves the resource. Claims and index entries are written before the save, and the claims are verified after it.
 * @returns whether the resource was saved
 */
async function saveIndexed({ before, after }: Rewrite, context: ScimContext): Promise<boolean> {
  const { ports, connection } = context;
  const isIndexed = after.state === 'deleting' || isIndexedAlike(before, after);
  if (!isIndexed) {
    await claimUnique(after, context);
    await pointAt(after, context);
  }
  if (!(await ports.scim.save(connection, after, before))) return false;
  if (!isIndexed) await restoreUnlessHeld({ before, after }, context);
  return true;
}

function rewritten(
  before: ScimResource,
  {
    attributes,
    membersChange,
    state,
  }: Pick<ScimResource, 'attributes' | 'state'> & { readonly membersChange: MembersChange },
  { ports, actor }: ScimContext,
): Pick<Rewrite, 'after' | 'write'> {
  const nowMs = ports.clock();
  const changesMembers =
    membersChange.isChange || (membersChange.seen ?? before.revision) !== before.revision;
  const isChange = changesMembers || state !== before.state || !isSameValue(attributes, before.attributes);
  const revise = isChange ? nextRevision : idleRevision;
  const write = changesMembers ? (membersChange.write ?? ports.newId()) : undefined;
  const writes =
    write === undefined
      ? before.writes
      : withWrite(before.writes, { id: write, nowMs, held: before.replacements });
  const keptMs = keptSince(before, membersChange, nowMs);
  return { after: { ...revise(before, nowMs), attributes, state, writes, keptMs, sentBy: actor.id }, write };
}

function keptSince({ keptMs }: ScimResource, { mention }: MembersChange, nowMs: number): number | undefined {
  if (mention === 'sent') return undefined;
  return mention === 'kept' ? (keptMs ?? nowMs) : keptMs;
}

/**
 * @throws ScimError 412 if the version is not the current version. While a write of members is open, every version
 * except `*` gets a 412, because no client has seen the final list of the current version
 */
function checkIfMatch(ifMatch: string, { writes, version }: ScimResource, nowMs: number): void {
  const isOpen = openWrites(writes, nowMs).length > 0;
  if (namesVersion(ifMatch, isOpen ? undefined : version)) return;
  const reason = isOpen
    ? 'but another request is writing its members: read the resource again'
    : 'got another version';
  throw new ScimError(412, `If-Match: expected the current version of the resource, ${reason}`);
}

/** @throws ScimError 412 for a version that the client does not want to overwrite (RFC 9110 section 13.1.2) */
function checkIfNoneMatch(ifNoneMatch: string, { version }: ScimResource): void {
  if (!namesVersion(ifNoneMatch, version)) return;
  throw new ScimError(412, 'If-None-Match: expected a resource that does not exist, or has another version');
}

/**
 * Writes the next revision of a group whose attributes do not change. One write is enough, or two if another request
 * has changed the group since `seen`.
 * @returns undefined if the writes were refused. The caller must then use `rewriteResource`
 */
export async function advanceGroup(
  id: string,
  { isChange, seen, write: begun }: MembersChange,
  { found, context }: { readonly found: ScimResource | undefined; readonly context: ScimContext },
): Promise<Rewrite | undefined> {
  const { ports, connection, admitted } = context;
  await admitted;
  const target = { type: 'Group', id } as const;
  const nowMs = ports.clock();
  const forgets = found === undefined ? [] : deadWrites(found.writes, nowMs, found.replacements);
  const write = begun ?? ports.newId();
  const begins = isChange ? write : undefined;
  const advanced = await ports.scim.advance(connection, target, { nowMs, isChange, seen, begins, forgets });
  if (advanced !== undefined) return { before: advanced, after: advanced, write: begins };
  if (seen === undefined) return undefined;
  // Another request may have changed the member list since `seen`, so this request counts as a change of members.
  const after = await ports.scim.advance(connection, target, {
    nowMs,
    isChange: true,
    begins: write,
    forgets,
  });
  return after && { before: after, after, write };
}

/** Reads a resource for a change. It need not complete an interrupted write, because the change does this. */
async function readForChange(id: string, type: TypeName, context: ScimContext, known?: ScimResource) {
  const [found = known] = known ? [] : await context.ports.scim.read(context.connection, type, [id]);
  return found?.state === 'live' ? found : findResource(id, type, context);
}

async function restoreUnlessHeld({ before, after }: Rewrite, context: ScimContext): Promise<void> {
  const { ports, connection } = context;
  const { id, type } = after;
  const holder = await claimHolder(after, context);
  if (holder === id) return;
  const { attributes } = before;
  const writes = new Map([...after.writes].filter(([write]) => before.writes.has(write)));
  const restored = { ...nextRevision(after, ports.clock()), attributes, writes };
  if (!(await ports.scim.save(connection, restored, after))) {
    // Another request has changed the resource since the save, so only the unique value is restored.
    const name = UNIQUE_ATTRIBUTE[type];
    const edit = (now: ScimObject) =>
      now[name] === after.attributes[name] ? { ...now, [name]: attributes[name] ?? null } : now;
    await rewriteResource(id, type, { context, ifMatch: undefined, edit });
    await findResource(id, type, context);
  }
  throw uniquenessError(type, holder);
}

/**
 * Ends a change after its registers were written, and releases the index values that the resource no longer has.
 * @param listedAt the stamp of the whole member list that the change wrote. Earlier writes cannot change that list
 */
export async function settleResource(
  { before, after, write }: Rewrite,
  context: ScimContext,
  listedAt?: Stamp,
): Promise<void> {
  const { ports, connection } = context;
  if (write !== undefined) {
    const others = [...after.writes.keys()].filter((id) => id !== write);
    const supersedes = listedAt === undefined ? [] : others;
    await ports.scim.endWrite(connection, after, { id: write, supersedes, listedAt });
    const ref = { connection, group: groupId(after.id) };
    const ended = [...after.replacements].filter(([id]) => id === write || supersedes.includes(id));
    await Promise.all(ended.map(([id, held]) => ports.scim.dropList(ref, id, held)));
  } else if (!after.settled) {
    await ports.scim.settle(connection, after);
  }
  await unindex(before, after, context);
}

/**
 * Completes the deletion of a resource in the state `deleting`: records the deletion in the desired state, releases the
 * index entries, and removes the resource. A later request can repeat each step. So after a crash, any later request
 * can complete the deletion.
 */
export async function finishDeletion(deleting: ScimResource, by: ScimContext): Promise<void> {
  const context = asSender(deleting.sentBy, by);
  const { ports, connection } = context;
  const { replacements } = deleting;
  if (deleting.type === 'Group') {
    const group = groupId(deleting.id);
    await recordEnd(deleting, nestedMember(group), [{ kind: 'group.deleted', group }], context);
    const drops = [...replacements].map(([id, held]) => ports.scim.dropList({ connection, group }, id, held));
    await Promise.all(drops);
  } else {
    await recordEnd(deleting, memberId(deleting.id), userEnd(deleting), context);
  }
  await unindex(deleting, undefined, context);
  await ports.scim.remove(connection, deleting);
}

/** Each group that lists the member gets a new version without the member. */
async function recordEnd(
  deleting: ScimResource,
  member: MemberId,
  end: readonly DirectoryChange[],
  context: ScimContext,
): Promise<void> {
  const { ports, connection } = context;
  const begun: MemberWrite[] = [];
  for await (const groups of ports.users.groupsOf(connection, member)) {
    const isListed = await mapConcurrently(READS_IN_FLIGHT, groups, async (group) =>
      (await listedAmong(group, [member], context)).has(member),
    );
    for (const group of groups.filter((_, at) => isListed[at])) {
      begun.push(...(await beginWrite(group, context)));
    }
  }
  const members = [{ id: member, attributes: new Map<string, string>() }];
  const leaves = begun.map(
    ({ revision }): Recorded => ({
      by: revision,
      change: { kind: 'member.removed', group: groupId(revision.id), members },
    }),
  );
  await record([...end.map((change) => ({ by: deleting, change })), ...leaves], context);
  await mapConcurrently(READS_IN_FLIGHT, begun, ({ id, revision }) =>
    ports.scim.endWrite(connection, { ...revision, settled: true }, { id, supersedes: [] }),
  );
}
