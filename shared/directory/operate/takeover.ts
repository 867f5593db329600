import type { TakeoverPlan, TakeoverReport } from '../../contract/answers/directory.ts';
import { groupExists, groupFloor } from '../../domain/group.ts';
import type { MovedGroup } from '../../domain/group-state.ts';
import { type GroupId, type GroupRef, groupId } from '../../domain/ids.ts';
import type { Source } from '../../domain/source.ts';
import { stampAt } from '../../domain/stamp.ts';
import { doRecorded } from '../../operate/journal.ts';
import { observeConnection } from '../../operate/pausing.ts';
import { continueMove, openMovesOf } from '../../sync/moves.ts';
import type { Connection } from '../../sync/ports/connections.ts';
import { mapConcurrently } from '../../sync/tuning.ts';
import { mapGroups, type TargetGroup } from '../rules/mapping.ts';
import { type DirectoryToolPorts, listDirectory } from './preview.ts';
import { awaitedGroups } from './reader-groups.ts';
import { type GroupOfSource, groupsWithSource } from './source-groups.ts';
import type { ShownDirectory } from './through-function.ts';

export type TakeoverTarget =
  | {
      readonly source: 'directory';
      readonly directory: ShownDirectory;
      /** True if the connection still reads another directory. The groups of that directory also move. */
      readonly replaces: boolean;
    }
  /** `sameIds`: the other source uses the same group ids as the directory. */
  | { readonly source: 'scim' | 'events'; readonly sameIds: boolean };

export type GroupFile = ReadonlyMap<string, string>;

/** A file of an operator names a group that cannot be moved, or a target that does not exist. */
export class GroupFileError extends Error {
  override readonly name = 'GroupFileError';
}

type Target = TargetGroup & { readonly isLinked: boolean };

/** Returns the groups that a takeover would move. Changes nothing. @throws DirectoryError, GroupFileError */
export async function planTakeover(
  connection: Connection,
  target: TakeoverTarget,
  ports: DirectoryToolPorts,
  file: GroupFile = new Map(),
): Promise<TakeoverPlan> {
  const known = await groupsWithSource(connection, ports, { withDeleted: true });
  const awaited = await awaitedGroups(connection, ports);
  const open = await openMovesOf(connection.name, ports.reader);
  const moving = new Set(open.flatMap(({ from, to }) => [from, to]));
  const names = new Map(known.map(({ group, name }) => [group, name]));
  // A group that the reader has not found yet has no name. It is shown with the name of its earlier group.
  const sources = known
    .filter((one) => isToMove(one, target, awaited) && !moving.has(one.group))
    .map((one) => ({ ...one, name: one.name ?? names.get(awaited.get(one.group) ?? one.group) }));
  const targets = await targetsOf(known, target, { connection, sources });
  // A repeated command names groups that have moved, or whose move is open.
  const moves = await ports.reader.moves(connection.name);
  const isDone = ([from, to]: readonly [string, string]) =>
    moves.some((move) => move.from === from && move.to === to);
  refuseUnknown(new Map([...file].filter((one) => !isDone(one))), sources, targets);
  const { groups, unmapped } = pairUp(sources, targets, { to: target.source, file });
  for (const { from: group, to, source } of open) {
    const shown = { group, name: names.get(group) ?? null, target: to };
    if (source !== target.source) unmapped.push({ ...shown, reason: 'move_open' });
    else groups.push({ ...shown, targetName: names.get(to) ?? null, by: 'earlier' });
  }
  return { to: target.source, groups, unmapped };
}

interface Pairing {
  readonly to: Source;
  readonly file: GroupFile;
}

/** Finds the target of each group. A group whose target already has a platform group is `unmapped`. */
function pairUp(sources: readonly GroupOfSource[], targets: readonly Target[], { to: owner, file }: Pairing) {
  const sourceOf = new Map<string, GroupOfSource>(sources.map((one) => [one.group, one]));
  const nameOf = (group: string) => sourceOf.get(group)?.name ?? null;
  const mapping = mapGroups(sources, targets, file);
  const groups: TakeoverPlan['groups'][number][] = [];
  const unmapped: TakeoverPlan['unmapped'][number][] = mapping.unmapped.map(({ group, reason }) => ({
    group,
    name: nameOf(group),
    reason,
    target: null,
  }));
  for (const { from, to, by } of mapping.pairs) {
    const name = nameOf(from);
    const keepsId = to.id === from;
    // An earlier takeover has already moved this group to the same id.
    if (keepsId && sourceOf.get(from)?.source === owner) continue;
    if (keepsId || !to.isLinked) {
      groups.push({ group: from, name, target: to.id, targetName: to.name ?? null, by });
    } else {
      unmapped.push({ group: from, name, reason: 'has_platform_group', target: to.id });
    }
  }
  return { groups, unmapped };
}

/**
 * True if the group moves. A released group does not move, because no source owns it. A group of the reader moves to a
 * directory only if the connection still reads another directory, or if the reader has not found the group yet. Such a
 * group may have been given to the reader for another directory.
 */
function isToMove(
  { group, source, state }: GroupOfSource,
  target: TakeoverTarget,
  awaited: ReadonlyMap<GroupId, GroupId>,
): boolean {
  if (state.released) return false;
  if (source !== target.source) return true;
  return target.source === 'directory' && (target.replaces || awaited.has(group));
}

async function targetsOf(
  known: readonly GroupOfSource[],
  target: TakeoverTarget,
  { connection, sources }: { readonly connection: Connection; readonly sources: readonly GroupOfSource[] },
): Promise<readonly Target[]> {
  const linked = new Set(known.flatMap(({ group, state }) => (state.link === undefined ? [] : group)));
  if (target.source === 'directory') {
    const { selected } = await listDirectory(target.directory, connection);
    return selected.map(({ group }) => ({ ...group, isLinked: linked.has(group.id) }));
  }
  const kept = target.sameIds ? sources.filter(({ source }) => source === 'directory') : [];
  const own = known.filter(({ source, state }) => source === target.source && groupExists(state.registers));
  return [...kept, ...own].map(({ group, name, externalId }) => ({
    id: group,
    name,
    externalId,
    isLinked: linked.has(group),
  }));
}

function refuseUnknown(file: GroupFile, sources: readonly GroupOfSource[], targets: readonly TargetGroup[]) {
  const moving = new Set<string>(sources.map(({ group }) => group));
  const known = new Set(targets.map(({ id }) => id));
  for (const [from, to] of file) {
    if (!moving.has(from)) throw new GroupFileError(`${from}: expected a group of another source`);
    if (!known.has(to)) throw new GroupFileError(`${from}: expected a group of the new source, got ${to}`);
  }
}

/** The number of groups that move at the same time. */
const MOVED_AT_ONCE = 8;

/**
 * Begins the moves of groups to another source, and continues them as far as possible. The first step makes the
 * connection observe. So nothing is written to the platform before an operator has checked the plan and resumed the
 * connection. The requeue job finishes the moves that are still open.
 */
export async function takeOverGroups(
  connection: Connection,
  plan: TakeoverPlan,
  ports: DirectoryToolPorts,
): Promise<TakeoverReport> {
  const { name } = connection;
  const { to: source } = plan;
  if (plan.groups.length > 0) await observeConnection(connection, 'directory_takeover', ports);
  const open = new Map((await openMovesOf(name, ports.reader)).map((move) => [move.from, move]));
  const busy = await mapConcurrently(MOVED_AT_ONCE, plan.groups, async ({ group, target }) => {
    const from = groupId(group);
    const move = open.get(from) ?? { from, to: groupId(target), source };
    return (await moveGroup(connection, move, ports)) ? [] : group;
  });
  const observing = connection.observing || plan.groups.length > 0;
  return { connection: name, observing, ...plan, busy: busy.flat() };
}

/**
 * Makes another source the owner of a group and of its platform group. The requeue job continues the move if this
 * function stops halfway (`sync/moves.ts`).
 * @returns false if the group has not moved
 */
async function moveGroup(connection: Connection, move: MovedGroup, ports: DirectoryToolPorts) {
  const { from, to, source } = move;
  const { name } = connection;
  if (move.openSinceMs !== undefined) return continueMove(connection, move, ports, false);
  const old: GroupRef = { connection: name, group: from };
  const change = { kind: 'take_over_group', before: from, after: to, reason: OWNS[source] };
  let isMoved = from === to;
  await doRecorded(old, { action: 'directory_takeover', changes: [change] }, ports, async () => {
    if (from === to) {
      await ports.reader.noteMove(name, move);
      if (source === 'directory') await ports.reader.notePushed(name, to, ports.clock());
      return true;
    }
    // The time identifies the move, also if the clock of an earlier operator was ahead.
    const states = await ports.groups.readMany([old, { connection: name, group: to }]);
    const openSinceMs = Math.max(ports.clock(), ...states.map((one) => 1 + (one.movedAt ?? 0)));
    const next = states.find(({ ref }) => ref.group === to);
    // The members of a reader's group are not known before its next read.
    const isKnown = next !== undefined && source !== 'directory';
    const floor = isKnown ? groupFloor(next.registers) : stampAt(openSinceMs);
    const begun = { ...move, openSinceMs, floor };
    await ports.reader.noteMove(name, begun);
    isMoved = await continueMove(connection, begun, ports, false);
    return true;
  });
  return isMoved;
}

const OWNS: Readonly<Record<Source, string>> = {
  directory: 'the reader owns it',
  scim: 'a SCIM client owns it',
  events: 'events own it',
};
