import { type GroupRef, groupId, type MemberId, memberId } from '../../domain/ids.ts';
import { MAX_OPERATION, readStamp, type Stamp } from '../../domain/stamp.ts';
import type { HeldList, ScimResource } from '../ports.ts';
import { etagOf, openEtagOf } from '../protocol/document.ts';
import { openWrites } from '../protocol/member-writes.ts';
import { hashOf } from '../tokens/tokens.ts';
import type { ScimContext } from './context.ts';
import { asMembers, listedOf, readFloor } from './membership.ts';
import { asSender, record, stampOf } from './record.ts';

interface GroupView {
  readonly resource: ScimResource;
  readonly members: readonly MemberId[];
  readonly etag: string;
}

/**
 * The maximum number of reads if a write of members begins during each read. After the last read, the response gets the
 * temporary tag of an open write.
 */
const MAX_READS = 3;
/**
 * The maximum number of reads if a replacement of the whole list begins or ends during each read. A response must show
 * the list before or after a replacement, and never a part of it.
 */
const MAX_REPLACEMENTS_MET = 20;

/** Returns whether a write of members is open, so that no read can return the final list of the item's version. */
export const isOpen = ({ writes }: ScimResource, { ports }: ScimContext): boolean =>
  openWrites(writes, ports.clock()).length > 0;

/** Returns the entity tag of a resource whose members are not read. */
export const etagWithoutMembers = (resource: ScimResource, context: ScimContext): string =>
  isOpen(resource, context) ? openEtagOf(resource.version, 'open') : etagOf(resource.version);

/** Returns the open replacement, if readers must still see the list from before the replacement. */
function openReplacement(resource: ScimResource, floor: Stamp): Replacement | undefined {
  const latest = latestReplacement(resource);
  // The write of the floor is the last step of a replacement, and removes all members that are not in the new list. So
  // if the floor is written, the new list is complete.
  return latest === undefined || floor >= latest.held.first ? undefined : latest;
}

interface Found {
  readonly members: readonly MemberId[];
  /** `exact`: the list of the item's version. `open`: a write is open. `mixed`: a write began after the read. */
  readonly kind: 'exact' | 'open' | 'mixed';
}

/**
 * Reads the members of a group whose item was already read. Group and members are separate items, so a write may run
 * between the two reads. The first row that applies decides:
 *
 *   item with a held list                              a whole list is being written: held list plus later changes
 *   item with an open write                            the list may be incomplete: use the tag of the content
 *   floor or register later than the item's revision   another write began after the item was read: read both again
 *   floor earlier than `listedAt` of the item          the floor was read before that write ended: read both again
 *
 * A replacement stores its two lists before it writes the first register. So if a read found a new register, the next
 * read of the item also finds the stored lists.
 * @param floor the floor of the group, if it was read together with the item
 */
export async function viewGroup(
  found: ScimResource,
  context: ScimContext,
  floor?: Stamp,
): Promise<GroupView> {
  const { ports, connection } = context;
  const ref: GroupRef = { connection, group: groupId(found.id) };
  let resource = found;
  let known = floor;
  for (let read = 1; ; read += 1) {
    const since = known ?? (await readFloor(ref, ports));
    const replacement = openReplacement(resource, since);
    const view = await viewOnce(resource, replacement, since, context);
    if (view?.kind === 'exact') return { resource, members: view.members, etag: etagOf(resource.version) };
    if (replacement !== undefined && view !== undefined) return openView(resource, view.members);
    const [again] = await ports.scim.read(connection, 'Group', [resource.id]);
    if (again === undefined || !isReadAgain(again, { view, since, read }))
      return openView(resource, view?.members ?? []);
    resource = again;
    known = undefined;
  }
}

const viewOnce = (
  resource: ScimResource,
  replacement: Replacement | undefined,
  since: Stamp,
  context: ScimContext,
): Promise<Found | undefined> =>
  replacement ? viewHeld(resource, replacement, context) : viewRegisters(resource, since, context);

/** Whether another read is needed: the item has an open replacement, or a write began or a replacement ended. */
function isReadAgain(
  again: ScimResource,
  { view, since, read }: { readonly view: Found | undefined; readonly since: Stamp; readonly read: number },
): boolean {
  if (again.state !== 'live' || read >= MAX_REPLACEMENTS_MET) return false;
  if (view === undefined || openReplacement(again, since) !== undefined) return true;
  return view.kind === 'mixed' && read < MAX_READS;
}

const openView = (resource: ScimResource, members: readonly MemberId[]): GroupView => ({
  resource,
  members,
  etag: openEtagOf(resource.version, hashOf(JSON.stringify(members)).slice(0, 16)),
});

async function viewRegisters(resource: ScimResource, since: Stamp, context: ScimContext): Promise<Found> {
  const { ports, connection } = context;
  const registers = await ports.scim.memberships({ connection, group: groupId(resource.id) });
  const members = listedOf(registers, since);
  if (isOpen(resource, context)) return { members, kind: 'open' };
  const last = stampOf(resource, MAX_OPERATION);
  const isMixed = since > last || since < resource.listedAt || registers.some(({ stamp }) => stamp > last);
  return { members, kind: isMixed ? 'mixed' : 'exact' };
}

/** @returns undefined if the replacement has ended in the meantime */
async function viewHeld(
  resource: ScimResource,
  { write, held }: Replacement,
  { ports, connection }: ScimContext,
): Promise<Found | undefined> {
  const ref: GroupRef = { connection, group: groupId(resource.id) };
  const lists = await ports.scim.heldList(ref, write, held);
  if (lists === undefined) return undefined;
  const members = new Set(lists.before.map(memberId));
  // Only changes that began after the replacement are applied to the list from before it.
  const isLater = stampOf(resource, MAX_OPERATION) > held.last;
  for (const { member, stamp, value } of isLater ? await ports.scim.memberships(ref) : []) {
    if (stamp <= held.last) continue;
    if (value === 'present') members.add(member);
    else members.delete(member);
  }
  return { members: [...members].sort(), kind: 'open' };
}

/**
 * Stores the lists before and after a replacement. Readers see the first list until the replacement ends. If the
 * process crashes, another request can finish the replacement with the second list.
 * @returns the resource with the stored lists
 */
export async function holdMembers(
  { after, write }: { readonly after: ScimResource; readonly write: string },
  lists: { readonly before: readonly string[]; readonly after: ReadonlySet<string> },
  { ports, connection, actor }: ScimContext,
): Promise<ScimResource> {
  const ref: GroupRef = { connection, group: groupId(after.id) };
  const stamps = { first: stampOf(after), last: stampOf(after, MAX_OPERATION), by: actor.id };
  const held = await ports.scim.holdList(ref, write, { ...lists, ...stamps });
  return { ...after, replacements: new Map([...after.replacements, [write, held]]) };
}

/** An open replacement of a group's whole member list, with its id. */
interface Replacement {
  readonly write: string;
  readonly held: HeldList;
}

function latestReplacement({ replacements }: ScimResource): Replacement | undefined {
  const [latest] = [...replacements].toSorted(([, a], [, b]) => (a.first < b.first ? 1 : -1));
  return latest && { write: latest[0], held: latest[1] };
}

/** Returns the latest replacement if its process has died. */
export function deadReplacement(resource: ScimResource, nowMs: number): Replacement | undefined {
  const latest = latestReplacement(resource);
  const isOpen = latest !== undefined && openWrites(resource.writes, nowMs).includes(latest.write);
  return isOpen ? undefined : latest;
}

/** Finishes the replacement of a dead process. It uses the original stamps, and so does not undo later changes. */
export async function finishReplacement(
  found: ScimResource,
  { write, held }: Replacement,
  context: ScimContext,
): Promise<void> {
  const { ports, connection } = context;
  await context.admitted;
  const group = groupId(found.id);
  const ref = { connection, group };
  const lists = await ports.scim.heldList(ref, write, held);
  const stamp = readStamp(held.first);
  if (lists !== undefined && stamp !== undefined) {
    const members = asMembers(lists.after);
    const by = { ...found, modifiedMs: Date.parse(stamp.time), revision: Number(stamp.sequence) };
    await record([{ by, change: { kind: 'group.snapshot', group, members } }], asSender(held.by, context));
  }
  const earlier = [...found.replacements].filter(([, other]) => other.first <= held.first);
  const supersedes = earlier.map(([id]) => id).filter((id) => id !== write);
  const listedAt = lists === undefined ? undefined : held.first;
  await ports.scim.endWrite(connection, { ...found, settled: true }, { id: write, supersedes, listedAt });
  await Promise.all(earlier.map(([id, one]) => ports.scim.dropList(ref, id, one)));
}
