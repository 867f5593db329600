import type { HeldMember } from '../contract/answers/holds.ts';
import type { GroupState } from '../domain/group-state.ts';
import type { Hold } from '../domain/hold.ts';
import { sourceOf } from '../domain/source.ts';
import { readStamp, stampTimeMs } from '../domain/stamp.ts';
import type { HeldCause } from '../plan/approval.ts';
import { openRemovals } from '../plan/decide/holds.ts';
import { type RemovalEvent, removalEvent, removalText } from '../plan/removal-cause.ts';
import { learn, startOf } from '../sync/apply/load.ts';
import { type PreviewPorts, readingOf } from '../sync/apply/preview.ts';
import type { Connection } from '../sync/ports/connections.ts';

/**
 * Returns the causes of a hold. If the hold is about the deletion of a group without users, the cause is the event that
 * deleted the group.
 */
export async function causesOf(
  state: GroupState,
  hold: Hold,
  connection: Connection,
  ports: PreviewPorts,
): Promise<readonly HeldCause[]> {
  const held = await readHeld(state, hold, connection, ports);
  if (hold.removes > 0) return held.map(({ event }) => heldCause(event));
  return [heldCause(removalEvent('group_deleted', state.registers))];
}

export interface HeldRemoval extends HeldMember {
  readonly by: string | null;
}

/**
 * Returns each member whose removal a hold stops, with the member's name and the event that removes the member. A member
 * that the directory wants again is left out, because the next run of apply ends the entry.
 */
export async function readHeldRemovals(
  state: GroupState,
  hold: Hold,
  connection: Connection,
  ports: PreviewPorts,
): Promise<readonly HeldRemoval[]> {
  const held = await readHeld(state, hold, connection, ports);
  return held.map(({ user, member, cause, detail, event, person, isShown }) => {
    const attribute = (name: string) => person?.attributes.get(name)?.value || null;
    const { id = null, source = null, time = null } = (event && readStamp(event.stamp)) ?? {};
    const sender = heldCause(event);
    return {
      user,
      member,
      name: attribute('name') ?? attribute('displayName'),
      email: attribute('email') ?? attribute('userName'),
      because: isShown ? removalText(cause, detail) : `${removalText(cause, detail)}; ${GONE}`,
      event: event === undefined ? null : { id, source, time },
      by: sender.kind === 'no_event' ? null : (sender.by ?? null),
    };
  });
}

const GONE = 'the platform does not show them in the group any more';

async function readHeld(state: GroupState, hold: Hold, connection: Connection, ports: PreviewPorts) {
  const reading = readingOf(state, connection, ports);
  const first = await learn({ kind: 'read', what: ['wanted', 'views'] }, startOf(state, reading), reading);
  const facts = await learn({ kind: 'read', what: ['held', 'departed'] }, first, reading);
  const open = openRemovals(facts, hold);
  const { base } = facts.views ?? {};
  const members = open.flatMap(({ member }) => member ?? []);
  const known = await ports.users.read(connection.name, members);
  const registers = new Map(facts.wanted?.registers.map((register) => [register.member, register]));
  const { registers: ofGroup } = state;
  return open.map(({ member, ...removal }) => {
    const register = member === null ? undefined : registers.get(member);
    const person = member === null ? undefined : known.get(member);
    const event = removalEvent(removal.cause, ofGroup, register, person);
    return { ...removal, member, person, event, isShown: !base || base.users.has(removal.user) };
  });
}

/** A group stores only its latest actor. If a later event has replaced the sender, each sender may have caused it. */
function heldCause(event: RemovalEvent | undefined): HeldCause {
  const { stamp, author } = event ?? {};
  if (stamp === undefined || (author !== undefined && author.stamp > stamp)) return { kind: 'no_event' };
  const actor = author?.stamp === stamp ? author.actor : undefined;
  return {
    kind: 'event',
    atMs: stampTimeMs(stamp),
    source: sourceOf(stamp),
    by: actor?.by,
    token: actor?.kind === 'scim' ? actor.id : undefined,
  };
}
