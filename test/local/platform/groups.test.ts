import { expect, test } from 'vitest';
import { startSimulator } from './fixture.ts';

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
