import { ACTIVE_ATTRIBUTE, isActive } from '../../domain/active.ts';
import { NO_GROUP } from '../../domain/group.ts';
import type { ConnectionName, GroupRef, MemberId } from '../../domain/ids.ts';
import type { Register } from '../../domain/register.ts';
import { READER_SOURCE } from '../../domain/source.ts';
import { readStamp, STAMP_ZERO, type Stamp, stampTimeMs } from '../../domain/stamp.ts';
import type { StoredGroup } from '../../plan/directory/read.ts';
import type { Ports } from '../ports/bundles.ts';
import type { UserState } from '../ports/desired.ts';
import type { DirectoryUser } from '../ports/directory.ts';
import { attributesOfUser } from './events.ts';

export type StoredPorts = { readonly groups: Pick<Ports['groups'], 'read' | 'members'> } & {
  readonly users: Pick<Ports['users'], 'read'>;
};

interface KnownUser extends Pick<UserState, 'floor' | 'attributes'> {
  readonly isActive: boolean;
}

/** The stored users of a connection. A run reads each user only once, because many groups share members. */
export type KnownUsers = ReturnType<typeof createKnownUsers>;

export function createKnownUsers(connection: ConnectionName, users: StoredPorts['users'], lagMs: number) {
  const known = new Map<MemberId, KnownUser | undefined>();
  return {
    async read(members: Iterable<MemberId>) {
      const missing = [...new Set(members)].filter((member) => !known.has(member));
      if (missing.length === 0) return;
      const states = await users.read(connection, missing);
      for (const member of missing) {
        const state = states.get(member);
        known.set(member, state && knownOf(state));
      }
    },

    floorOf: (member: MemberId) => known.get(member)?.floor ?? STAMP_ZERO,

    /** Returns the stored address; undefined if no address is stored. */
    addressOf: (member: MemberId) => known.get(member)?.attributes.get('email')?.value ?? undefined,

    /**
     * Returns whether an event with this stamp would set a new attribute or change an attribute. An answer that shows the
     * user as active may be outdated. Such an answer does not count if the reader made the user inactive within the lag.
     */
    isNews(user: DirectoryUser, stamp: Stamp): boolean {
      const attributes = known.get(user.id)?.attributes;
      const endedMs = inactiveSinceMs(attributes?.get(ACTIVE_ATTRIBUTE));
      if (lagMs > 0 && user.isActive && stampTimeMs(stamp) - endedMs < lagMs) return false;
      return [...attributesOfUser(user)].some(([name, value]) => {
        const stored = attributes?.get(name);
        return stored === undefined || (stored.value !== value && stored.stamp < stamp);
      });
    },

    comesBack: (user: DirectoryUser) => user.isActive && known.get(user.id)?.isActive === false,

    /** Records that a message describes the user. The message is sent afterwards, or the run fails. */
    noteSent(user: DirectoryUser, stamp: Stamp): void {
      const before = known.get(user.id);
      const sent = [...attributesOfUser(user)].map(([name, value]) => [name, { value, stamp }] as const);
      const attributes = new Map([...(before?.attributes ?? []), ...sent]);
      known.set(user.id, { floor: before?.floor ?? STAMP_ZERO, attributes, isActive: user.isActive });
    },
  };
}

/** Returns the time at which the reader made the user inactive; -Infinity if the reader did not do this. */
function inactiveSinceMs(active: Register<string> | undefined): number {
  const isByReader = active?.value === 'false' && readStamp(active.stamp)?.source === READER_SOURCE;
  return isByReader ? stampTimeMs(active.stamp) : Number.NEGATIVE_INFINITY;
}

const knownOf = ({ floor, attributes }: UserState): KnownUser => ({
  floor,
  attributes,
  isActive: isActive(attributes),
});

/** Reads the desired state of a group with all its registers, consistently. */
export async function readStored(
  ref: GroupRef,
  { groups }: StoredPorts,
  users: KnownUsers,
): Promise<StoredGroup> {
  const state = await groups.read(ref);
  // Registers can exist before their group, because events about members can arrive first.
  const registers = await groups.members(ref);
  await users.read(registers.map(({ member }) => member));
  return {
    registers: state?.registers ?? NO_GROUP,
    members: registers.map(({ member, value, stamp }) => ({
      member,
      value,
      stamp,
      userFloor: users.floorOf(member),
    })),
  };
}
