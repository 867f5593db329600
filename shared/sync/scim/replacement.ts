import { groupId, memberId } from '../../domain/ids.ts';
import { readStamp } from '../../domain/stamp.ts';
import { openWrites } from '../../scim/member-writes.ts';
import type { HeldList, ScimResource } from '../ports/scim.ts';
import type { ScimContext } from './context.ts';
import { record } from './record.ts';

/** An open replacement of a group's whole member list, with its id. */
export interface Replacement {
  readonly write: string;
  readonly held: HeldList;
}

export function latestReplacement({ replacements }: ScimResource): Replacement | undefined {
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
    const members = [...lists.after].map((id) => ({
      id: memberId(id),
      attributes: new Map<string, string>(),
    }));
    const by = { ...found, modifiedMs: Date.parse(stamp.time), revision: Number(stamp.sequence) };
    await record([{ by, change: { kind: 'group.snapshot', group, members } }], context);
  }
  const earlier = [...found.replacements].filter(([, other]) => other.first <= held.first);
  const supersedes = earlier.map(([id]) => id).filter((id) => id !== write);
  const listedAt = lists === undefined ? undefined : held.first;
  await ports.scim.endWrite(connection, { ...found, settled: true }, { id: write, supersedes, listedAt });
  await Promise.all(earlier.map(([id, one]) => ports.scim.dropList(ref, id, one)));
}
