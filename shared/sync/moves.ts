import { NO_GROUP, NO_NAME } from '../domain/group.ts';
import type { GroupState, MovedGroup, OpenMove } from '../domain/group-state.ts';
import type { ConnectionName, GroupRef } from '../domain/ids.ts';
import { READER_SOURCE } from '../domain/source.ts';
import { laterStamp, makeStamp, STAMP_ZERO, stampTimeMs } from '../domain/stamp.ts';
import type { Ports } from './ports/bundles.ts';
import type { Connection } from './ports/connections.ts';
import { dirtyNow } from './wake.ts';

export type MovePorts = Pick<Ports, 'clock' | 'newId'> & {
  readonly groups: Pick<Ports['groups'], 'read' | 'move'>;
  readonly claims: Pick<Ports['claims'], 'claim' | 'takeOver'>;
  readonly desired: Pick<Ports['desired'], 'markDirty'>;
  readonly reader: Pick<Ports['reader'], 'moves' | 'endMove' | 'notePushed'>;
};

export const openMovesOf = async (connection: ConnectionName, reader: Pick<Ports['reader'], 'moves'>) =>
  (await reader.moves(connection)).filter(({ openSinceMs }) => openSinceMs !== undefined);

/** Returns the group. If takeovers have moved its platform group several times, `movedTo` is the owner now. */
export async function withCurrentOwner(state: GroupState, groups: Pick<Ports['groups'], 'read'>) {
  const passed = new Set([state.ref.group]);
  let { movedTo } = state;
  while (movedTo !== undefined && !passed.has(movedTo)) {
    passed.add(movedTo);
    movedTo = (await groups.read({ ...state.ref, group: movedTo }))?.movedTo ?? movedTo;
  }
  return movedTo === undefined || movedTo === state.movedTo ? state : { ...state, movedTo };
}

/**
 * Continues an open move, from any point at which a worker stopped. The move sends nothing to the platform. A write
 * whose outcome is unknown moves too, and the new group settles it.
 * @returns false if the group has not moved. If the record of the move stays open, the requeue job tries again
 */
export async function continueMove(
  { name, company }: Pick<Connection, 'name' | 'company'>,
  move: MovedGroup,
  ports: MovePorts,
  mayDecide = true,
): Promise<boolean> {
  const { groups, claims, reader } = ports;
  const { from, to, source, openSinceMs: sinceMs = 0, floor = STAMP_ZERO } = move;
  const mark: OpenMove = { from, to, source, sinceMs, floor };
  const next: GroupRef = { connection: name, group: to };
  if (source === 'directory') await prepareForReader(next, mark, ports);
  const isMoved = await groups.move(name, mark, dirtyNow(ports), mayDecide);
  if (isMoved === undefined) return false;
  const id = (await groups.read(next))?.link?.id;
  if (id !== undefined && !(await claims.takeOver(company, id, { from: { ...next, group: from }, to: next })))
    await claims.claim(company, id, next);
  if (source === 'directory') await reader.notePushed(name, to, ports.clock());
  await reader.endMove(name, move, isMoved);
  return isMoved;
}

/**
 * Makes sure that the reader's group exists, without a name. Such a group is not written and does not count as deleted.
 * If the reader owned the group earlier, the group still has a name and members. This function removes the name with
 * the earliest possible time, so the next name that the reader sends has a later stamp.
 */
async function prepareForReader(ref: GroupRef, { sinceMs }: OpenMove, ports: MovePorts): Promise<void> {
  const { registers: known = NO_GROUP, openMove, movedAt } = (await ports.groups.read(ref)) ?? {};
  if (openMove?.sinceMs === sinceMs || movedAt === sinceMs) return;
  const nowMs = ports.clock();
  const stampAt = (ms: number) =>
    makeStamp({ time: new Date(ms).toISOString(), id: `takeover-${ports.newId()}`, source: READER_SOURCE });
  const named = laterStamp(known.deleted, known.name?.stamp ?? STAMP_ZERO);
  const isNew = named === STAMP_ZERO;
  await ports.desired.markDirty(ref, dirtyNow(ports), {
    ...NO_GROUP,
    upserted: stampAt(nowMs),
    ...(!isNew && { name: { value: NO_NAME, stamp: stampAt(stampTimeMs(named) + 1) } }),
  });
}
