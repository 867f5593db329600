import type { HeldMember } from '../contract/answers/holds.ts';
import { type Author, type GroupRegisters, groupExists, groupFloor } from '../domain/group.ts';
import type { GroupState, StoredMember } from '../domain/group-state.ts';
import type { HeldReason, Hold } from '../domain/hold.ts';
import type { PlatformUserId } from '../domain/ids.ts';
import { sourceOf } from '../domain/source.ts';
import { readStamp, STAMP_ZERO, type Stamp, stampTimeMs } from '../domain/stamp.ts';
import type { HeldCause } from '../plan/approval.ts';
import { removalText } from '../plan/removal-cause.ts';
import type { UserState } from '../sync/ports/desired.ts';
import { type NamesPorts, usersOf } from './names.ts';

/**
 * Returns the causes of a hold. If the hold is about the deletion of a group without users, the cause is the event that
 * deleted the group.
 */
export async function causesOf(
  state: GroupState,
  hold: Hold,
  ports: NamesPorts,
): Promise<readonly HeldCause[]> {
  if (hold.removes === 0) return [whyGone(state, undefined).cause];
  return (await readHeld(state, hold, ports)).held.map(({ cause }) => cause);
}

/** A held removal, with the key of its reason and the operator who sent its event, if known. */
export interface HeldRemoval extends HeldMember {
  readonly reason: HeldReason;
  readonly by: string | null;
}

/** Returns every member whose removal a hold stops, with the member's name and the event that removes the member. */
export const readHeldMembers = async (
  state: GroupState,
  hold: Hold,
  ports: NamesPorts,
): Promise<readonly HeldMember[]> =>
  (await readHeldRemovals(state, hold, ports)).map(({ reason, by, ...member }) => member);

export async function readHeldRemovals(
  state: GroupState,
  hold: Hold,
  ports: NamesPorts,
): Promise<readonly HeldRemoval[]> {
  const { known, held } = await readHeld(state, hold, ports);
  return held.map(({ user, register, reason, event, cause }) => {
    const attributes = register && known.get(register.member)?.attributes;
    const attribute = (name: string) => attributes?.get(name)?.value || null;
    return {
      user,
      member: register?.member ?? null,
      name: attribute('name') ?? attribute('displayName'),
      email: attribute('email') ?? attribute('userName'),
      because: removalText(reason),
      event,
      reason,
      by: cause.kind === 'no_event' ? null : (cause.by ?? null),
    };
  });
}

async function readHeld(state: GroupState, hold: Hold, ports: NamesPorts) {
  const { boundTo, known } = await usersOf(state.ref, ports);
  // The directory wants these users again, or has wanted them since. The next run of apply ends their entries.
  const isEnded = (user: PlatformUserId) => (boundTo.get(user)?.presentAt ?? STAMP_ZERO) > hold.asOf;
  const users = [...((await ports.groups.readHeld(state.ref, hold)) ?? [])].sort();
  const held = users
    .filter((user) => !isEnded(user))
    .map((user) => {
      const register = boundTo.get(user);
      return { user, register, ...whyGone(state, register, register && known.get(register.member)) };
    });
  return { known, held };
}

interface Why extends Pick<HeldRemoval, 'reason' | 'event'> {
  readonly cause: HeldCause;
}

function whyGone({ registers }: GroupState, register: StoredMember | undefined, person?: UserState): Why {
  const by = (reason: HeldReason, stamp: Stamp, cause: HeldCause): Why => {
    const { id = null, source = null, time = null } = readStamp(stamp) ?? {};
    return { reason, event: { id, source, time }, cause };
  };
  const withoutEvent = (reason: HeldReason): Why => ({ reason, event: null, cause: { kind: 'no_event' } });
  if (!groupExists(registers))
    return by('group_deleted', registers.deleted, signed(registers, registers.deleted));
  if (register === undefined) return withoutEvent('no_member');
  if (person !== undefined && person.floor >= register.stamp) {
    const { floor, author } = person;
    return by('user_deleted', floor, causedBy(floor, author));
  }
  const { stamp, actor } = register;
  if (register.value === 'absent') return by('removed', stamp, causedBy(stamp, actor && { stamp, actor }));
  const restated = groupFloor(registers);
  if (restated > register.stamp) return by('not_in_snapshot', restated, signed(registers, restated));
  return withoutEvent('no_event');
}

/** Returns the event with its sender. A group stores only its latest actor, so an earlier sender may be unknown. */
const signed = ({ author }: GroupRegisters, stamp: Stamp): HeldCause =>
  author !== undefined && author.stamp > stamp ? { kind: 'no_event' } : causedBy(stamp, author);

/** @param author the actor of an event of the same subject; it did not send this event if the stamps differ */
function causedBy(stamp: Stamp, author: Author | undefined): HeldCause {
  const actor = author?.stamp === stamp ? author.actor : undefined;
  return {
    kind: 'event',
    atMs: stampTimeMs(stamp),
    source: sourceOf(stamp),
    by: actor?.by,
    token: actor?.kind === 'scim' ? actor.id : undefined,
  };
}
