import { groupExists } from '../../domain/group.ts';
import type { ReaderGroup } from '../../domain/reader-group.ts';
import type { Difference } from '../../plan/directory/read.ts';
import { type ReaderRun, storeGroup } from './context.ts';
import { isOfAnotherSource } from './sources.ts';
import type { WholeGroup } from './whole-group.ts';

/** The time after which a group of another source is compared, or requested, again. */
const COMPARED_MS = 3_600_000;

/** Returns `known`, without its other source if that source no longer has the group. The reader then owns the group. */
export async function withOwner(known: ReaderGroup, { connection, ports }: ReaderRun): Promise<ReaderGroup> {
  const { other, differs: _, ...own } = known;
  if (other === undefined) return known;
  const { name } = connection;
  if ((await ports.reader.owned(name, [other])).has(other)) return own;
  const state = await ports.groups.read({ connection: name, group: other });
  if (state === undefined) return own;
  // If both groups have the same id, the latest event may be a correction by the reader, so its source proves nothing.
  const isSame = other === known.group && groupExists(state.registers) && !state.released;
  return isSame || isOfAnotherSource(state) ? known : own;
}

/**
 * Sends nothing for a group whose name another source uses, because a second group would be a duplicate.
 * @returns false if the directory has no such group
 */
export async function leaveOut(known: ReaderGroup, run: ReaderRun): Promise<boolean> {
  const { failingMs: _, missingMs: __, problem: ___, ...found } = known;
  const { group } = found;
  if (!run.listed.has(group) && (await run.directory.group(group)) === undefined) return false;
  await storeGroup(run, { ...found, dueMs: run.ports.clock() + COMPARED_MS });
  return true;
}

interface Compared {
  readonly whole: WholeGroup;
  readonly difference: Difference;
  readonly nowMs: number;
}

/** Returns the reader's record of a group of another source after a read. A short list proves no difference. */
export function comparedOf(next: ReaderGroup, { whole, difference, nowMs }: Compared): ReaderGroup {
  const { differs: _, ...group } = next;
  if (whole.isShort) return group;
  const { added, removed, isNamed } = difference;
  const compared = { ...group, dueMs: nowMs + COMPARED_MS };
  if (added.length + removed.length === 0 && !isNamed) return compared;
  return { ...compared, differs: { added: added.length, removed: removed.length, isNamed } };
}
