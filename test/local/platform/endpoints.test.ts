import { expect, test } from 'vitest';
import { ENDPOINTS } from '../../../local/platform/endpoints.ts';
import { employeeOf, putEmployee } from '../../../local/platform/state/state.ts';
import { SPECIFICATION } from '../../platform/support/specification.ts';
import { APP, LEAVE, OTHER_APP, startSimulator, WORLD } from './fixture.ts';

test('the simulator has exactly the endpoints of the specification', () => {
  const endpoints = ENDPOINTS.map(({ method, path }) => `${method} ${path.replaceAll(/:\w+/g, '{}')}`);
  const specified = SPECIFICATION.map(({ endpoint }) => endpoint.replaceAll(/{\w+}/g, '{}'));
  expect(endpoints.sort()).toEqual(specified.sort());
});

test('a credential of one company cannot read the employees, groups, leave or activity of another company', async () => {
  const { call } = startSimulator();
  await call('PATCH /groups/g1', { body: { users: [] } });
  const leave = await call('POST /leave_requests', { body: LEAVE });
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

test('PUT empties the fields that the body does not contain', async () => {
  const { call } = startSimulator();
  const replaced = (await call('PUT /groups/g1', { body: { name: 'Left', version: 'v1' } })).json;
  expect(replaced).toMatchObject({ name: 'Left', spokeId: null, users: [] });
  const emptied = (await call('PUT /groups/g1', { body: { users: ['u1'] } })).json;
  expect(emptied).toMatchObject({ name: '', users: ['u1'] });
});

test.each(['POST /groups', 'PUT /groups/g1', 'PATCH /groups/g1'])(
  'a %s refuses an empty id in users, or drops the id if dropBlankIds is set',
  async (request) => {
    const { call } = startSimulator();
    const refused = await call(request, { body: { name: 'New', users: ['u1', ''] } });
    expect(refused.status).toBe(400);
    expect(refused.json.error.message).toContain('body.users[1]');
    await call('POST /_simulator/settings', { body: { dropBlankIds: true } });
    expect((await call(request, { body: { name: 'New', users: [''] } })).json.users).toEqual([]);
  },
);

test('a write that changes nothing gives a new version if keepVersionIfUnchanged is false', async () => {
  const { call } = startSimulator();
  expect((await call('PATCH /groups/g1', { body: { name: 'Admins' } })).json.version).toBe('v1');
  await call('POST /_simulator/settings', { body: { keepVersionIfUnchanged: false } });
  const { json } = await call('PATCH /groups/g1', { body: { name: 'Admins' } });
  expect(json.version).not.toBe('v1');
  expect((await call('GET /groups/g1')).json).toEqual(json);
});

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
