import { expect, it } from 'vitest';
import type { GroupState } from '../../shared/domain/group-state.ts';
import { differing, dueField, fieldFailure, hasFailed, refusedOf } from '../../shared/plan/refused-fields.ts';

const DAY_MS = 86_400_000;
const refused = (value: string, atMs: number) => ({ value, atMs, message: `no to ${value}` });
const stateWith = (refusedFields: object, over: object = {}) =>
  ({ refusedFields, ...over }) as unknown as GroupState;
const wanted = { name: 'Sales', spokeId: 'g' };

it.each<[string, object, readonly string[]]>([
  ['nothing was refused', {}, []],
  ['the wanted name was refused', { name: refused('Sales', 0) }, ['name']],
  ['another name was refused', { name: refused('Purchases', 0) }, []],
  ['both are refused', { name: refused('Sales', 0), spokeId: refused('g', 0) }, ['name', 'spokeId']],
])('refusedOf returns the fields whose wanted value was refused, if %s', (_, fields, expected) => {
  expect(refusedOf(wanted, stateWith(fields))).toEqual(expected);
});

it.each([
  [DAY_MS - 1, undefined],
  [DAY_MS, 'spokeId'],
])('a refused field is due a day after its refusal (after %i ms: $1)', (nowMs, expected) => {
  const state = stateWith({ name: refused('Sales', 1), spokeId: refused('g', 0) });
  expect(dueField(['name', 'spokeId'], state, nowMs)).toBe(expected);
});

it('a refused field does not differ if the platform shows the wanted value or its normalised form', () => {
  const view = { name: 'sales', alias: 'Sales', spokeId: 'theirs', users: new Map() };
  expect(differing(['name', 'spokeId'], wanted, view)).toEqual(['spokeId']);
});

it('the failure has the code of the first refused field, all labels, and each answer once', () => {
  const fields = { name: refused('Sales', 5), spokeId: { ...refused('g', 9), message: 'no to Sales' } };
  expect(fieldFailure(['name', 'spokeId'], stateWith(fields))).toEqual({
    code: 'name_refused',
    message:
      'the platform refuses the name and the external id; members are written without this change: no to Sales',
    atMs: 9,
  });
  expect(fieldFailure([], stateWith(fields))).toBeUndefined();
});

it.each([
  [{}, false],
  [{ failedAtMs: 1, lastError: { code: 'platform_rejected' } }, true],
  [{ failedAtMs: 1, lastError: { code: 'name_refused' } }, false],
  [{ failedAtMs: 1, lastError: { code: 'spoke_id_refused' } }, false],
])('hasFailed ignores the failure of a refused field (%o)', (over, expected) => {
  expect(hasFailed(stateWith({}, over))).toBe(expected);
});
