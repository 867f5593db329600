import { expect, it } from 'vitest';
import { add, remove, replace } from '../../support/scim-operations.ts';
import { createWorld, fullUser, GROUP, USER } from './support/server.ts';
import { discover, parsed } from './support/strict-client.ts';

it.each([false, true])(
  'a client that refuses unknown attributes can discover and use the server with storeProfile=%j',
  async (storeProfile) => {
    const client = await createWorld({ storeProfile }).client();
    const endpoints = await discover(client);
    const [users, groups] = [endpoints.get('User'), endpoints.get('Group')];

    const ann = parsed(await client.post(`${users}`, fullUser('ann')), 201, 'User');
    const bob = parsed(await client.post(`${users}`, { schemas: [USER], userName: 'bob' }), 201, 'User');
    const body = { schemas: [GROUP], displayName: 'A', members: [{ value: ann.id }, { value: 'unknown' }] };
    const group = parsed(await client.post(`${groups}`, body), 201, 'Group');
    const path = `${groups}/${group.id}`;

    expect(parsed(await client.get(`${users}/${ann.id}`), 200, 'User')).toMatchObject({
      groups: [{ value: group.id, display: 'A' }],
    });
    const changes = [add('members', [{ value: bob.id }]), remove('members[value eq "unknown"]')];
    parsed(
      await client.send('PATCH', `${path}?excludedAttributes=externalId`, { Operations: changes }),
      200,
      'Group',
    );
    expect(parsed(await client.get(path), 200, 'Group').members).toHaveLength(2);
    parsed(await client.patch(`${users}/${bob.id}`, [replace('active', false)]), 200, 'User');
    parsed(await client.put(path, { ...body, displayName: 'B' }), 200, 'Group');
    expect(parsed(await client.get(`${groups}?filter=displayName eq "b"`), 200, 'Groups').totalResults).toBe(
      1,
    );
    expect(parsed(await client.get(`${users}?sortBy=userName&count=1`), 200, 'Users').itemsPerPage).toBe(1);
    parsed(await client.post(`${users}/.search`, { filter: 'userName pr' }), 200, 'Users');
    const Operations = [
      { method: 'POST', path: users, bulkId: 'cas', data: { schemas: [USER], userName: 'cas' } },
      { method: 'POST', path: users, bulkId: 'again', data: { schemas: [USER], userName: 'ann' } },
      { method: 'DELETE', path: `${users}/${bob.id}` },
    ];
    const bulk = parsed(await client.post('/Bulk', { Operations }), 200, 'BulkResponse').Operations;
    expect(bulk.map(({ status }) => status)).toEqual(['201', '409', '204']);
    parsed(await client.get(`${users}/${bob.id}`), 404, 'Error');
    parsed(await client.post(`${users}`, { schemas: [USER] }), 400, 'Error');
    expect((await client.delete(path)).status).toBe(204);
  },
);
