import { type MemberId, type PlatformUserId, platformUserId } from '../../domain/ids.ts';
import { laterStamp, STAMP_ZERO, type Stamp } from '../../domain/stamp.ts';
import type { Waiver } from '../../domain/waiver.ts';
import { type Newness, standingWaiver } from '../../plan/waive.ts';
import { standingOf } from '../member-standing.ts';
import type { GroupState } from '../ports/groups.ts';
import type { Lane } from './lane.ts';
import { resolveUsers } from './resolve.ts';
import type { Wanted } from './wanted.ts';

/** How new the directory's word about a group is, for waivers. */
export function newnessOf({ registers }: GroupState, wanted: Wanted): Newness {
  const name = registers.name?.stamp ?? STAMP_ZERO;
  const ofMember = new Map(wanted.registers.map(({ member, stamp }) => [member, stamp]));
  let newest = [registers.upserted, registers.deleted, registers.snapshot, name].reduce(laterStamp);
  for (const stamp of ofMember.values()) newest = laterStamp(newest, stamp);
  for (const floor of wanted.userFloors.values()) newest = laterStamp(newest, floor);
  return {
    newest,
    name,
    snapshot: registers.snapshot,
    user: (user): Stamp | undefined =>
      wanted.standing
        .get(user)
        ?.map(({ member }) => ofMember.get(member) ?? STAMP_ZERO)
        .reduce(laterStamp),
  };
}

/** What of a waiver the directory has not spoken against since. */
export async function stillWaived(
  state: GroupState,
  waiver: Waiver | undefined,
  { wanted, lane }: { readonly wanted: Wanted; readonly lane: Lane },
): Promise<Waiver | undefined> {
  if (waiver === undefined || wanted.group === undefined) return undefined;
  const departed = await departedSince(waiver, wanted, lane);
  return standingWaiver(waiver, { ...newnessOf(state, wanted), departed }, wanted.group);
}

/**
 * Tombstones and deleted users name members; only where somebody's stay was adopted does it matter which users of the
 * platform those are.
 */
async function departedSince(
  { policy, seen, present }: Waiver,
  { registers, userFloors }: Wanted,
  { connection, ports }: Lane,
): Promise<ReadonlyMap<PlatformUserId, Stamp>> {
  if (policy !== 'adopt' || present.size === 0) return new Map();
  const gone = new Map(
    registers
      .map(({ member, value, stamp }): [MemberId, Stamp] => [
        member,
        laterStamp(value === 'absent' ? stamp : STAMP_ZERO, userFloors.get(member) ?? STAMP_ZERO),
      ])
      .filter(([, stamp]) => stamp > seen),
  );
  const { settings, name } = connection;
  const users = await ports.users.read(name, [...gone.keys()]);
  const people = { connection: name, settings, people: ports.people };
  const resolved = await resolveUsers([...users.values()], people);
  return new Map(
    [...resolved].flatMap(([member, resolution]): [PlatformUserId, Stamp][] => {
      if (resolution.kind !== 'person') return [];
      const { id } = standingOf(resolution.person, undefined, settings);
      return id === undefined ? [] : [[platformUserId(id), gone.get(member) ?? seen]];
    }),
  );
}
