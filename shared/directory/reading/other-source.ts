import { groupExists, groupName, isUnheardOf } from '../../domain/group.ts';
import { foldName } from '../../plan/names.ts';
import { dirtyNow } from '../../sync/wake.ts';
import type { MemberDifference } from '../rules/read.ts';
import type { ReaderGroup } from '../rules/reader-group.ts';
import { isOfAnotherSource, type ReaderPorts, type ReaderRun, storeGroup } from './context.ts';
import type { GroupWithNested } from './whole-group.ts';

/** The time after which the reader compares a group of another source again, or requests it again. */
const COMPARED_MS = 3_600_000;

/**
 * Returns `known`. If the other source no longer has the group, the result has no `other`: the reader is the source.
 */
export async function withOwner(known: ReaderGroup, { connection, ports }: ReaderRun): Promise<ReaderGroup> {
  const { other, differs: _, ...own } = known;
  if (other === undefined) return known;
  const { name } = connection;
  if ((await ports.reader.owned(name, [other])).has(other)) return own;
  const state = await ports.groups.read({ connection: name, group: other });
  if (state === undefined) return own;
  // If both sources use the same id, the latest event may be a correction by the reader. So the source of the latest
  // event does not show the source of the group.
  const isSame = other === known.group && groupExists(state.registers) && !state.released;
  return isSame || isOfAnotherSource(state) ? known : own;
}

/**
 * Handles a group whose name another source uses. The reader does not send such a group, because it would be a
 * duplicate. If this function finds that the names now differ, the next run reads the group.
 * @returns false if the directory has no such group
 */
export async function leaveOut(known: ReaderGroup, run: ReaderRun): Promise<boolean> {
  const { failingMs: _, missingMs: __, problem: ___, other: ____, ...found } = known;
  const { group } = found;
  const askedAtMs = run.ports.clock();
  const shown = run.listed.get(group)?.group ?? (await run.directory.group(group));
  if (shown === undefined) return false;
  const other = await namesakeOf(known, shown.name, run);
  const dueMs = other === undefined ? run.ports.clock() : run.ports.clock() + COMPARED_MS;
  const read = { ...found, name: shown.name, readMs: askedAtMs, dueMs };
  await storeGroup(run, other === undefined ? read : { ...read, other });
  return true;
}

/** Returns the group of another source that now has the same name. Either group may have been renamed. */
async function namesakeOf({ group, other }: ReaderGroup, name: string, run: ReaderRun) {
  const { connection, ports } = run;
  const state = other && (await ports.groups.read({ connection: connection.name, group: other }));
  if (state && foldName(groupName(state.registers) ?? '') === foldName(name)) return other;
  // After a takeover, the two groups may have different names.
  const isMoved = (await ports.reader.moves(connection.name)).some(({ from }) => from === group);
  return isMoved ? other : (await run.others()).sameAs(group, name);
}

interface Compared {
  readonly whole: GroupWithNested;
  readonly difference: MemberDifference;
  readonly nowMs: number;
}

/** Returns the reader's item of another source's group after a read. After an incomplete read, it has no `differs`. */
export function comparedOf(next: ReaderGroup, { whole, difference, nowMs }: Compared): ReaderGroup {
  const { differs: _, ...group } = next;
  if (whole.isShort) return group;
  const { added, removed, isNamed } = difference;
  const compared = { ...group, dueMs: nowMs + COMPARED_MS };
  if (added.length + removed.length === 0 && !isNamed) return compared;
  return { ...compared, differs: { added: added.length, removed: removed.length, isNamed } };
}

/**
 * Makes SCIM groups live again that yielded to a group of the reader (`yieldToReader`), if the reader no longer owns that
 * group, or if one of the two groups has another name now. After a crash, the next run repeats this.
 */
export async function endYields({ connection: { name }, groups, ports }: Yielding): Promise<void> {
  for (const { from, to, yields } of await ports.reader.moves(name)) {
    const state = yields && (await ports.groups.read({ connection: name, group: from }));
    // The group yields before its name is stored.
    if (!state || isUnheardOf(state.registers)) continue;
    const { name: owned = '', other } = groups.get(to) ?? { other: from };
    const isNamed = yields === 'id' || foldName(owned) === foldName(groupName(state.registers) ?? '');
    if (isNamed && other === undefined) continue;
    await ports.groups.endRelease(state.ref, dirtyNow(ports), to);
    await ports.reader.dropMove(name, from);
  }
}

interface Yielding extends Pick<ReaderRun, 'groups'> {
  readonly connection: Pick<ReaderRun['connection'], 'name'>;
  readonly ports: Pick<ReaderPorts, 'clock' | 'reader'> & {
    readonly groups: Pick<ReaderPorts['groups'], 'read' | 'endRelease'>;
  };
}
