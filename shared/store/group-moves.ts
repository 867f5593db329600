import pMap from 'p-map';
import { DECISION_ATTRIBUTES } from '../contract/topology.ts';
import { type OpenMove, platformAttributes } from '../domain/group-state.ts';
import type { ConnectionName, GroupRef } from '../domain/ids.ts';
import type { Dirty } from '../sync/ports/desired.ts';
import { IN_FLIGHT } from './chunks.ts';
import { dirtying, PARTIAL_READ_HINTS, RELEASED } from './group-writes.ts';
import { driftKey, groupKey, PLATFORM_PREFIXES } from './keys.ts';
import {
  type Attributes,
  all,
  any,
  type Change,
  type Condition,
  equal,
  exists,
  type Item,
  less,
  missing,
  type Table,
  type Value,
} from './table.ts';

/**
 * Moves the state of a platform group from one group to another. Any worker may continue at any step, also two workers
 * at the same time:
 *
 *     `openMove` on the new, then on the old group ──▶ state copied ──▶ old group released, without the state
 *       ──▶ `openMove` of the new group ends
 *
 * While `openMove` is on an item, no other write changes the state of the platform group (`IS_AT_REST`). The time of the
 * move identifies it, so a worker that is late changes nothing.
 */
export const createGroupMoves = (table: Table) => ({
  /**
   * Moves the state of a platform group to the group of another source, as far as possible.
   * @param mayDecide whether the caller may write decisions about removals. The commands of operators may not, so a move
   * of a group with decisions is left to the requeue job
   * @returns false if the move has no effect, because the old group was released or the new group has a platform group;
   * undefined if a group is busy, so that the move must be tried again
   */
  async move(connection: ConnectionName, move: OpenMove, dirty: Dirty, mayDecide = true) {
    const [old, next] = [move.from, move.to].map((group) => ({ connection, group })) as [GroupRef, GroupRef];
    const moving = { table, move, dirty, old, next, isOfMove: equal('openMove.sinceMs', move.sinceMs) };
    const hasBegun =
      (await begin(next, HAS_NO_GROUP, moving)) && (await begin(old, missing('released'), moving));
    const before = await table.get(groupKey(old));
    if (hasBegun && before !== undefined && before['movedTo'] !== move.to) {
      if (!mayDecide && DECISION_ATTRIBUTES.some((name) => name in before)) return undefined;
      await carry(before, moving);
      await table.update(groupKey(old), leaving(move, before), moving.isOfMove);
    }
    if (!hasBegun && before?.['movedTo'] !== move.to) return abandon(before, moving);
    const set = { movedAt: move.sinceMs, movedFloor: move.floor };
    await end({ set, remove: ['openMove', ...RELEASED] }, moving);
    return true;
  },
});

interface Moving {
  readonly table: Table;
  readonly move: OpenMove;
  readonly dirty: Dirty;
  readonly old: GroupRef;
  readonly next: GroupRef;
  readonly isOfMove: Condition;
}

const HAS_NO_GROUP = all(missing('link'), missing('intent'));

/** @returns false if the group is not free, or belongs to another open move or to a later move */
async function begin(ref: GroupRef, isFree: Condition, { table, move, dirty, isOfMove }: Moving) {
  const isLatest = any(missing('movedAt'), less('movedAt', move.sinceMs));
  const mayMove = all(exists('rev'), missing('openMove'), isLatest, isFree);
  const how = { set: { openMove: { ...move } }, remove: PARTIAL_READ_HINTS };
  return (await table.update(groupKey(ref), dirtying(ref, dirty, how), any(isOfMove, mayMove))).written;
}

const leaving = ({ to }: OpenMove, item: Item): Change => ({
  set: { released: true, movedTo: to },
  remove: ['openMove', ...platformAttributes().filter((name) => name in item)],
});

const end = (how: Change, { table, next, dirty, isOfMove }: Moving) =>
  table.update(groupKey(next), dirtying(next, dirty, how), isOfMove);

async function abandon(old: Item | undefined, moving: Moving): Promise<false | undefined> {
  const next = await moving.table.get(groupKey(moving.next));
  if (old !== undefined && !('released' in old) && next !== undefined && !('link' in next)) return undefined;
  await end({ remove: ['openMove'] }, moving);
  return false;
}

/** Copies the state of the platform group: first chunks and drift records, then the attributes. */
async function carry(item: Item, { table, old, next, isOfMove }: Moving) {
  const { pk } = groupKey(next);
  for (const prefix of PLATFORM_PREFIXES)
    for await (const page of table.query({ partition: item.pk, prefix }))
      await pMap(page, (chunk) => table.put({ ...chunk, pk }), { concurrency: IN_FLIGHT });
  const { openDrift = [], unattributed = [] } = item as { readonly [name: string]: Value };
  // A drift record is found by the id of its group.
  for (const id of new Set([openDrift, unattributed].flat().map(String))) {
    const record = await table.get(driftKey(old, id));
    if (record !== undefined) await table.put({ ...record, ...driftKey(next, id), group: next.group });
    await table.delete(driftKey(old, id));
  }
  const names = platformAttributes();
  const state = Object.fromEntries(
    names.flatMap((name) => (name in item ? [[name, item[name] as Value]] : [])),
  );
  const link = state['link'] as Attributes | undefined;
  // The next write sends every field. An operator may have paused the new group. A command may not name an attribute of
  // decisions, and the new group has none, because it had no platform group.
  // Four eyes searches the authors from the time since which the group waits.
  const since = [item['dirtySince'], item['unwrittenSince']].filter((one) => typeof one === 'number');
  const unwritten = since.length > 0 ? { unwrittenSince: Math.min(...since) } : {};
  const set = { ...state, ...(link && { link: { ...link, takeOver: true } }), ...unwritten };
  const kept: readonly string[] = ['pausedAt', ...DECISION_ATTRIBUTES];
  const remove = names.filter((name) => !(name in item) && !kept.includes(name));
  await table.update(groupKey(next), { set, remove }, isOfMove);
}
