import { isActive } from '../domain/active.ts';
import type { UserCopy } from '../domain/group.ts';
import type { ConnectionName, GroupId, GroupRef } from '../domain/ids.ts';
import { coversChange, delayMs } from '../domain/wake-up.ts';
import type { Ports, UserStore, WakePorts } from './ports/bundles.ts';
import type { GroupUpdate, UserState, WakeUpState } from './ports/desired.ts';
import type { Wake } from './ports/queues.ts';
import { mapConcurrently, WRITES_IN_FLIGHT } from './tuning.ts';

/** Returns the dirty mark for a group that apply must read immediately. */
export function dirtyNow({ clock }: Pick<WakePorts, 'clock'>) {
  const nowMs = clock();
  return { nowMs, wakeAtMs: nowMs, isAtOnce: true };
}

/** @throws Error if a group could not be woken */
export async function wakeAll(
  connection: ConnectionName,
  groups: Iterable<GroupId>,
  ports: WakePorts,
  why?: WakeReason,
): Promise<void> {
  const refs = [...groups].map((group) => ({ connection, group }));
  const [first, ...others] = await wakeGroups(refs, ports, why);
  if (first === undefined) return;
  throw new Error(`could not wake all groups (${others.length + 1} failed)`, { cause: first.cause });
}

/** How long after a change of settings a worker may still use the old settings, for example to match users. */
export const WORKERS_KNOW_AFTER_MS = 35_000;

/**
 * Marks each group in the index dirty, after a change of settings that affects plans. No message is sent, because the
 * requeue job wakes the groups. The function runs twice for each change. The command that changes the settings runs it
 * first, so that the new settings apply soon. The requeue job runs it again a few minutes later, for new groups that
 * the index did not show at first. Such a group was created just before the change, or just after the change by a
 * worker with the old settings.
 *
 *     settings ──▶ mark the shown groups ··· all workers use the new settings (30 s) ···
 *        └ a new group, planned with the old settings, not shown yet ┘
 *              ··· the index shows all groups ──▶ mark all again
 * @returns the number of groups that the index shows
 */
export async function replanAll(connection: ConnectionName, { index, desired, clock }: ReplanPorts) {
  let groups = 0;
  const nowMs = clock();
  const dueMs = nowMs + WORKERS_KNOW_AFTER_MS;
  for await (const page of index.all(connection)) {
    await mapConcurrently(WRITES_IN_FLIGHT, page, ({ ref }) =>
      desired.markDirty(ref, { nowMs, wakeAtMs: dueMs, dueMs, isAtOnce: true }),
    );
    groups += page.length;
  }
  return groups;
}

type ReplanPorts = Pick<WakePorts & Pick<Ports, 'index'>, 'desired' | 'clock' | 'index'>;

export type UpdatedGroup = GroupRef & { readonly update?: GroupUpdate | undefined };

type WakeReason = 'asked' | 'news' | 'again';

export interface UnwokenGroup {
  readonly ref: GroupRef;
  readonly cause: unknown;
}

/**
 * Marks groups dirty, stores their wake-ups, and then sends a message for each new wake-up. If a message is lost, the
 * requeue job finds the dirty group. The mark comes before the message, because a worker ignores a message about a
 * clean group. With `news`, the groups that contain the group are marked too (`domain/nesting.ts`).
 * @param why `news`: the group has changed; `asked`: an operator requests the wake-up, so the message is sent
 * immediately; `again`: the group has no new change, so its calls of this hour still count towards its limit
 * @returns the groups that could not be marked or woken
 */
export async function wakeGroups(refs: readonly UpdatedGroup[], ports: WakePorts, why: WakeReason = 'news') {
  const unwoken: UnwokenGroup[] = [];
  const wakes: Wake[] = [];
  const marked = new Set(refs.map(nameOf));
  const markWithAround = async (ref: UpdatedGroup): Promise<void> => {
    const { wake, isContained } = await mark(ref, why, ports);
    if (wake !== undefined) wakes.push(wake);
    if (!isContained || why !== 'news') return;
    const around = await groupsToMark(ref, marked, ports);
    await mapConcurrently(WRITES_IN_FLIGHT, around, markWithAround);
  };
  await mapConcurrently(WRITES_IN_FLIGHT, refs, async (ref) => {
    try {
      await markWithAround(ref);
    } catch (cause) {
      unwoken.push({ ref, cause });
    }
  });
  const unsent = await ports.applyQueue.wake(wakes);
  const cause = unsent.length > 0 && new Error('the apply queue did not accept the message');
  return [...unwoken, ...unsent.map(({ connection, group }) => ({ ref: { connection, group }, cause }))];
}

const nameOf = ({ connection, group }: GroupRef): string => `${connection}#${group}`;

/** Returns the groups that directly contain a group and are not marked yet. Adds these groups to `marked`. */
async function groupsToMark({ connection, group }: GroupRef, marked: Set<string>, { desired }: WakePorts) {
  const around = await desired.groupsAround({ connection, group });
  const unmarked = around
    .map((one) => ({ connection, group: one }))
    .filter((ref) => !marked.has(nameOf(ref)));
  for (const ref of unmarked) marked.add(nameOf(ref));
  return unmarked;
}

/** @returns the message to send, if any, and whether other groups contain the group */
async function mark(
  { update, ...ref }: UpdatedGroup,
  why: WakeReason,
  { desired, clock, coalesceMs }: WakePorts,
): Promise<{ readonly wake: Wake | undefined; readonly isContained: boolean }> {
  if (why === 'asked') {
    const { isContained } = await desired.markDirty(ref, dirtyNow({ clock }));
    return { wake: ref, isContained };
  }
  const moment = { nowMs: clock(), coalesceMs };
  const wakeAtMs = moment.nowMs + coalesceMs;
  const dirty = { nowMs: moment.nowMs, wakeAtMs, isAgain: why === 'again' };
  const found = await desired.markDirty(ref, dirty, update);
  const { isContained, lastWriteAtMs } = found;
  const isKept = found.paused || !(await sendsMessage(ref, found, { desired, moment, wakeAtMs }));
  return { wake: isKept ? undefined : { ...ref, afterMs: delayMs(lastWriteAtMs, moment) }, isContained };
}

/**
 * Whether this call sends the message: it stored the wake-up, or it replaces a wake-up that is lost, too late, or left to
 * the requeue job.
 */
async function sendsMessage(
  ref: GroupRef,
  found: Pick<WakeUpState, 'wakeAtMs' | 'wakeIsSent'>,
  {
    desired,
    moment,
    wakeAtMs,
  }: Pick<WakePorts, 'desired'> & {
    readonly moment: Parameters<typeof coversChange>[1];
    readonly wakeAtMs: number;
  },
): Promise<boolean> {
  if (found.wakeAtMs === wakeAtMs) return true;
  if (found.wakeIsSent && coversChange(found.wakeAtMs, moment)) return false;
  return desired.renew(ref, found.wakeAtMs, wakeAtMs);
}

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
export async function fanOutUser(users: UserStore, connection: ConnectionName, user: UserState) {
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
