import { expect, test } from 'vitest';
import { ENDPOINTS } from '../../../local/platform/endpoints.ts';
import { SPECIFICATION } from '../../platform/support/specification.ts';
import { APP, OTHER_APP, startSimulator, WORLD } from './fixture.ts';

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

test('an unknown path gets 404, a wrong method 405 and broken JSON 400, with a JSON body', async () => {
  const { call } = startSimulator();
  const unknown = await call('GET /nothing');
  expect(unknown.status).toBe(404);
  expect(unknown.json.error.code).toBe('not_found');
  const wrong = await call('DELETE /employees/r1');
  expect(wrong.status).toBe(405);
  const broken = await call('POST /groups', { body: '{' });
  expect(broken.json.error.message).toBe('the body is not valid JSON');
  expect(wrong.headers['allow']).toBe('GET');
  expect(wrong.json.error.requestId).toBe(wrong.headers['x-request-id']);
});

const SCOPES = { members: ['group-members:write'], groups: ['groups:write'], all: ['groups:write', '*'] };
const APPS = Object.entries(SCOPES).map(([token, scopes]) => ({ token, scopes, company: 'acme' }));
const OAUTH = APPS.map((one) => ({ ...one, kind: 'oauth_app' as const }));

test.each<[string, string, unknown, number]>([
  ['acme-key', 'GET /groups', undefined, 403],
  ['members', 'PATCH /groups/g1', { users: ['u1'] }, 200],
  ['members', 'PATCH /groups/g1', { name: 'A' }, 403],
  ['members', 'DELETE /groups/g1', undefined, 403],
  ['groups', 'PATCH /groups/g1', { name: 'A' }, 200],
  ['groups', 'PATCH /groups/g1', { users: ['u1'] }, 403],
  ['groups', 'POST /groups', { name: 'A', users: ['u1'] }, 403],
  ['all', 'PATCH /groups/g1', { users: ['u1'] }, 200],
])('with the token %s, %s with the body %j gets %i', async (token, request, body, status) => {
  const credentials = [...WORLD.credentials, ...OAUTH];
  const { call } = startSimulator({ world: { ...WORLD, credentials } });
  expect((await call(request, { token, body })).status).toBe(status);
});

test('the limit of requests per second applies to each token alone', async () => {
  const { call } = startSimulator();
  await call('POST /_simulator/settings', { body: { requestsPerSecond: 1 } });
  const statusOf = async (token: string) => (await call('GET /groups', { token })).status;
  expect([await statusOf(APP), await statusOf(APP), await statusOf(OTHER_APP)]).toEqual([200, 429, 200]);
});
