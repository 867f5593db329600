import { expect, it } from 'vitest';
import { differenceOf, isEqual, type MemberDifference } from '../../../shared/directory/rules/read.ts';
import { NO_GROUP } from '../../../shared/domain/group.ts';
import { type MemberId, memberId } from '../../../shared/domain/ids.ts';
import { makeStamp, STAMP_ZERO, type Stamp } from '../../../shared/domain/stamp.ts';

const at = (minute: number): Stamp =>
  makeStamp({ time: new Date(Date.UTC(2026, 10, 20, 10, minute)).toISOString(), id: 'e', source: 's' });

const READ_AT = at(30);

interface Stored {
  readonly name?: string;
  readonly nameAt?: number;
  readonly deletedAt?: number;
  readonly snapshotAt?: number;
  /** For each member, the minute of the event that added the member. A negative number is the minute of a removal. */
  readonly members?: Readonly<Record<string, number>>;
  readonly userDeletedAt?: Readonly<Record<string, number>>;
}

const ids = (names: readonly string[]): MemberId[] => names.map(memberId);

function compare(members: readonly string[], stored: Stored | undefined, name = 'Sales'): MemberDifference {
  const { name: storedName = 'Sales', nameAt = 1, deletedAt, snapshotAt } = stored ?? {};
  const registers = {
    ...NO_GROUP,
    ...(stored && { upserted: at(nameAt), name: { value: storedName, stamp: at(nameAt) } }),
    ...(deletedAt !== undefined && { deleted: at(deletedAt) }),
    ...(snapshotAt !== undefined && { snapshot: at(snapshotAt) }),
  };
  const registersOfMembers = Object.entries(stored?.members ?? {}).map(([member, minute]) => ({
    member: memberId(member),
    value: minute < 0 ? ('absent' as const) : ('present' as const),
    stamp: at(Math.abs(minute)),
    userFloor: stored?.userDeletedAt?.[member] === undefined ? STAMP_ZERO : at(stored.userDeletedAt[member]),
  }));
  const read = { name, members: new Set(ids(members)), isShort: false, isCounted: true, content: '' };
  return differenceOf(read, { registers, members: registersOfMembers }, READ_AT);
}

it('there is no difference if name and members are equal', () => {
  expect(isEqual(compare(['a', 'b'], { members: { a: 2, b: 3, c: -4 } }))).toBe(true);
});

it('the difference contains the missing and the surplus members', () => {
  expect(compare(['a', 'b'], { members: { a: 2, c: 3 } })).toEqual({
    added: ids(['b']),
    removed: ids(['c']),
    isNamed: false,
    isSuperseded: false,
  });
});

it('the difference is the whole group if the desired state has no group or a deleted group', () => {
  expect(compare(['a'], undefined)).toMatchObject({ added: ids(['a']), isNamed: true });
  const deleted = compare(['a'], { deletedAt: 10, members: { a: 2 } });
  expect(deleted).toMatchObject({ added: ids(['a']), removed: [], isNamed: true, isSuperseded: false });
});

it('the difference contains the name if it has changed', () => {
  expect(compare([], { name: 'Old' })).toMatchObject({ isNamed: true, isSuperseded: false });
});

it('memberships from before a snapshot, or before the deletion of the user, have no effect', () => {
  expect(compare(['a'], { snapshotAt: 10, members: { a: 2 } }).added).toEqual(ids(['a']));
  const deleted = compare(['a'], { members: { a: 2 }, userDeletedAt: { a: 5 } });
  expect(deleted.added).toEqual(ids(['a']));
});

it.each([
  ['an addition', () => compare([], { members: { a: 40 } })],
  ['a removal', () => compare(['a'], { members: { a: -40 } })],
  ['the deletion of a user', () => compare(['a'], { members: { a: 2 }, userDeletedAt: { a: 40 } })],
  ['a snapshot', () => compare(['a'], { snapshotAt: 40 })],
  ['a name', () => compare([], { name: 'New', nameAt: 40 })],
  ['the deletion of the group', () => compare([], { deletedAt: 40 })],
])('%s by an event after the read stays, and the group is read again', (_, differ) => {
  const difference = differ();
  expect(difference).toEqual({ added: [], removed: [], isNamed: false, isSuperseded: true });
  expect(isEqual(difference)).toBe(false);
});
