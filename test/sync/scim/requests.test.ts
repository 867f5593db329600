import { beforeEach, describe, expect, it } from 'vitest';
import { replace } from '../../support/scim-operations.ts';
import { expectError } from './support/expect-error.ts';
import { type Client, createWorld, USER } from './support/server.ts';

/* Every method on every endpoint, media types and lists, as a suite that knows nothing of us would ask (RFC 7644). */

let world: ReturnType<typeof createWorld>;
let client: Client;

beforeEach(async () => {
  world = createWorld({ storeProfile: true });
  client = await world.client();
});

describe('methods', () => {
  const collection = ['GET', 'POST'];
  const resource = ['GET', 'PUT', 'PATCH', 'DELETE'];
  it.each<[path: string, allowed: readonly string[]]>([
    ['/Users', collection],
    ['/Groups', collection],
    ['/Users/x', resource],
    ['/Groups/x', resource],
    ['/Users/.search', ['POST']],
    ['/Groups/.search', ['POST']],
    ['/.search', ['POST']],
    ['/Bulk', ['POST']],
    ['/ServiceProviderConfig', ['GET']],
    ['/ResourceTypes', ['GET']],
    ['/ResourceTypes/User', ['GET']],
    ['/Schemas', ['GET']],
    [`/Schemas/${USER}`, ['GET']],
  ])('of %s are these, and others are answered with 405 and Allow', async (path, allowed) => {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE']) {
      const answer = await client.send(method, path);
      if (allowed.includes(method === 'HEAD' ? 'GET' : method)) {
        expect(answer.status).not.toBe(405);
        continue;
      }
      expect([method, answer.status]).toEqual([method, 405]);
      expect(answer.headers['allow']?.split(', ').toSorted()).toEqual(allowed.toSorted());
      if (method !== 'HEAD') expectError(answer, 405);
    }
  });

  it('HEAD of anything has the status and the headers of GET, and no body', async () => {
    for (const path of ['/Users', '/Schemas', '/Users/none', '/Users?filter=a']) {
      const { body: _body, ...head } = await client.get(path);
      expect(await client.send('HEAD', path)).toEqual({ ...head, body: undefined });
    }
  });

  it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])('%s of what is no endpoint is 404', async (method) => {
    const paths = ['/Things', '/Users/x/y', '/Bulk/x', '/ServiceProviderConfig/x', '/Schemas/a/b', '/users'];
    for (const path of paths) expectError(await client.send(method, path, {}), 404);
  });

  it('of /Me are not implemented', async () => {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      expectError(await client.send(method, '/Me', {}), 501);
    }
  });

  it('that delete work once, whatever body comes along', async () => {
    const { id } = (await client.post('/Users', { userName: 'ann' })).body;
    expect((await client.send('DELETE', `/Users/${id}`, 'no json')).status).toBe(204);
    for (const method of ['DELETE', 'GET']) expectError(await client.send(method, `/Users/${id}`), 404);
    for (const [method, body] of [
      ['PUT', { userName: 'ann' }],
      ['PATCH', { Operations: [replace('active', false)] }],
    ] as const) {
      expectError(await client.send(method, `/Users/${id}`, body), 404);
    }
  });
});

describe('media types', () => {
  it.each([
    'application/scim+json',
    'application/json',
    'application/scim+json; charset=utf-8',
    'application/json;charset=UTF-8',
    'Application/SCIM+JSON',
  ])('%s is taken', async (type) => {
    const made = await client.send('POST', '/Users', { userName: 'ann' }, { 'content-type': type });
    expect(made.status).toBe(201);
  });

  it.each(['text/plain', 'application/xml', 'application/x-www-form-urlencoded', 'application/jsonp'])(
    '%s is refused',
    async (type) => {
      const made = await client.send('POST', '/Users', { userName: 'ann' }, { 'content-type': type });
      expectError(made, 415);
    },
  );

  it.each(['application/scim+json', 'application/json', '*/*', 'text/html, application/*;q=0.5', ''])(
    'Accept: %s gets that of SCIM',
    async (accept) => {
      for (const path of ['/Users', '/Schemas', '/Users/none', '/ServiceProviderConfig']) {
        const { headers } = await client.get(path, { accept });
        expect(headers['content-type']).toBe('application/scim+json');
      }
    },
  );
});

describe('lists', () => {
  it('never hold more than the server says, and go on where they ended', async () => {
    const { maxResults } = (await client.get('/ServiceProviderConfig')).body.filter;
    for (let n = 0; n <= maxResults; n += 1) await client.post('/Groups', { displayName: `g${n}` });
    const first = (await client.get('/Groups?count=100000&attributes=displayName')).body;
    expect([first.itemsPerPage, first.totalResults]).toEqual([maxResults, maxResults + 1]);
    const rest = (await client.get(`/Groups?startIndex=${maxResults + 1}`)).body;
    expect(rest.Resources).toHaveLength(1);
    expect(first.Resources.map(({ id }: { id: string }) => id)).not.toContain(rest.Resources[0].id);
  });

  it.each(['userName xx "a"', '"'])('are refused for the filter %s, by GET and by POST', async (filter) => {
    expectError(await client.get(`/Users?filter=${encodeURIComponent(filter)}`), 400, 'invalidFilter');
    expectError(await client.post('/Groups/.search', { filter }), 400, 'invalidFilter');
    expectError(await client.post('/.search', { filter }), 400, 'invalidFilter');
  });
});
