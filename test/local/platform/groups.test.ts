import { expect, test } from 'vitest';
import { startSimulator } from './fixture.ts';

test('POST creates a group with a version, and keeps user ids that belong to no employee', async () => {
  const { call } = startSimulator();
  const body = { name: 'New', spokeId: 's9', users: ['u2', 'ghost', 'u2'], unknown: true };
  const created = await call('POST /groups', { body });
  expect(created.status).toBe(200);
  expect(created.json).toEqual({
    id: expect.any(String),
    name: 'New',
    spokeId: 's9',
    users: ['u2', 'ghost'],
    version: expect.any(String),
  });
  expect((await call(`GET /groups/${created.json.id}`)).json).toEqual(created.json);
  expect((await call('POST /groups', { body })).status).toBe(200);
  expect((await call('GET /groups')).json).toHaveLength(3);
});

test.each([
  [{}, 'body.name'],
  [{ name: 7 }, 'body.name'],
  [{ name: 'x', users: 'u1' }, 'body.users'],
  [{ name: 'x', users: ['u1', null] }, 'body.users[1]'],
  [{ name: 'x', spokeId: 1 }, 'body.spokeId'],
  ['{"name":', 'not valid JSON'],
  ['[]', 'body'],
])('a POST of a group with the body %j is refused', async (body, reason) => {
  const { call } = startSimulator();
  const refused = await call('POST /groups', { body });
  expect(refused.status).toBe(400);
  expect(refused.json.error.message).toContain(reason);
  expect((await call('GET /groups')).json).toHaveLength(1);
});

test('PATCH keeps the fields that the body does not contain, and changes the version', async () => {
  const { call } = startSimulator();
  const patched = (await call('PATCH /groups/g1', { body: { users: ['u2'], version: 'v1' } })).json;
  expect(patched).toMatchObject({ name: 'Admins', spokeId: 's1', users: ['u2'] });
  expect(patched.version).not.toBe('v1');
});

test('PUT empties the fields that the body does not contain', async () => {
  const { call } = startSimulator();
  const replaced = (await call('PUT /groups/g1', { body: { name: 'Left', version: 'v1' } })).json;
  expect(replaced).toMatchObject({ name: 'Left', spokeId: null, users: [] });
  const emptied = (await call('PUT /groups/g1', { body: { users: ['u1'] } })).json;
  expect(emptied).toMatchObject({ name: '', users: ['u1'] });
});

test.each(['PUT', 'PATCH'])('a %s with an old version changes nothing', async (method) => {
  const { call } = startSimulator();
  for (const status of [409, 412, 400, 422]) {
    await call('POST /_simulator/settings', { body: { staleVersionStatus: status } });
    const refused = await call(`${method} /groups/g1`, { body: { name: 'Lost', users: [], version: 'v0' } });
    expect(refused.status).toBe(status);
    expect(refused.json.error.code).toBe('stale_version');
  }
  expect((await call('GET /groups/g1')).json).toMatchObject({ name: 'Admins', version: 'v1' });
});

test('without enforceVersionOnPatch, a PATCH with an old version is accepted, but a PUT is refused', async () => {
  const { call } = startSimulator();
  await call('POST /_simulator/settings', { body: { enforceVersionOnPatch: false } });
  expect((await call('PUT /groups/g1', { body: { name: 'A', version: 'v0' } })).status).toBe(409);
  expect((await call('PATCH /groups/g1', { body: { name: 'B', version: 'v0' } })).json.name).toBe('B');
});

test('the setting requireVersion refuses PUT and PATCH without a version', async () => {
  const { call } = startSimulator();
  await call('POST /_simulator/settings', { body: { requireVersion: true } });
  for (const method of ['PUT', 'PATCH']) {
    expect((await call(`${method} /groups/g1`, { body: { name: 'N' } })).status).toBe(400);
  }
  expect((await call('PATCH /groups/g1', { body: { name: 'N', version: 'v1' } })).status).toBe(200);
});

test('a write that changes nothing keeps the version and causes no event', async () => {
  const { call } = startSimulator();
  const same = await call('PATCH /groups/g1', { body: { users: ['u1', 'unknown'], version: 'v1' } });
  expect(same.json.version).toBe('v1');
  expect((await call('GET /company_activity')).json.data.events).toEqual([]);
});

test('without echoSpokeId, answers do not show the stored spokeId', async () => {
  const { call } = startSimulator();
  await call('POST /_simulator/settings', { body: { echoSpokeId: false } });
  expect((await call('GET /groups')).json[0].spokeId).toBeNull();
  const state = (await call('GET /_simulator/state')).json;
  expect(state.companies[0].groups[0].spokeId).toBe('s1');
});

test('the setting createdStatus is the status of the answer to a POST of a group', async () => {
  const { call } = startSimulator();
  await call('POST /_simulator/settings', { body: { createdStatus: 201 } });
  expect((await call('POST /groups', { body: { name: 'New' } })).status).toBe(201);
  expect((await call('PATCH /groups/g1', { body: { name: 'New' } })).status).toBe(200);
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

test('the setting versionForm number shows versions as numbers, and a version in another form counts as old', async () => {
  const { call } = startSimulator();
  await call('POST /_simulator/settings', { body: { versionForm: 'number' } });
  const { version } = (await call('GET /groups/g1')).json;
  expect(version).toEqual(expect.any(Number));
  const patch = (sent: unknown) => call('PATCH /groups/g1', { body: { name: 'New', version: sent } });
  expect((await patch(String(version))).status).toBe(409);
  const { status, json } = await patch(version);
  expect([status, typeof json.version, json.version === version]).toEqual([200, 'number', false]);
});
