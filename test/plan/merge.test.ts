import { expect, it } from 'vitest';
import { platformUserId } from '../../shared/domain/ids.ts';
import { type MergeInput, mergeUsers } from '../../shared/plan/draft.ts';

const U = platformUserId('u');

/**
 * The columns are: wanted, present, marked (wanted since the link), result in the mode authoritative, result in the mode additive. A
 * result is `true` for a marked user, `false` for another user, and `null` if the user is not in the group.
 */
const TABLE: readonly (readonly [boolean, boolean, boolean, boolean | null, boolean | null])[] = [
  [true, false, false, true, true],
  [true, true, true, true, true],
  [true, true, false, true, true],
  [false, true, true, null, null],
  [false, true, false, null, false],
  [false, false, false, null, null],
];

function merge(row: (typeof TABLE)[number], mode: MergeInput['mode'], isKept = false) {
  const [wanted, there, mine] = row;
  const merged = mergeUsers({
    wanted: new Set(wanted ? [U] : []),
    current: new Map(there ? [[U, mine]] : []),
    mode,
    keep: () => isKept,
  });
  return merged.has(U) ? merged.get(U) : null;
}

it.each(TABLE)('wanted %s, present %s, marked %s: authoritative %s, additive %s', (...row) => {
  const [wanted, there, mine, ...expected] = row;
  for (const mode of ['authoritative', 'additive'] as const) {
    const outcome = expected[mode === 'authoritative' ? 0 : 1];
    expect(merge(row, mode)).toBe(outcome);
    expect(merge(row, mode, true)).toBe(!wanted && there ? mine : outcome);
  }
});

it('mergeUsers calls `keep` only for users that it would remove', () => {
  const asked: string[] = [];
  mergeUsers({
    wanted: new Set(['a', 'b'].map(platformUserId)),
    current: new Map([
      [platformUserId('b'), true],
      [platformUserId('c'), true],
      [platformUserId('d'), false],
    ]),
    mode: 'additive',
    keep: (user) => asked.push(user) > 0,
  });
  expect(asked).toEqual(['c']);
});

it('mergeUsers merges 100,000 users on both sides within ten seconds', () => {
  const users = Array.from({ length: 100_000 }, (_, index) => platformUserId(`u${index}`));
  const merged = mergeUsers({
    wanted: new Set(users.slice(1)),
    current: new Map(users.slice(0, -1).map((user) => [user, true])),
    mode: 'authoritative',
    keep: () => false,
  });
  expect(merged.size).toBe(99_999);
}, 10_000);
