import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { beforeEach, expect, it, vi } from 'vitest';
import { handler } from '../../functions/scim.ts';
import { addressFilter } from '../../shared/runtime/wire-scim.ts';
import { NAMED_USER } from '../../shared/scim/protocol/schemas/user.ts';
import { createWorld } from '../scim/server/support/server.ts';
import { CONTEXT, fakeBase } from './fake-base.ts';

const wiring = vi.hoisted(() => ({ wired: undefined as unknown }));
vi.mock('../../shared/runtime/wire-scim.ts', async (original) => ({
  ...(await original<object>()),
  wireScim: () => wiring.wired,
}));
vi.mock('../../functions/frame/once.ts', () => ({ once: (wire: () => unknown) => wire }));

let world: ReturnType<typeof createWorld>;
let base: ReturnType<typeof fakeBase>;
let token: string;
let broken: boolean;
let reads: number;
const sleep = () => new Promise<void>(() => {});

beforeEach(async () => {
  broken = false;
  reads = 0;
  world = createWorld({
    before: async () => {
      reads += 1;
      if (broken) throw new Error('the table is away');
    },
  });
  base = fakeBase();
  wiring.wired = { ...base, ports: { ...world.ports, sleep }, admits: addressFilter([]) };
  token = await world.newToken();
});

const send = (method: string, rawPath: string, over: Partial<APIGatewayProxyEventV2> = {}) =>
  handler(
    {
      version: '2.0',
      routeKey: '$default',
      rawPath,
      rawQueryString: '',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
      requestContext: { domainName: 'api.acme.test', http: { method } },
      isBase64Encoded: false,
      ...over,
    } as APIGatewayProxyEventV2,
    CONTEXT,
  );

it('the SCIM function answers an HTTP API request with locations under the requested domain', async () => {
  const body = Buffer.from(JSON.stringify({ schemas: [NAMED_USER.id], userName: 'Änn@acme.test' })).toString(
    'base64',
  );
  const made = await send('POST', '/scim/v2/Users', { body, isBase64Encoded: true });
  expect(made).toMatchObject({
    statusCode: 201,
    headers: { location: expect.stringMatching(/^https:\/\/api\.acme\.test\/scim\/v2\/Users\//) },
  });
  expect(JSON.parse(made.body ?? '').userName).toBe('Änn@acme.test');
  const rawQueryString = `filter=${encodeURIComponent('userName eq "änn@acme.test"')}`;
  const found = await send('GET', '/scim/v2/Users', { rawQueryString });
  expect(JSON.parse(found.body ?? '').totalResults).toBe(1);
  expect((await send('GET', '/scim/v1/Users')).statusCode).toBe(404);
});

it('the SCIM function refuses a body that is not UTF-8, so that no name is altered', async () => {
  const body = Buffer.from([...Buffer.from('{"userName":"a'), 0xff, ...Buffer.from('"}')]).toString('base64');
  const refused = await send('POST', '/scim/v2/Users', { body, isBase64Encoded: true });
  expect(refused.statusCode).toBe(400);
  expect(JSON.parse(refused.body ?? '')).toMatchObject({
    scimType: 'invalidSyntax',
    detail: expect.stringContaining('expected a body in UTF-8'),
  });
});

it.each([
  ['/scim/v2/Users', '203.0.114.1', 403],
  ['/scim/v2/oauth/token', '203.0.114.1', 403],
  ['/scim/v2/Users', '2001:db8:1::1', 403],
  ['/scim/v2/Users', '', 403],
  ['/scim/v2/Users', '203.0.113.9', 200],
  ['/scim/v2/Users', '::ffff:203.0.113.9', 200],
  ['/scim/v2/Users', '2001:db8::1', 200],
])(
  'if a setting limits the addresses, a request for %s from "%s" gets %i, and a refused request reads nothing',
  async (path, sourceIp, status) => {
    wiring.wired = {
      ...base,
      ports: { ...world.ports, sleep },
      admits: addressFilter(['203.0.113.0/24', '2001:db8::1']),
    };
    reads = 0;
    const requestContext = { domainName: 'api.acme.test', http: { method: 'GET', sourceIp } };
    const answer = await send('GET', path, { requestContext } as Partial<APIGatewayProxyEventV2>);
    expect([answer.statusCode, reads > 0]).toEqual([status, status === 200]);
  },
);

it('the SCIM function logs no id and no filter', async () => {
  await send('GET', '/scim/v2/Users/some-id', { rawQueryString: 'filter=secret' });
  await send('GET', '/scim/v2/Users', { headers: {} });
  broken = true;
  const failed = await send('GET', '/scim/v2/Users');
  expect(failed.statusCode).toBe(500);
  expect(
    base.logged('answered').map(({ status, endpoint, requestId }) => [status, endpoint, requestId]),
  ).toEqual([
    [404, 'Users', 'request-1'],
    [401, 'Users', 'request-1'],
    [500, 'Users', 'request-1'],
  ]);
  expect(JSON.stringify(base.lines)).not.toMatch(/some-id|secret|gsync_scim/);
});
