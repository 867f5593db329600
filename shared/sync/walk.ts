import pMap from 'p-map';
import type { UserCopy } from '../domain/group.ts';
import type { ConnectionName, GroupId } from '../domain/ids.ts';
import { STAMP_ZERO } from '../domain/stamp.ts';
import type { UserState, UserStore } from './ports/desired.ts';
import { WRITES_IN_FLIGHT } from './tuning.ts';

/**
 * What a register must know of its user. A binding under review is left out: apply then reads the user itself.
 */
export function copyOf(user: UserState): UserCopy {
  const { revision, floor, role } = user;
  return role === undefined || user.review ? { revision, floor } : { revision, floor, role };
}

/** A register without a copy is read as this, so there is no need to write it. */
export const saysNothing = (copy: UserCopy): boolean => copy.floor === STAMP_ZERO && copy.role === undefined;

/**
 * Carries a changed user to the registers of all its groups, and names the groups, which the caller then marks dirty
 * and wakes before it ends the walk.
 *
 * Why nobody is missed: whoever makes a member present writes IN#, then the register, then reads USER; the walk comes
 * after the write of USER and reads IN# consistently. Either the walk sees the IN#, or the other reads the new USER.
 *
 *     joiner   IN# ──▶ register ──▶ reads USER
 *     walker   USER (revision, walk) ──▶ reads IN# ──▶ copies ──▶ marks dirty, wakes ──▶ clears walk
 */
export async function walkUser(
  users: UserStore,
  connection: ConnectionName,
  user: UserState,
): Promise<readonly GroupId[]> {
  const copy = copyOf(user);
  const reached: GroupId[] = [];
  for await (const groups of users.groupsOf(connection, user.member)) {
    reached.push(...groups);
    if (saysNothing(copy)) continue;
    await pMap(groups, (group) => users.copyToMember({ connection, group }, user.member, copy), {
      concurrency: WRITES_IN_FLIGHT,
    });
  }
  return reached;
}
