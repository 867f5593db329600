import { describe, expect, it } from 'vitest';
import { DAY_MS, EVENTUAL, idsOf, readAll, startEntra } from './fixture.ts';

const SALES_USERS = 'groups/g-sales/members/microsoft.graph.user';

describe('lists of Microsoft Graph', () => {
  it('lists of groups and users leave out deleted objects, and have pages', async () => {
    const entra = startEntra();
    const groups = await readAll(entra, 'groups?$top=4');
    expect(groups.pages).toEqual([4, 2]);
    expect(idsOf((await readAll(entra, 'users?$select=id&$top=1')).items)).toEqual([
      'u-ann',
      'u-gus',
      'u-liz',
      'u-sue',
    ]);
  });

  it('the address of the next page contains the query of the first request', async () => {
    const entra = startEntra();
    const { json } = await entra.get('users?$select=id&$top=1');
    expect(json['@odata.nextLink']).toMatch(
      /^http:\/\/127\.0\.0\.1\/v1\.0\/users\?\$select=id&\$top=1&\$skiptoken=/,
    );
  });

  it('a list refuses a page size above 999, and unknown and expired page tokens', async () => {
    const entra = startEntra();
    expect((await entra.get('users?$top=999')).status).toBe(200);
    expect((await entra.get('users?$top=1000')).json.error.code).toBe('Request_BadRequest');
    const { json } = await entra.get('users?$top=1');
    expect((await entra.get('users?$top=1&$skiptoken=x')).status).toBe(400);
    await entra.control('page-tokens/expire');
    const expired = await entra.get(json['@odata.nextLink']);
    expect([expired.status, expired.json.error.code]).toEqual([400, 'Directory_ExpiredPageToken']);
  });

  it.each([
    ["groups?$filter=displayName eq 'Sales'", ['g-sales']],
    ["groups?$filter=startswith(displayName, 'E')", ['g-emea', 'g-none']],
    ["groups?$filter=groupTypes/any(c:c eq 'Unified')", ['g-hidden', 'g-team']],
    ["groups?$filter=id in ('g-none', 'g-team')", ['g-none', 'g-team']],
    ['groups?$filter=mailEnabled eq true and securityEnabled eq false', ['g-hidden', 'g-team']],
    ["users?$filter=userType eq 'Guest'", ['u-gus']],
    ['users?$filter=accountEnabled eq false', ['u-sue']],
    ["users?$filter=mail eq 'ann@contoso.example' or id eq 'u-liz'", ['u-ann', 'u-liz']],
  ])('a list supports the filter %s', async (path, ids) => {
    expect(idsOf((await readAll(startEntra(), path)).items)).toEqual(ids);
  });

  it.each([
    'users?$filter=accountEnabled ne true',
    'users?$expand=manager',
    'users?$search="a"',
    'users?$skip=1',
  ])('Graph refuses the query %s', async (path) => {
    const { status, json } = await startEntra().get(path);
    expect([status, json.error.code]).toEqual([400, 'Request_UnsupportedQuery']);
  });

  it('a user is found by id and by principal name, but not by another address', async () => {
    const entra = startEntra();
    expect((await entra.get('users/ann@contoso.example')).json.userPrincipalName).toBe('ann@contoso.example');
    const guest = `users/${encodeURIComponent('gus_partner.example#EXT#@contoso.example')}`;
    expect(
      (await entra.send(`GET /v1.0/${guest}`, { token: (await entra.signIn()).json.access_token })).json.mail,
    ).toBe('gus@partner.example');
    expect((await entra.get('users/gus@partner.example')).status).toBe(404);
    expect((await entra.get('users/u-del')).json.error.code).toBe('Request_ResourceNotFound');
    expect((await entra.get('groups/sales@contoso.example')).status).toBe(404);
  });

  it('the list of deleted users contains a user for 30 days after the deletion', async () => {
    const entra = startEntra();
    const path = 'directory/deletedItems/microsoft.graph.user';
    expect(idsOf((await readAll(entra, path)).items)).toEqual(['u-del']);
    entra.clock.ms += 30 * DAY_MS;
    entra.forgetToken();
    expect((await readAll(entra, path)).items).toEqual([]);
  });
});

describe('members of a group', () => {
  it('members of a group are users, groups, devices and service principals', async () => {
    const { items } = await readAll(startEntra(), 'groups/g-sales/members?$select=id');
    expect(items.map((item) => [item.id, item['@odata.type']]).toSorted()).toEqual([
      ['d-laptop', '#microsoft.graph.device'],
      ['g-emea', '#microsoft.graph.group'],
      ['s-robot', '#microsoft.graph.servicePrincipal'],
      ['u-gus', '#microsoft.graph.user'],
      ['u-liz', '#microsoft.graph.user'],
      ['u-sue', '#microsoft.graph.user'],
    ]);
  });

  it('lists leave out service principals if the settings require it', async () => {
    const entra = startEntra({ settings: { listsServicePrincipals: false } });
    expect(idsOf((await readAll(entra, 'groups/g-sales/members')).items)).not.toContain('s-robot');
  });

  it('a list with a cast shows and counts members of one kind, without @odata.type', async () => {
    const entra = startEntra();
    const users = await entra.get(`${SALES_USERS}?$select=id&$count=true`, EVENTUAL);
    expect(users.json['@odata.count']).toBe(3);
    expect(users.json.value).toEqual([{ id: 'u-gus' }, { id: 'u-liz' }, { id: 'u-sue' }]);
    const groups = await entra.get('groups/g-sales/members/microsoft.graph.group?$count=true', EVENTUAL);
    expect([groups.json['@odata.count'], idsOf(groups.json.value)]).toEqual([1, ['g-emea']]);
  });

  it('only the first page has the count, and only if the request has the header ConsistencyLevel', async () => {
    const entra = startEntra();
    const first = await entra.get(`${SALES_USERS}?$count=true&$top=2`, EVENTUAL);
    expect(first.json['@odata.count']).toBe(3);
    expect((await entra.get(first.json['@odata.nextLink'], EVENTUAL)).json).not.toHaveProperty(
      '@odata.count',
    );
    expect((await entra.get(`${SALES_USERS}?$count=true`)).json).not.toHaveProperty('@odata.count');
  });

  it('a control makes the count wrong, absent, and correct again', async () => {
    const entra = startEntra();
    const count = async () => (await entra.get(`${SALES_USERS}?$count=true`, EVENTUAL)).json['@odata.count'];
    await entra.control('counts', { group: 'g-sales', count: 400 });
    expect(await count()).toBe(400);
    await entra.control('counts', { group: 'g-sales', count: null });
    expect(await count()).toBeUndefined();
    await entra.control('counts', { group: 'g-sales', count: 'right' });
    expect(await count()).toBe(3);
  });

  it('the count shows a change later than the list', async () => {
    const entra = startEntra({ settings: { lagSeconds: { counts: 600 } } });
    await entra.change({ kind: 'addMember', group: 'g-sales', member: 'u-ann' });
    const { json } = await entra.get(`${SALES_USERS}?$count=true`, EVENTUAL);
    expect([json['@odata.count'], json.value.length]).toEqual([3, 4]);
  });

  it('a deleted user is not a member, and is a member again after a restore', async () => {
    const entra = startEntra();
    const members = async () => idsOf((await readAll(entra, 'groups/g-emea/members')).items);
    await entra.change({ kind: 'deleteUser', user: 'u-ann' });
    expect(await members()).toEqual([]);
    await entra.change({ kind: 'undeleteUser', user: 'u-ann' });
    expect(await members()).toEqual(['u-ann']);
  });

  it('a group with hidden membership looks empty without the right Member.Read.Hidden', async () => {
    const entra = startEntra();
    expect(idsOf((await readAll(entra, 'groups/g-hidden/members')).items)).toEqual(['u-liz']);
    await entra.control('rights', { roles: ['GroupMember.Read.All', 'User.Read.All'] });
    entra.forgetToken();
    const { status, json } = await entra.get('groups/g-hidden/members?$count=true', EVENTUAL);
    expect([status, json.value, json['@odata.count']]).toEqual([200, [], 0]);
    const { items } = await readAll(entra, 'groups/delta?$select=members');
    expect(items.find(({ id }) => id === 'g-hidden')).toEqual({ id: 'g-hidden' });
  });

  it('a member has only a type and an id if the application lacks the right for its kind', async () => {
    const entra = startEntra();
    await entra.control('rights', { roles: ['GroupMember.Read.All'] });
    entra.forgetToken();
    const { json } = await entra.get('groups/g-emea/members?$select=id,displayName,mail');
    expect(json.value).toEqual([
      { '@odata.type': '#microsoft.graph.user', id: 'u-ann', displayName: null, mail: null },
    ]);
  });
});

describe('rights and limits', () => {
  it('a request after the loss of a right is answered with Authorization_RequestDenied', async () => {
    const entra = startEntra();
    await entra.get('groups');
    await entra.control('rights', { roles: ['GroupMember.Read.All'] });
    expect((await entra.get('groups')).status).toBe(401);
    entra.forgetToken();
    expect((await entra.get('groups')).status).toBe(200);
    for (const path of [
      'users',
      'users/u-ann',
      'users/delta',
      'directory/deletedItems/microsoft.graph.user',
    ]) {
      const { status, json } = await entra.get(path);
      expect([status, json.error.code], path).toEqual([403, 'Authorization_RequestDenied']);
    }
  });

  it('a request above the limit is answered with 429 and the time of the next attempt', async () => {
    const entra = startEntra({ settings: { queriesPerMinute: 2 } });
    const answers = [await entra.get('groups'), await entra.get('groups'), await entra.get('groups')];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(answers[2]?.headers['retry-after']).toBe('10');
  });

  it('a fault with the name of an error has the status, body and Retry-After of this error', async () => {
    const entra = startEntra();
    await entra.get('groups');
    await entra.control('faults', [{ error: 'tooManyRequests' }, { error: 'gatewayTimeout' }]);
    const throttled = await entra.get('groups');
    expect([throttled.status, throttled.headers['retry-after'], throttled.json.error.code]).toEqual([
      429,
      '10',
      'TooManyRequests',
    ]);
    expect((await entra.get('groups')).status).toBe(504);
  });

  it('random failures have the statuses 429, 500, 502, 503 and 504', async () => {
    const entra = startEntra();
    await entra.get('groups');
    await entra.control('settings', { failures: 0.5 });
    const answers = [];
    for (let call = 0; call < 60; call += 1) answers.push((await entra.get('groups')).status);
    expect(new Set(answers)).toEqual(new Set([200, 429, 500, 502, 503, 504]));
  });

  it('a reset restores the directory, the rights and the client secret, and expires the delta tokens', async () => {
    const entra = startEntra();
    const { deltaLink } = await readAll(entra, 'groups/delta');
    await entra.control('rights', { roles: [] });
    await entra.control('client-secret', { secret: 'other' });
    await entra.change({ kind: 'deleteGroup', group: 'g-sales' });
    await entra.control('reset');
    entra.forgetToken();
    expect((await entra.get('groups/g-sales')).status).toBe(200);
    expect((await entra.get(deltaLink)).status).toBe(410);
  });
});
