import type { HeldMember } from '../contract/answers.ts';
import { groupExists, groupFloor } from '../domain/group.ts';
import type { GroupState, StoredMember } from '../domain/group-state.ts';
import type { Hold } from '../domain/hold.ts';
import { readStamp, type Stamp } from '../domain/stamp.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';
import { type NamesPorts, usersOf } from './names.ts';

export type HeldPorts = NamesPorts & Pick<ToolPorts, 'groups'>;

/** Everybody whom a hold keeps, by name, and the directory's event that takes them out. */
export async function readHeldMembers(
  state: GroupState,
  hold: Hold,
  ports: HeldPorts,
): Promise<readonly HeldMember[]> {
  const users = [...((await ports.groups.readHeld(state.ref, hold)) ?? [])].sort();
  const { boundTo, known } = await usersOf(state.ref, ports);
  return users.map((user) => {
    const register = boundTo.get(user);
    const attributes = register && known.get(register.member)?.attributes;
    const floor = register && known.get(register.member)?.floor;
    const said = (name: string) => attributes?.get(name)?.value || null;
    return {
      user,
      member: register?.member ?? null,
      name: said('name') ?? said('displayName'),
      email: said('email') ?? said('userName'),
      ...whyGone(state, register, floor),
    };
  });
}

type Why = Pick<HeldMember, 'because' | 'event'>;

function whyGone({ registers }: GroupState, register: StoredMember | undefined, floor?: Stamp): Why {
  const by = (because: string, stamp: Stamp): Why => {
    const { id = null, source = null, time = null } = readStamp(stamp) ?? {};
    return { because, event: { id, source, time } };
  };
  if (!groupExists(registers)) return by('the directory deleted the group', registers.deleted);
  if (register === undefined) return { because: 'no member of the directory is this user', event: null };
  if (floor !== undefined && floor >= register.stamp) return by('the directory deleted the user', floor);
  if (register.value === 'absent') return by('the directory took them out', register.stamp);
  const restated = groupFloor(registers);
  if (restated > register.stamp) return by('a snapshot of the group left them out', restated);
  return { because: 'the directory has them, but they can be no members now', event: null };
}
