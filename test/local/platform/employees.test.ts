import { expect, test } from 'vitest';
import { employeeOf, putEmployee } from '../../../local/platform/state/state.ts';
import { startSimulator } from './fixture.ts';

const ids = (list: readonly { id: string }[]) => list.map((one) => one.id);

test('the parameter send_all_roles returns all employees in every state, even if they are not provisioned', async () => {
  const { call } = startSimulator();
  for (const value of ['true', 'TRUE', 'True']) {
    const { json } = await call(`GET /employees/include_terminated?send_all_roles=${value}`);
    expect(ids(json)).toEqual(['r1', 'r2', 'r3', 'r4', 'r5']);
  }
  const { json } = await call('GET /employees/include_terminated?send_all_roles=false');
  expect(ids(json)).toEqual(['r1', 'r2', 'r3']);
});

test('the EIN parameter keeps only the employees of one employer', async () => {
  const { call } = startSimulator();
  expect(ids((await call('GET /employees/include_terminated?EIN=123456789')).json)).toEqual(['r1']);
  expect(ids((await call('GET /employees/include_terminated?EIN=987654321')).json)).toEqual(['r2']);
  expect((await call('GET /employees/include_terminated?EIN=1')).json).toEqual([]);
});

test.each(['/employees', '/employees/include_terminated', '/employees/r1'])(
  'an employee from %s has only the guaranteed fields if the token has no scope',
  async (path) => {
    const { call } = startSimulator();
    const answer = (await call(`GET ${path}`, { token: 'acme-bare' })).json;
    const one = Array.isArray(answer) ? answer[0] : answer;
    expect(one).toEqual({ id: 'r1', personalEmail: 'ann@home.test', roleState: 'ACTIVE' });
  },
);

test('the id of a user with an active and an ended role leads to the active role, in whatever order the roles changed', () => {
  const company = { employees: new Map(), roleByUser: new Map() } as never;
  const put = (id: string, roleState: string) =>
    putEmployee(company, { id, userId: 'u-two', roleState } as never);
  put('first', 'ACTIVE');
  put('second', 'ACTIVE');
  put('second', 'TERMINATED');
  expect(employeeOf(company, 'u-two')?.id).toBe('first');
});
