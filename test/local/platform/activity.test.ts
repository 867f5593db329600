import { expect, test } from 'vitest';
import { NOW_MS, OTHER_APP, startSimulator } from './fixture.ts';

type Call = ReturnType<typeof startSimulator>['call'];

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

test('a cursor is refused if it belongs to another company or was issued before a reset', async () => {
  const { call } = startSimulator();
  const { next } = await page(call);
  expect((await call(`GET /company_activity?next=${next}`, { token: OTHER_APP })).status).toBe(400);
  await call('POST /_simulator/reset');
  expect((await call(`GET /company_activity?next=${next}`)).status).toBe(400);
});
