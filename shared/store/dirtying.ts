import type { GroupRef } from '../domain/ids.ts';
import { OF_THIS_SCHEMA } from './item-form.ts';
import { dueText, groupIndexSort, indexPartition, shardOf } from './keys.ts';
import type { Attributes } from './table.ts';

/** When a group became dirty, and when the pump may consider the message lost that is about to be sent. */
export interface Dirty {
  readonly nowMs: number;
  readonly dueMs: number;
}

/**
 * What every write carries that apply must hear of: rev and the dirty mark in the very same write, so that no crash
 * leaves one without the other. Further attributes of the same write join `set` and `remove`.
 */
export const dirtying = (
  { connection, group }: GroupRef,
  { nowMs, dueMs }: Dirty,
  { set = {}, remove = [] }: { readonly set?: Attributes; readonly remove?: readonly string[] } = {},
) => ({
  add: { rev: 1 },
  set: {
    ...set,
    connection,
    group,
    gpk: indexPartition('groups', connection, shardOf(group)),
    gsk: groupIndexSort(dueText(dueMs), group),
  },
  setIfMissing: { ...OF_THIS_SCHEMA, dirtySince: nowMs },
  remove: ['failedAt', ...remove],
});
