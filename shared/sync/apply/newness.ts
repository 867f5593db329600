import { laterStamp, STAMP_ZERO, type Stamp } from '../../domain/stamp.ts';
import type { Newness } from '../../plan/waive.ts';
import type { GroupState } from '../ports/groups.ts';
import type { Wanted } from './wanted.ts';

/** How new the directory's word about a group is, for waivers. */
export function newnessOf({ registers }: GroupState, wanted: Wanted): Newness {
  const name = registers.name?.stamp ?? STAMP_ZERO;
  const ofMember = new Map(wanted.registers.map(({ member, stamp }) => [member, stamp]));
  let newest = [registers.upserted, registers.deleted, registers.snapshot, name].reduce(laterStamp);
  for (const stamp of ofMember.values()) newest = laterStamp(newest, stamp);
  return {
    newest,
    name,
    user: (user): Stamp | undefined =>
      wanted.standing
        .get(user)
        ?.map(({ member }) => ofMember.get(member) ?? STAMP_ZERO)
        .reduce(laterStamp),
  };
}
