import { expect, test } from 'vitest';
import { startSimulator } from './fixture.ts';

test('the current company has every field of the specification, including "legal entities" with a space', async () => {
  const { call } = startSimulator();
  const address = { streetLine1: '1 Main St', city: 'Springfield', country: 'US' };
  expect((await call('GET /companies/current')).json).toEqual({
    id: 'acme',
    name: 'Acme',
    address,
    workLocations: [{ id: 'w1', nickname: 'HQ', address }],
    primaryEmail: 'hello@acme.test',
    phone: '+1 555 0100',
    'legal entities': [{ name: 'Acme Canada', country: 'CA' }],
  });
});

test('scopes decide which fields of the company are shown', async () => {
  const { call } = startSimulator();
  expect((await call('GET /companies/current', { token: 'acme-bare' })).json).toEqual({ id: 'acme' });
  const named = { id: 'acme', name: 'Acme' };
  expect((await call('GET /companies/current', { token: 'acme-mail' })).json).toEqual(named);
});

test.each(['work_locations', 'departments', 'teams', 'levels', 'custom_fields', 'leave_balances'])(
  'the endpoint %s accepts limit and offset',
  async (list) => {
    const { call } = startSimulator();
    const all = (await call(`GET /${list}`)).json;
    expect((await call(`GET /${list}?limit=1`)).json).toEqual(all.slice(0, 1));
    expect((await call(`GET /${list}?offset=1&limit=5`)).json).toEqual(all.slice(1));
    expect((await call(`GET /${list}?limit=many`)).status).toBe(400);
  },
);

test('leave types show five fields, and managedBy filters them', async () => {
  const { call } = startSimulator();
  const all = (await call('GET /company_leave_types')).json;
  expect(all).toHaveLength(3);
  expect(all[0]).toEqual({
    id: 'vac',
    leaveType: 'VACATION',
    name: 'Vacation',
    description: 'Paid',
    isUnpaid: false,
  });
  const filtered = (await call('GET /company_leave_types?managedBy=PARTNER')).json;
  expect(filtered.map((type: { id: string }) => type.id)).toEqual(['jury']);
  expect((await call('GET /company_leave_types?managedBy=UNKNOWN_OWNER')).status).toBe(400);
});
