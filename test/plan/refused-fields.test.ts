import { describe, expect, it } from 'vitest';
import type { GroupState } from '../../shared/domain/group-state.ts';
import { differing, dueField, fieldFailure, hasFailed, refusedOf } from '../../shared/plan/refused-fields.ts';

const DAY_MS = 86_400_000;
const refused = (value: string, atMs: number) => ({ value, atMs, message: `no to ${value}` });
const stateWith = (refusedFields: object, over: object = {}) =>
  ({ refusedFields, ...over }) as unknown as GroupState;
const wanted = { name: 'Sales', spokeId: 'g' };

describe('refused fields of a group', () => {
  it.each<[string, object, readonly string[]]>([
    ['nothing was refused', {}, []],
    ['the wanted name was refused', { name: refused('Sales', 0) }, ['name']],
    ['another name was refused', { name: refused('Purchases', 0) }, []],
    ['both were refused', { name: refused('Sales', 0), spokeId: refused('g', 0) }, ['name', 'spokeId']],
  ])('refused fields are found by the wanted value if %s', (_, fields, expected) => {
    expect(refusedOf(wanted, stateWith(fields))).toEqual(expected);
  });

  it.each([
    [DAY_MS - 1, undefined],
    [DAY_MS, 'spokeId'],
  ])(
    'a refused field is tried again from a day after the refusal (%i ms after it: left out $1)',
    (nowMs, expected) => {
      const state = stateWith({ name: refused('Sales', 1), spokeId: refused('g', 0) });
      expect(dueField(['name', 'spokeId'], state, nowMs)).toBe(expected);
    },
  );

  it('refused fields differ only if the platform shows neither the wanted value nor its normalized form', () => {
    const view = { name: 'sales', alias: 'Sales', spokeId: 'theirs', users: new Map() };
    expect(differing(['name', 'spokeId'], wanted, view)).toEqual(['spokeId']);
  });

  it('refused fields are reported with the first error code, all labels, and each answer once', () => {
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
  ])('the answer does not count as a refusal of the members (%o)', (over, expected) => {
    expect(hasFailed(stateWith({}, over))).toBe(expected);
  });
});
