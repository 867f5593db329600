import type { GroupState } from '../domain/group-state.ts';
import { stampTimeMs } from '../domain/stamp.ts';

/**
 * Whether the registers of a group are complete. A restored table lacks the changes between the restored instant and its
 * creation, so its registers may name members and groups that the directory has removed since. They are complete again
 * after the source has sent the whole group, or an operator or the reader has confirmed them.
 * @param restoredAtMs the creation of the restored table; undefined without a restore
 */
export const isRestated = (
  { registers, restatedAt = 0 }: Pick<GroupState, 'registers' | 'restatedAt'>,
  restoredAtMs: number | undefined,
): boolean =>
  restoredAtMs === undefined || Math.max(stampTimeMs(registers.snapshot), restatedAt) >= restoredAtMs;

/** The note of `plan` and `explain` for a group whose additions or creation wait. */
export const UNRESTATED =
  'the table was restored, and the source has not sent the whole group since; until then creations, additions and renames wait; to accept the stored members: groupsync restated GROUP';
