import { isActive } from '../domain/active.ts';
import type { UserCopy } from '../domain/group.ts';
import type { ConnectionName, GroupId } from '../domain/ids.ts';
import { mapConcurrently } from './async-collections.ts';
import type { UserStore, WakePorts } from './ports/bundles.ts';
import type { UserState } from './ports/desired.ts';
import { WRITES_IN_FLIGHT } from './tuning.ts';
import { wakeGroups } from './wake.ts';

/**
 * Returns the copy of a user for a member register. While the binding is under review, or the user is not active, the
 * copy has no role. A copy without a role makes apply read the user's item.
 */
export function copyOf(user: UserState): UserCopy {
  const { revision, floor, role, userId } = user;
  if (role === undefined || user.review || !isActive(user.attributes)) return { revision, floor };
  return { revision, floor, role, ...(userId !== undefined && { userId }) };
}

const FIRST_REVISION = 1;

/**
 * Copies a changed user to the registers of all groups that the user may be in, and returns these groups. The caller
 * must mark the groups dirty and wake them before it ends the fan-out. A register without a copy gets the new copy too.
 * Otherwise a worker of apply that read the user before the change could still write the old copy. For the first
 * revision no copy is written, because no register has a copy yet.
 *
 * Why the fan-out misses no group: the item IN# records that a user is in a group. A writer that adds a member writes
 * IN# first, then the register, and then wakes the group. The fan-out reads IN# consistently, after the item USER was
 * written. If it does not find IN#, the writer wrote IN# later, and wakes the group even later. So apply reads the new
 * USER.
 *
 *     writer   IN# ──▶ register ──▶ marks dirty, wakes
 *     fan-out  USER (revision, fanOut) ──▶ reads IN# ──▶ renews copies ──▶ marks dirty, wakes ──▶ clears fanOut
 */
export async function fanOutUser(
  users: UserStore,
  connection: ConnectionName,
  user: UserState,
): Promise<readonly GroupId[]> {
  const copy = copyOf(user);
  const reached: GroupId[] = [];
  for await (const groups of users.groupsOf(connection, user.member)) {
    reached.push(...groups);
    if (user.revision === FIRST_REVISION) continue;
    await mapConcurrently(WRITES_IN_FLIGHT, groups, (group) =>
      users.copyToMember({ connection, group }, user.member, copy, true),
    );
  }
  return reached;
}

/** Fans out a user, wakes the groups, and returns them. If waking a group fails, the requeue job resumes the fan-out. */
export async function fanOutAndWake(
  connection: ConnectionName,
  user: UserState,
  ports: WakePorts & { readonly users: UserStore },
): Promise<readonly GroupId[]> {
  const groups = await fanOutUser(ports.users, connection, user);
  const refs = groups.map((group) => ({ connection, group }));
  const unwoken = await wakeGroups(refs, ports);
  if (unwoken.length === 0) await ports.users.endFanOut(connection, user.member, user.revision);
  return groups;
}
