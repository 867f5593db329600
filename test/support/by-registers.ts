import { completeSnapshotFloor, foldEvents, type GroupFold } from '../../shared/domain/fold.ts';
import { desiredGroup, groupFloor, memberCounts } from '../../shared/domain/group.ts';
import { laterStamp, STAMP_ZERO, type Stamp } from '../../shared/domain/stamp.ts';

/** Returns the name and the members of each group, from the registers into which the engine folds the events. */
export function byRegisters(events: Parameters<typeof foldEvents>[0]) {
  const [fold] = foldEvents(events).values();
  const groups = new Map<string, { name: string | undefined; members: Set<string> }>();
  for (const group of fold?.groups.values() ?? []) {
    const registers = { ...group, snapshot: laterStamp(group.snapshot, partsFloor(group)) };
    const desired = desiredGroup(group.group, registers);
    if (desired.state === 'absent') continue;
    const counting = [...group.members].filter(([member, register]) =>
      memberCounts(register, groupFloor(registers), fold?.users.get(member)?.deleted ?? STAMP_ZERO),
    );
    groups.set(group.group, {
      name: desired.state === 'present' ? desired.name : undefined,
      members: new Set(counting.map(([member]) => member)),
    });
  }
  return groups;
}

function partsFloor({ parts }: GroupFold): Stamp {
  const all = [...parts.values()];
  const keyOf = ({ snapshotId, count }: (typeof all)[number]) => `${snapshotId}/${count}`;
  return [...new Set(all.map(keyOf))]
    .map((key) => all.filter((part) => keyOf(part) === key))
    .map((set) => completeSnapshotFloor(set[0]?.count ?? 0, set))
    .reduce(laterStamp, STAMP_ZERO);
}
