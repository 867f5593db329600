import type { GroupState } from '../domain/group-state.ts';
import { groupKey, MEMBER_PREFIX, VIEW_PREFIX } from './keys.ts';
import { type Item, less, type Table } from './table.ts';

/** A write is long over by then, one way or the other. */
const CHUNK_AGE_MS = 3_600_000;

/**
 * Deletes a group's litter: chunks of writes that neither the view nor an intent points to, an hour after they were
 * made, and tombstones past their time where the store does not see to that itself.
 * @returns how many items went
 */
export async function collectGarbage(table: Table, state: GroupState, nowMs: number): Promise<number> {
  const { pk } = groupKey(state.ref);
  const inUse = new Set<string | undefined>([state.view?.id, state.intent?.view?.id, state.former?.view.id]);
  let collected = 0;
  for await (const page of table.query({ partition: pk, prefix: VIEW_PREFIX })) {
    for (const item of page) {
      const id = item.sk.split('#')[1] ?? '';
      const isLitter = !inUse.has(id) && madeAtMs(id) < nowMs - CHUNK_AGE_MS;
      if (isLitter && (await table.delete(item))) collected += 1;
    }
  }
  for await (const page of table.query({ partition: pk, prefix: MEMBER_PREFIX })) {
    for (const item of page) if (isOver(item, nowMs)) collected += await deleteExpired(table, item, nowMs);
  }
  return collected;
}

/** Ids begin with the time they were made at (newId); one of another form is never old. */
function madeAtMs(id: string): number {
  const time = Number.parseInt(id.slice(0, 12), 16);
  return Number.isNaN(time) ? Number.POSITIVE_INFINITY : time;
}

const isOver = ({ expiresAt }: Item, nowMs: number): boolean =>
  typeof expiresAt === 'number' && expiresAt * 1_000 < nowMs;

/** Made present meanwhile, a register has no end any more and stays. */
const deleteExpired = async (table: Table, { pk, sk }: Item, nowMs: number): Promise<number> =>
  (await table.delete({ pk, sk }, less('expiresAt', Math.floor(nowMs / 1_000)))) ? 1 : 0;
