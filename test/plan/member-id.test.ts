import { expect, it } from 'vitest';
import { memberIdEvidence, memberIdFieldOf } from '../../shared/plan/member-id.ts';

const EMPLOYEES = { ids: new Set(['r1', 'r2', 'same']), userIds: new Set(['u1', 'u2', 'same']) };
const fieldOf = (users: readonly string[]) => memberIdFieldOf(memberIdEvidence(users, EMPLOYEES));

it.each<[string, readonly string[], string | undefined]>([
  ['userId if all known ids are user ids', ['u1', 'u2', 'u1'], 'userId'],
  ['id if all known ids are employee ids', ['r1', 'unknown'], 'id'],
  ['unknown if there are no ids', [], undefined],
  ['unknown if no employee has the ids', ['x', 'y'], undefined],
  ['unknown if the only id is both a user id and an employee id', ['same'], undefined],
  ['unknown if the ids are of both kinds', ['u1', 'r1'], undefined],
])('the field of the ids is %s', (_, users, field) => {
  expect(fieldOf(users)).toBe(field);
});

it('the field of the ids is known if nine in ten matching ids are of this field', () => {
  expect(memberIdFieldOf({ users: 20, userId: 1, id: 9 })).toBe('id');
  expect(memberIdFieldOf({ users: 20, userId: 9, id: 1 })).toBe('userId');
  expect(memberIdFieldOf({ users: 20, userId: 2, id: 9 })).toBeUndefined();
});

it('each id is counted once', () => {
  expect(memberIdEvidence(['u1', 'u1', 'r1', 'x'], EMPLOYEES)).toEqual({ users: 3, userId: 1, id: 1 });
});
