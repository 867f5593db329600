import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compareUtf8, join, type Register, supersedes } from '../../shared/domain/register.ts';
import type { Stamp } from '../../shared/domain/stamp.ts';
import { always } from '../support/engine/runs.ts';

const register: fc.Arbitrary<Register<string>> = fc.record({
  value: fc.constantFrom('absent', 'present', 'a', 'ab', '\u{ff5e}', '\u{1f600}'),
  stamp: fc.constantFrom('1', '2', '3').map((text) => text as Stamp),
});

always(
  'the join of registers is commutative, associative and idempotent',
  fc.property(register, register, register, (a, b, c) => {
    expect(join(a, b)).toEqual(join(b, a));
    expect(join(join(a, b), c)).toEqual(join(a, join(b, c)));
    expect(join(a, a)).toEqual(a);
    expect(join(undefined, a)).toBe(a);
  }),
);

it('the later stamp wins, and the smaller value wins if the stamps are equal', () => {
  const old = { value: 'present', stamp: '1' as Stamp };
  const late = { value: 'present', stamp: '2' as Stamp };
  const gone = { value: 'absent', stamp: '1' as Stamp };
  expect(join(old, late)).toBe(late);
  expect(join(late, old)).toBe(late);
  expect(join(old, gone)).toBe(gone);
  expect(join(gone, old)).toBe(gone);
  expect(supersedes(old, { ...old })).toBe(false);
  expect(supersedes(old, undefined)).toBe(true);
});

const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('a', 'ab', '\u{ff5e}', '\u{1f600}'));
const asBytes = fc.property(text, text, (a, b) => {
  expect(compareUtf8(a, b)).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
});
always('compareUtf8 orders text by its UTF-8 bytes', asBytes);
