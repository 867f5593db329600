import { expect, test } from 'vitest';
import { NOW_MS, OTHER_APP, startSimulator } from './fixture.ts';

type Call = ReturnType<typeof startSimulator>['call'];
const DAY_MS = 86_400_000;

const page = async (call: Call, query = '') => (await call(`GET /company_activity${query}`)).json.data;
const types = (events: readonly { event_type: string }[]) =>
  events.map((event) => event.event_type.replace('EXTERNAL_GROUP_', ''));
const at = (ms: number) => encodeURIComponent(new Date(ms).toISOString());

test('the event for the removal of a member has the form of the documented example', async () => {
  const { call } = startSimulator();
  await call('PATCH /groups/g1', { body: { users: ['unknown'], version: 'v1' } });
  const { json } = await call('GET /company_activity');
  expect(json.error).toBeNull();
  expect(json.data.events).toEqual([
    {
      id: expect.any(String),
      request_data: null,
      linked_events: [],
      subjects: [
        { instance: 'g1', type: 'GROUP', display_name: 'Admins', icon: null },
        { instance: 'u1', type: 'SPOKE_USER', display_name: 'Ann Archer', icon: null },
        { instance: 'r1', type: 'ROLE', display_name: 'Ann Archer', icon: null },
      ],
      event_type: 'EXTERNAL_GROUP_MEMBER_REMOVE',
      timestamp: '2026-11-20T10:00:00.000+00:00',
      company: 'acme',
      spoke: 'directory-sync',
      owner: 'acme',
      initiator: { type: 'EXTERNAL', role: null, display_name: 'directory-sync', icon: null },
      event_reason: { reason: 'CHANGE_SYNCED_FROM_EXTERNAL_APP', message: expect.any(String) },
      name: 'Account removed from group',
    },
  ]);
  expect(json.data.next).toBeTypeOf('string');
});

test('every change of a group causes events', async () => {
  const { call } = startSimulator();
  const { id } = (await call('POST /groups', { body: { name: 'New', users: ['u1', 'ghost'] } })).json;
  await call(`PUT /groups/${id}`, { body: { name: 'Newer', users: ['u2', 'ghost'] } });
  await call(`PATCH /groups/${id}`, { body: { users: ['ghost', 'u2'] } });
  await call(`PATCH /groups/${id}`, { body: { users: ['ghost', 'u2'] } });
  await call(`DELETE /groups/${id}`);
  const { events } = await page(call);
  expect(types(events)).toEqual([
    'ADD',
    'MEMBER_ADD',
    'MEMBER_ADD',
    'UPDATE',
    'MEMBER_REMOVE',
    'MEMBER_ADD',
    // A write that only changes the order of the users also causes a new version and an event.
    'UPDATE',
    'REMOVE',
  ]);
  expect(events[2].subjects).toEqual([
    { instance: id, type: 'GROUP', display_name: 'New', icon: null },
    { instance: 'ghost', type: 'SPOKE_USER', display_name: 'ghost', icon: null },
  ]);
});

test('startDate and endDate are inclusive and accept each notation of a time', async () => {
  const { call, clock } = startSimulator();
  for (const name of ['A', 'B', 'C']) {
    await call('PATCH /groups/g1', { body: { name } });
    clock.ms += 1000;
  }
  const names = async (query: string) =>
    (await page(call, query)).events.map(
      (event: { subjects: { display_name: string }[] }) => event.subjects[0]?.display_name,
    );
  expect(await names(`?startDate=${at(NOW_MS + 1000)}`)).toEqual(['B', 'C']);
  expect(await names('?startDate=2026-11-20T11:00:01%2B01:00')).toEqual(['B', 'C']);
  expect(await names('?startDate=2026-11-20T11:00:01+01:00')).toEqual(['B', 'C']);
  expect(await names('?startDate=2026-11-20')).toEqual(['A', 'B', 'C']);
  expect(await names(`?endDate=${at(NOW_MS + 1000)}`)).toEqual(['A', 'B']);
  expect(await names(`?startDate=${at(NOW_MS + 1)}&endDate=${at(NOW_MS + 1999)}`)).toEqual(['B']);
});

test('startDate must be less than 90 days ago, and the default is the earliest possible time', async () => {
  const { call, clock } = startSimulator();
  await call('PATCH /groups/g1', { body: { name: 'Old' } });
  clock.ms = NOW_MS + 90 * DAY_MS;
  expect((await call(`GET /company_activity?startDate=${at(NOW_MS)}`)).status).toBe(400);
  expect((await call(`GET /company_activity?startDate=${at(NOW_MS + 1)}`)).status).toBe(200);
  expect((await page(call)).events).toHaveLength(1);
  clock.ms += 1;
  expect((await page(call)).events).toHaveLength(0);
});

test.each([
  'limit=0',
  'limit=1001',
  'limit=ten',
  'startDate=yesterday',
  'endDate=1',
  'next=rubbish',
  'next=',
])('the feed refuses ?%s with an error in its own envelope', async (query) => {
  const { call } = startSimulator();
  const refused = await call(`GET /company_activity?${query}`);
  expect(refused.status).toBe(400);
  expect(refused.json.data).toBeNull();
  expect(refused.json.error.message).toContain(`query.${query.split('=')[0]}`);
});

test('a cursor is refused if it belongs to another company or was issued before a reset', async () => {
  const { call } = startSimulator();
  const { next } = await page(call);
  expect((await call(`GET /company_activity?next=${next}`, { token: OTHER_APP })).status).toBe(400);
  await call('POST /_simulator/reset');
  expect((await call(`GET /company_activity?next=${next}`)).status).toBe(400);
});

test.each([
  ['null', { events: expect.any(Array), next: null }],
  ['empty', { events: expect.any(Array), next: '' }],
  ['absent', { events: expect.any(Array) }],
])('the setting endOfFeed %s changes the form of next on only the last page', async (endOfFeed, last) => {
  const { call } = startSimulator();
  await call('POST /_simulator/settings', { body: { endOfFeed } });
  await call('PATCH /groups/g1', { body: { users: [] } });
  const first = await page(call, '?limit=1');
  expect(first.next).toMatch(/./);
  expect(await page(call, `?next=${first.next}`)).toEqual(last);
});

test.each([
  [{ feedEnvelope: 'flat' }, { events: [], next: expect.any(String) }],
  [{ emptyFeedPage: 'nullEvents' }, { data: { events: null, next: expect.any(String) }, error: null }],
  [{ emptyFeedPage: 'nullData' }, { data: null, error: null }],
  [
    { feedEnvelope: 'flat', emptyFeedPage: 'nullEvents' },
    { events: null, next: expect.any(String) },
  ],
])('the form of an empty feed page follows the settings %j', async (settings, expected) => {
  const { call } = startSimulator();
  await call('POST /_simulator/settings', { body: settings });
  expect((await call('GET /company_activity')).json).toEqual(expected);
});
