import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createSimulator, type Simulator } from '../../local/platform/simulator.ts';
import type { WorldInput } from '../../local/platform/state/world.ts';
import { createPlatformClient, type PlatformClient } from '../../shared/platform/client.ts';
import { staticBearer } from '../../shared/platform/credential.ts';
import { ConflictError, ForbiddenError, PlatformError } from '../../shared/platform/errors.ts';
import { collect } from './support/platform-client.ts';

const employee = (n: number) => ({ id: `role-${n}`, userId: `user-${n}`, name: `Person ${n}` });

const WORLD: WorldInput = {
  companies: [
    {
      id: 'company-1',
      employees: [employee(1), employee(2)],
      leaveTypes: [{ id: 'clt-1', leaveType: 'VACATION', name: 'Vacation' }],
      leavePolicies: [{ id: 'policy-1' }],
    },
  ],
  credentials: [
    { token: 'app-token', kind: 'oauth_app', company: 'company-1', role: 'admin', employee: 'role-1' },
    { token: 'key-token', kind: 'api_key', company: 'company-1', role: 'employee', employee: 'role-2' },
  ],
};

let simulator: Simulator;
let url: string;
let app: PlatformClient;
let key: PlatformClient;

const connect = (token: string) =>
  createPlatformClient({
    baseUrl: url,
    credential: staticBearer(token),
    clock: Date.now,
    random: Math.random,
    sleep: (ms, signal) => delay(ms, undefined, signal === undefined ? {} : { signal }),
    timeoutMs: 5_000,
  });
const control = (path: string, body: unknown) =>
  fetch(`${url}/_simulator/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

beforeAll(async () => {
  let ids = 0;
  simulator = createSimulator({ world: WORLD, clock: Date.now, newId: () => `id-${++ids}` });
  ({ url } = await simulator.listen());
  app = connect('app-token');
  key = connect('key-token');
});
afterAll(async () => {
  await app.close();
  await key.close();
  await simulator.close();
});

it('the client creates, updates and processes a leave request', async () => {
  const request = { role: 'role-1', companyLeaveType: 'clt-1', leavePolicy: 'policy-1' };
  const created = await app.leave.requests.create({
    ...request,
    startDate: '2026-12-01',
    endDate: '2026-12-01',
    startDateCustomHours: 4,
    reasonForLeave: 'rest',
  });
  expect(created).toMatchObject({
    role: 'role-1',
    status: 'PENDING',
    leaveType: 'VACATION',
    processedAt: null,
  });
  const updated = await app.leave.requests.update(created.id, { reasonForLeave: 'sun' });
  expect(updated).toMatchObject({ id: created.id, reasonForLeave: 'sun' });
  await expect(key.leave.requests.process(created.id, 'approve')).rejects.toBeInstanceOf(ForbiddenError);
  const processed = await app.leave.requests.process(created.id, 'approve');
  expect(processed).toMatchObject({ status: 'APPROVED', leaveType: 'VACATION' });
  await expect(app.leave.requests.process(created.id, 'decline')).rejects.toBeInstanceOf(PlatformError);
});

it.each([
  {},
  { createdStatus: 201 },
  { versionForm: 'number' },
  { versionForm: 'longNumber' },
  { keepVersionIfUnchanged: false },
])('the client reads and writes groups if the platform has the setting %j', async (setting) => {
  await control('settings', setting);
  const created = await app.groups.create({ name: 'Ops', spokeId: '00g1', users: ['user-1', 'unknown'] });
  expect(created).toMatchObject({ name: 'Ops', spokeId: '00g1', users: ['user-1', 'unknown'] });
  await expect(app.groups.get(created.id)).resolves.toEqual(created);
  const same = await app.groups.patch(created.id, { users: created.users, version: created.version });
  const patched = await app.groups.patch(created.id, { users: ['user-2'], version: same.version });
  expect(patched).toMatchObject({ name: 'Ops', spokeId: '00g1', users: ['user-2'] });
  expect(patched.version).not.toBe(created.version);
  const stale = { name: 'Ops 2', spokeId: '00g1', users: [], version: created.version };
  await expect(app.groups.replace(created.id, stale)).rejects.toBeInstanceOf(ConflictError);
  const replaced = await app.groups.replace(created.id, { ...stale, version: patched.version });
  expect(replaced).toMatchObject({ name: 'Ops 2', users: [] });
  await expect(app.groups.list()).resolves.toEqual([replaced]);
  await expect(app.groups.delete(created.id)).resolves.toBe('deleted');
  await expect(app.groups.delete(created.id)).resolves.toBe('missing');
  await expect(key.groups.list()).rejects.toBeInstanceOf(ForbiddenError);
  await control('settings', { createdStatus: 200, versionForm: 'text', keepVersionIfUnchanged: true });
});

it('the client reads company activity, and from a cursor only the new events', async () => {
  const before = await collect(app.activity.follow({ sinceMs: Date.now() - 3_600_000 }));
  const cursor = before.at(-1)?.next;
  const group = await app.groups.create({ name: 'Watched', spokeId: '00g3', users: ['user-1', 'user-2'] });
  const after = await collect(app.activity.follow({ cursor: String(cursor) }));
  const added = after.flatMap(({ events }) => events);
  expect(added.map(({ event_type, subjects }) => [event_type, subjects?.[0]?.instance])).toEqual([
    ['EXTERNAL_GROUP_ADD', group.id],
    ['EXTERNAL_GROUP_MEMBER_ADD', group.id],
    ['EXTERNAL_GROUP_MEMBER_ADD', group.id],
  ]);
});
