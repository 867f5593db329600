import { expect, it } from 'vitest';
import type { GroupState } from '../../shared/domain/group-state.ts';
import { dueField, fieldFailure } from '../../shared/plan/refused-fields.ts';

const DAY_MS = 86_400_000;
const refused = (value: string, atMs: number) => ({ value, atMs, message: 'no to Sales' });
const state = {
  refusedFields: { name: refused('Sales', 1), spokeId: refused('g', 0) },
} as unknown as GroupState;

it.each([
  [DAY_MS - 1, undefined],
  [DAY_MS, 'spokeId'],
])('a refused field is due a day after its refusal (after %i ms: $1)', (nowMs, expected) => {
  expect(dueField(['name', 'spokeId'], state, nowMs)).toBe(expected);
});

it('the failure has the code of the first refused field, the last time, and each answer once', () => {
  const failure = fieldFailure(['name', 'spokeId'], state);
  expect(failure).toMatchObject({ code: 'name_refused', atMs: 1 });
  expect(failure?.message).toMatch(/change: no to Sales$/);
});
