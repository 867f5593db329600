import { expect, test } from 'vitest';
import { ENDPOINTS } from '../../../local/platform/endpoints.ts';
import { SPECIFICATION } from '../../platform/support/specification.ts';
import { OTHER_APP, startSimulator } from './fixture.ts';

test('the simulator has exactly the endpoints of the specification', () => {
  const endpoints = ENDPOINTS.map(({ method, path }) => `${method} ${path.replaceAll(/:\w+/g, '{}')}`);
  const specified = SPECIFICATION.map(({ endpoint }) => endpoint.replaceAll(/{\w+}/g, '{}'));
  expect(endpoints.sort()).toEqual(specified.sort());
});

test('a credential of one company cannot read the employees, groups, leave or activity of another company', async () => {
  const { call } = startSimulator();
  await call('PATCH /groups/g1', { body: { users: [] } });
  const leave = await call('POST /leave_requests', { body: { ...LEAVE } });
  const theirs = async (request: string, body?: unknown) =>
    call(request, { token: OTHER_APP, ...(body === undefined ? {} : { body }) });
  expect((await theirs('GET /employees')).json.map((one: { id: string }) => one.id)).toEqual(['x1']);
  expect((await theirs('GET /employees/include_terminated?send_all_roles=true')).json).toHaveLength(1);
  expect((await theirs('GET /employees/r1')).status).toBe(404);
  expect((await theirs('GET /groups')).json.map((one: { id: string }) => one.id)).toEqual(['gx']);
  expect((await theirs('DELETE /groups/g1')).status).toBe(404);
  expect((await theirs('GET /leave_balances/r1')).status).toBe(404);
  expect((await theirs(`PATCH /leave_requests/${leave.json[0].id}`, {})).status).toBe(404);
  expect((await theirs('GET /company_activity')).json.data.events).toEqual([]);
  expect((await theirs('GET /companies/current')).json).toMatchObject({ id: 'globex', name: 'Globex' });
});

const LEAVE = {
  role: 'r1',
  companyLeaveType: 'vac',
  leavePolicy: 'p1',
  startDate: '2026-12-01',
  endDate: '2026-12-02',
};

test('an unknown path gets 404 and a wrong method gets 405, both with a JSON body', async () => {
  const { call } = startSimulator();
  const unknown = await call('GET /nothing');
  expect(unknown.status).toBe(404);
  expect(unknown.json.error.code).toBe('not_found');
  const wrong = await call('DELETE /employees/r1');
  expect(wrong.status).toBe(405);
  expect(wrong.headers['allow']).toBe('GET');
  expect(wrong.json.error.requestId).toBe(wrong.headers['x-request-id']);
});
