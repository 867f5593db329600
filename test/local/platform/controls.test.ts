import { afterEach, expect, test } from 'vitest';
import { APP, startSimulator } from './fixture.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((simulator) => simulator.close()));
});

/** Starts a simulator on a real socket, because some behaviour does not occur with injected requests. */
async function listening() {
  const started = startSimulator();
  open.push(started.simulator);
  const { url, port } = await started.simulator.listen();
  const send = (method: string, path: string, body?: unknown) =>
    fetch(`${url}/platform/api${path}`, {
      method,
      headers: { authorization: `Bearer ${APP}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  return { ...started, url, port, send };
}

const names = (groups: readonly { name: string }[]) => groups.map((group) => group.name);

test('a reset restores the initial world, and clears faults, settings and the request log', async () => {
  const { call } = startSimulator();
  await call('DELETE /groups/g1');
  await call('POST /_simulator/settings', { body: { echoSpokeId: false } });
  await call('POST /_simulator/faults', { body: [{ status: 500, times: 9 }] });
  expect((await call('POST /_simulator/reset')).json).toEqual({ ok: true });
  expect((await call('GET /_simulator/requests')).json.requests).toEqual([]);
  expect((await call('GET /groups/g1')).json).toMatchObject({ spokeId: 's1', version: 'v1' });
});

test('requests are listed in the order of their answers, without requests to the controls', async () => {
  const { call } = startSimulator();
  await call('GET /groups?x=1');
  await call('GET /_simulator/state');
  await call('PATCH /groups/g1', { body: { name: 'N' } });
  await call('GET /groups', { token: null });
  const { requests, next } = (await call('GET /_simulator/requests')).json;
  const shown = { at: expect.any(String), bytes: 0 };
  const groups = { ...shown, method: 'GET', path: '/platform/api/groups' };
  expect(requests).toEqual([
    { ...groups, seq: 1, query: 'x=1', status: 200 },
    { ...groups, seq: 2, method: 'PATCH', path: `${groups.path}/g1`, query: '', status: 200, bytes: 12 },
    { ...groups, seq: 3, query: '', status: 401 },
  ]);
  expect(next).toBe(3);
  const later = (await call('GET /_simulator/requests?since=1&bodies=1')).json.requests;
  expect(later.map((one: { body?: unknown }) => one.body)).toEqual([{ name: 'N' }, undefined]);
  expect((await call('GET /_simulator/requests?since=3')).json).toEqual({ requests: [], next: 3 });
});

test('a fault with drop "before" prevents the write, and a fault with drop "after" drops the answer but not the write', async () => {
  const { call, send } = await listening();
  const match = { method: 'POST', path: '/platform/api/groups' };
  await call('POST /_simulator/faults', {
    body: [
      { match, drop: 'before' },
      { match, drop: 'after' },
    ],
  });
  await expect(send('POST', '/groups', { name: 'Never' })).rejects.toThrow('fetch failed');
  await expect(send('POST', '/groups', { name: 'Done' })).rejects.toThrow('fetch failed');
  const groups = await (await send('GET', '/groups')).json();
  expect(names(groups as { name: string }[])).toEqual(['Admins', 'Done']);
  const { requests } = (await call('GET /_simulator/requests')).json;
  expect(requests).toMatchObject([
    { status: 0, dropped: 'before' },
    { status: 200, dropped: 'after' },
    { status: 200 },
  ]);
});

test('a change by another client gives a new version, and keeps the fields that the change does not contain', async () => {
  const { call } = startSimulator();
  const { json } = await call('POST /_simulator/groups/g1', { body: { users: ['u2'], initiator: 'SYSTEM' } });
  expect(json).toMatchObject({ id: 'g1', name: 'Admins', spokeId: 's1', users: ['u2'] });
  expect((await call('PATCH /groups/g1', { body: { name: 'Late', version: 'v1' } })).status).toBe(409);
  expect((await call('DELETE /_simulator/groups/g1?initiator=SYSTEM')).json).toEqual({ ok: true });
  expect((await call('GET /groups/g1')).status).toBe(404);
  expect((await call('POST /_simulator/groups/g1', { body: {} })).status).toBe(404);
  expect((await call('POST /_simulator/groups/gx', { body: { initiator: 'UNKNOWN_KIND' } })).status).toBe(
    400,
  );
});

test('the controls refuse other machines, other host names and pages of other origins', async () => {
  const { simulator, call } = startSimulator();
  const state = { method: 'GET', url: '/_simulator/state' } as const;
  const from = async (remoteAddress: string) =>
    (await simulator.app.inject({ ...state, remoteAddress })).statusCode;
  expect(await Promise.all(['127.0.0.1', '::1', '::ffff:127.0.0.1'].map(from))).toEqual([200, 200, 200]);
  expect(await Promise.all(['10.0.0.7', '::ffff:10.0.0.7', '2001:db8::1'].map(from))).toEqual([
    403, 403, 403,
  ]);
  for (const host of ['evil.test', 'localhost.evil.test:80', '127.0.0.1.evil.test', '0.0.0.0']) {
    expect((await call('GET /_simulator/state', { headers: { host } })).status, host).toBe(403);
  }
  for (const host of ['localhost', '127.0.0.1:8080', '[::1]:9', 'LOCALHOST:1']) {
    expect((await call('GET /_simulator/state', { headers: { host } })).status, host).toBe(200);
  }
  expect((await call('POST /_simulator/reset', { headers: { origin: 'https://evil.test' } })).status).toBe(
    403,
  );
});
