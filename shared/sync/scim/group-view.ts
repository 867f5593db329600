import { type GroupRef, groupId, type MemberId } from '../../domain/ids.ts';
import { MAX_OPERATION, type Stamp } from '../../domain/stamp.ts';
import { etagOf, openEtagOf } from '../../scim/document.ts';
import { openWrites } from '../../scim/member-writes.ts';
import type { ScimResource } from '../ports/scim.ts';
import type { ScimContext } from './context.ts';
import { listedOf, readFloor } from './membership.ts';
import { stampOf } from './record.ts';
import { hashOf } from './tokens.ts';

/** A group and its members at one moment, and the entity tag of both. */
export interface GroupView {
  readonly resource: ScimResource;
  readonly members: readonly MemberId[];
  readonly etag: string;
}

/** Limit of repeated reads when writes begin while members are read. After that the answer gets the tag of an open version. */
const MAX_READS = 3;

/** Whether a write of members is open: then no read shows the list of its version yet. */
export const isOpen = ({ writes }: ScimResource, { ports }: ScimContext): boolean =>
  openWrites(writes, ports.clock()).length > 0;

/** The entity tag of a resource whose members are not read. */
export const etagWithoutMembers = (resource: ScimResource, context: ScimContext): string =>
  isOpen(resource, context) ? openEtagOf(resource.version, 'open') : etagOf(resource.version);

/**
 * Reads the members of a group whose item was read before. Group and members are separate items, so a write may run between:
 *
 *   floor or register later than the item's revision   another write began after the item was read: read both again
 *   floor earlier than `listedAt` of the item          the floor was read before that write ended: read both again
 *   item with an open write                            the list may be half-written: tag of the content
 *
 * @param floor of the group, if it was read together with the item
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
    const registers = await ports.scim.memberships(ref);
    const members = listedOf(registers, since);
    const last = stampOf(resource, MAX_OPERATION);
    const isMixed = since > last || since < resource.listedAt || registers.some(({ stamp }) => stamp > last);
    const mayBePart = isOpen(resource, context);
    if (!isMixed && !mayBePart) return { resource, members, etag: etagOf(resource.version) };
    const isReadAgain = !mayBePart && read < MAX_READS;
    const [again] = isReadAgain ? await ports.scim.read(connection, 'Group', [resource.id]) : [];
    if (again?.state !== 'live') {
      const content = hashOf(JSON.stringify(members)).slice(0, 16);
      return { resource, members, etag: openEtagOf(resource.version, content) };
    }
    resource = again;
    known = undefined;
  }
}
