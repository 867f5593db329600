import type { HeldMember } from '../contract/answers.ts';
import { type GroupRegisters, groupExists, groupFloor } from '../domain/group.ts';
import type { GroupState, StoredMember } from '../domain/group-state.ts';
import type { Hold } from '../domain/hold.ts';
import { readStamp, type Stamp } from '../domain/stamp.ts';
import type { HeldCause } from '../plan/approval.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';
import { type NamesPorts, usersOf } from './names.ts';

export type HeldPorts = NamesPorts & Pick<ToolPorts, 'groups'>;

/** Everybody whom a hold keeps, by name, and the directory's event that takes them out. */
export async function readHeldMembers(
  state: GroupState,
  hold: Hold,
  ports: HeldPorts,
): Promise<readonly HeldMember[]> {
  const { known, held } = await readHeld(state, hold, ports);
  return held.map(({ user, register, because, event }) => {
    const attributes = register && known.get(register.member)?.attributes;
    const said = (name: string) => attributes?.get(name)?.value || null;
    return {
      user,
      member: register?.member ?? null,
      name: said('name') ?? said('displayName'),
      email: said('email') ?? said('userName'),
      because,
      event,
    };
  });
}

/** What tells who had a hold come about, of each whom it keeps. */
export const readCauses = async (state: GroupState, hold: Hold, ports: HeldPorts) =>
  (await readHeld(state, hold, ports)).held.map(({ cause }) => cause);

async function readHeld(state: GroupState, hold: Hold, ports: HeldPorts) {
  const users = [...((await ports.groups.readHeld(state.ref, hold)) ?? [])].sort();
  const { boundTo, known } = await usersOf(state.ref, ports);
  const held = users.map((user) => {
    const register = boundTo.get(user);
    return { user, register, ...whyGone(state, register, register && known.get(register.member)?.floor) };
  });
  return { known, held };
}

type Why = Pick<HeldMember, 'because' | 'event'> & { readonly cause: HeldCause };

function whyGone({ registers }: GroupState, register: StoredMember | undefined, floor?: Stamp): Why {
  const by = (because: string, stamp: Stamp, cause: HeldCause): Why => {
    const { id = null, source = null, time = null } = readStamp(stamp) ?? {};
    return { because, event: { id, source, time }, cause };
  };
  const unsaid = (because: string): Why => ({ because, event: null, cause: { kind: 'not_said' } });
  if (!groupExists(registers))
    return by('the directory deleted the group', registers.deleted, signed(registers, registers.deleted));
  if (register === undefined) return unsaid('no member of the directory is this user');
  if (floor !== undefined && floor >= register.stamp)
    return by('the directory deleted the user', floor, { kind: 'unsigned' });
  const own = { kind: 'said', by: register.actor?.by } as const;
  if (register.value === 'absent') return by('the directory took them out', register.stamp, own);
  const restated = groupFloor(registers);
  if (restated > register.stamp)
    return by('a snapshot of the group left them out', restated, signed(registers, restated));
  return unsaid('the directory has them, but they can be no members now');
}

/** A group keeps one name, of the latest of its events that had one. */
function signed({ saidBy }: GroupRegisters, stamp: Stamp): HeldCause {
  if (saidBy !== undefined && saidBy.stamp > stamp) return { kind: 'unsigned' };
  return { kind: 'said', by: saidBy?.stamp === stamp ? saidBy.actor.by : undefined };
}
