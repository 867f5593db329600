import { expect, test } from 'vitest';
import { EmployeeRecord } from '../../../local/platform/schemas/employee.ts';
import { employeeOf, putEmployee } from '../../../local/platform/state/state.ts';
import { startSimulator } from './fixture.ts';

const ids = (list: readonly { id: string }[]) => list.map((one) => one.id);
const { provisioned: _, ein: __, timezone: ___, ...fields } = EmployeeRecord.shape;

test('the list of active employees contains only provisioned ACTIVE employees', async () => {
  const { call } = startSimulator();
  expect(ids((await call('GET /employees')).json)).toEqual(['r1', 'r2']);
});

test('the parameter include_terminated adds the terminated employees', async () => {
  const { call } = startSimulator();
  const { json } = await call('GET /employees/include_terminated');
  expect(ids(json)).toEqual(['r1', 'r2', 'r3']);
  expect(json[2]).toMatchObject({ roleState: 'TERMINATED', endDate: '2026-01-31' });
});

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

test('an employee in any state is found by role id, and not by another id', async () => {
  const { call } = startSimulator();
  expect((await call('GET /employees/r1')).json).toMatchObject({
    id: 'r1',
    userId: 'u1',
    name: 'Ann Archer',
  });
  expect((await call('GET /employees/r3')).json.roleState).toBe('TERMINATED');
  expect((await call('GET /employees/r5')).json.roleState).toBe('ACCEPTED');
  expect((await call('GET /employees/u1')).status).toBe(404);
  expect((await call('GET /employees/r4')).status).toBe(404);
});

test('an employee has every field of the specification if the token has every scope', async () => {
  const { call } = startSimulator();
  const { json } = await call('GET /employees/r2');
  expect(Object.keys(json).sort()).toEqual(Object.keys(fields).sort());
});

test('only the list of active employees spells workLocationNickname with a capital L', async () => {
  const { call } = startSimulator();
  const active = (await call('GET /employees')).json[0];
  expect([active.workLocationNickname, active.worklocationNickname]).toEqual(['HQ', undefined]);
  for (const path of ['/employees/include_terminated?limit=1', '/employees/r1']) {
    const answer = (await call(`GET ${path}`)).json;
    const one = Array.isArray(answer) ? answer[0] : answer;
    expect([one.workLocationNickname, one.worklocationNickname]).toEqual([undefined, 'HQ']);
  }
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

test('each scope adds its fields to an employee', async () => {
  const { call } = startSimulator();
  const { json } = await call('GET /employees/r1', { token: 'acme-mail' });
  expect(Object.keys(json)).toEqual(['id', 'personalEmail', 'roleState', 'workEmail']);
});

test('pages by limit and offset contain each employee once, and the page after the last is empty', async () => {
  const { call } = startSimulator();
  const pages: string[][] = [];
  for (let offset = 0; offset <= 4; offset += 2) {
    const { json } = await call(`GET /employees/include_terminated?limit=2&offset=${offset}`);
    pages.push(ids(json));
  }
  expect(pages).toEqual([['r1', 'r2'], ['r3'], []]);
  expect(ids((await call('GET /employees?offset=1')).json)).toEqual(['r2']);
});

test.each([
  'limit=x',
  'limit=-1',
  'limit=1.5',
  'limit=',
  'limit=1&limit=2',
  'offset=-1',
  'offset=1e3',
  'EIN=12-3456789',
  'send_all_roles=yes',
])('the list of employees refuses ?%s with a message that names the parameter', async (query) => {
  const { call } = startSimulator();
  const refused = await call(`GET /employees/include_terminated?${query}`);
  expect(refused.status).toBe(400);
  expect(refused.json.error.message).toContain(`query.${query.split('=')[0]}`);
});

test('unknown query parameters are ignored', async () => {
  const { call } = startSimulator();
  expect((await call('GET /employees?fields=name')).status).toBe(200);
});

test('the id of a user with an active and an ended role leads to the active role, in whatever order the roles changed', () => {
  const company = { employees: new Map(), roleByUser: new Map() } as never;
  const put = (id: string, roleState: string) =>
    putEmployee(company, { id, userId: 'u-two', roleState } as never);
  put('first', 'ACTIVE');
  put('second', 'ACTIVE');
  put('second', 'TERMINATED');
  expect(employeeOf(company, 'u-two')?.id).toBe('first');
});
