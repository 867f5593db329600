import fc from 'fast-check';
import { expect, it } from 'vitest';
import { groupFloor, memberCounts } from '../../shared/domain/group.ts';
import type { StoredMember } from '../../shared/domain/group-state.ts';
import { type GroupId, groupId, memberId } from '../../shared/domain/ids.ts';
import {
  flattenedMembers,
  type GroupContent,
  nestedGroup,
  nestedMember,
  unknownGroups,
} from '../../shared/domain/nesting.ts';
import { makeStamp, STAMP_ZERO, type Stamp } from '../../shared/domain/stamp.ts';

const at = (second: number) => makeStamp({ time: `2026-11-20T10:00:0${second}Z`, id: 'e', source: 's' });
const present = (id: string, second: number): StoredMember => ({
  member: memberId(id),
  value: 'present',
  stamp: at(second),
});
const absent = (id: string, second: number): StoredMember => ({ ...present(id, second), value: 'absent' });
const inner = (id: string) => nestedMember(groupId(id));

interface Floors {
  readonly snapshot?: Stamp;
  readonly deleted?: Stamp;
}
const group = (members: readonly StoredMember[], floors: Floors = {}): GroupContent => ({
  registers: { upserted: at(1), deleted: STAMP_ZERO, snapshot: STAMP_ZERO, ...floors },
  members,
});
const OUTER = groupId('outer');
const flattened = (contents: Record<string, GroupContent>) =>
  flattenedMembers(OUTER, new Map(Object.entries(contents).map(([id, content]) => [groupId(id), content])));

it('a nested member counts, even after a later snapshot of the outer group', () => {
  const [member] = flattened({
    outer: group([present(inner('in'), 5)], { snapshot: at(5) }),
    in: group([present('a', 2)]),
  });
  expect(member).toEqual({ ...present('a', 2), via: at(5) });
  expect(memberCounts(member as StoredMember, at(5), STAMP_ZERO)).toBe(true);
  // A later deletion of the user also ends the membership in the outer group.
  expect(memberCounts(member as StoredMember, at(5), at(3))).toBe(false);
});

it('a nested member has the pending mark of the outer group, not the mark of the inner group', () => {
  const mark = { cause: 'refused', sinceMs: 1 } as const;
  const contents = {
    outer: group([{ ...absent('a', 1), pending: mark }, present(inner('in'), 3)]),
    in: group([present('a', 2), { ...present('b', 2), pending: mark }]),
  };
  expect(flattened(contents)).toEqual([
    { ...present('a', 2), via: at(3), pending: mark },
    { ...present('b', 2), via: at(3) },
  ]);
});

it('unknownGroups returns the nested groups whose content is not known yet', () => {
  const contents = new Map([
    [OUTER, group([present(inner('in'), 1), absent(inner('left'), 2), present('a', 1)])],
  ]);
  expect(unknownGroups(contents)).toEqual(['in', 'left']);
  expect(nestedGroup('a')).toBeUndefined();
});

it('flattenedMembers returns the members that a search along all paths finds, even with cycles of groups', () => {
  const ids = ['outer', 'p', 'q', 'r'];
  const register = fc
    .tuple(fc.constantFrom('a', 'b', 'c', ...ids.map(inner)), fc.boolean(), fc.integer({ min: 1, max: 9 }))
    .map(([id, isIn, second]) => (isIn ? present(id, second) : absent(id, second)));
  const content = fc
    .record({
      members: fc.uniqueArray(register, { selector: ({ member }) => member, maxLength: 6 }),
      snapshot: fc.integer({ min: 0, max: 4 }),
      isDeleted: fc.boolean(),
    })
    .map(({ members, snapshot, isDeleted }) =>
      group(members, { snapshot: at(snapshot), ...(isDeleted ? { deleted: at(2) } : {}) }),
    );
  const world = fc.tuple(existing(content), ...ids.slice(1).map(() => content));
  fc.assert(
    fc.property(world, (contents) => {
      const known = new Map(contents.map((one, at) => [groupId(ids[at] ?? ''), one]));
      const floor = groupFloor(known.get(OUTER)?.registers ?? group([]).registers);
      const counted = flattenedMembers(OUTER, known).filter((one) => memberCounts(one, floor, STAMP_ZERO));
      expect(counted.map(({ member }) => String(member)).sort()).toEqual(usersFound(OUTER, known).sort());
    }),
    { numRuns: 300 },
  );
});

/** Generates a group that is not deleted: the members of a deleted group are never read. */
const existing = (content: fc.Arbitrary<GroupContent>) =>
  content.map(({ registers, members }) => ({ members, registers: { ...registers, deleted: STAMP_ZERO } }));

/** Returns the users of a group by a search along every path. A path visits no group twice. */
function usersFound(from: GroupId, known: ReadonlyMap<GroupId, GroupContent>): string[] {
  const found = new Set<string>();
  const search = (one: GroupId, path: readonly GroupId[]) => {
    const { registers, members } = known.get(one) ?? group([]);
    if (registers.deleted >= registers.upserted || path.includes(one)) return;
    for (const register of members) {
      if (register.value === 'absent' || register.stamp < groupFloor(registers)) continue;
      const next = nestedGroup(register.member);
      if (next === undefined) found.add(register.member);
      else search(next, [...path, one]);
    }
  };
  search(from, []);
  return [...found];
}
