import { expect, test } from 'vitest';
import { startSimulator } from './fixture.ts';

const BODY = {
  role: 'r2',
  companyLeaveType: 'vac',
  leavePolicy: 'p1',
  startDate: '2026-12-03',
  endDate: '2026-12-07',
  startDateCustomHours: '4.5',
  reasonForLeave: 'Trip',
};

test.each([
  [{ leavePolicy: undefined }, 'body.leavePolicy'],
  [{ leavePolicy: 'p9' }, 'body.leavePolicy'],
  [{ status: 'APPROVED' }, 'body.status'],
  [{ status: 'DONE' }, 'body.status'],
  [{ role: 'u2' }, 'body.role'],
  [{ role: 'x1' }, 'body.role'],
  [{ role: undefined }, 'body.role'],
  [{ companyLeaveType: 'VACATION' }, 'body.companyLeaveType'],
  [{ startDate: '2026-02-30' }, 'body.startDate'],
  [{ startDate: '03/12/2026' }, 'body.startDate'],
  [{ endDate: '2026-12-02' }, 'body.endDate'],
  [{ endDate: '2099-12-02' }, 'body.endDate'],
  [{ startDateCustomHours: 4 }, 'body.startDateCustomHours'],
  [{ endDateCustomHours: 'four' }, 'body.endDateCustomHours'],
  [{ startDateStartTime: '2026-12-03T09:00:00' }, 'body.startDateStartTime'],
])('a POST of a leave request with %j is refused', async (fields, reason) => {
  const { call } = startSimulator();
  const refused = await call('POST /leave_requests', { body: { ...BODY, ...fields } });
  expect(refused.status).toBe(400);
  expect(refused.json.error.message).toContain(reason);
});

test.each([
  ['approve', 'APPROVED'],
  ['decline', 'REJECTED'],
])(
  'the action %s sets the status %s, the processor and the time, and returns the leave type as leaveTypeUniqueId',
  async (action, status) => {
    const { call } = startSimulator();
    const [created] = (await call('POST /leave_requests', { body: BODY })).json;
    const processed = await call(`POST /leave_requests/${created.id}/process?action=${action}`, {
      token: 'acme-manager',
    });
    const { leaveType, ...rest } = created;
    expect(processed.json).toEqual({
      ...rest,
      status,
      leaveTypeUniqueId: leaveType,
      processedAt: '2026-11-20T10:00:00.000+00:00',
      processedBy: 'r1',
      processedByName: 'Ann Archer',
    });
    const again = await call(`POST /leave_requests/${created.id}/process?action=approve`);
    expect(again.status).toBe(409);
    const changed = await call(`PATCH /leave_requests/${created.id}`, { body: { endDate: '2026-12-20' } });
    expect(changed.status).toBe(409);
    const texts = await call(`PATCH /leave_requests/${created.id}`, { body: { reasonForLeave: 'Other' } });
    expect(texts.json[0]).toMatchObject({ status, reasonForLeave: 'Other' });
  },
);

test('balances are strings for one role and numbers in the list, and unlimited leave has no balance', async () => {
  const { call } = startSimulator();
  const jury = { companyLeaveType: 'jury', isBalanceUnlimited: false };
  expect((await call('GET /leave_balances/r2')).json).toEqual({
    role: 'r2',
    balances: [
      {
        companyLeaveType: 'vac',
        isBalanceUnlimited: false,
        balanceWithFutureRequests: '120.00',
        balanceWithoutFutureRequests: '120.00',
      },
      { companyLeaveType: 'sick', isBalanceUnlimited: true },
      { ...jury, balanceWithFutureRequests: '120.00', balanceWithoutFutureRequests: '120.00' },
    ],
  });
  const { json } = await call('GET /leave_balances');
  expect(json.map((one: { role: string }) => one.role)).toEqual(['r1', 'r2']);
  expect(json[0].balances[0].balanceWithFutureRequests).toBe(120);
  expect((await call('GET /leave_balances/unknown')).status).toBe(404);
});

test('pending and approved leave lowers the balance, and declined leave does not', async () => {
  const { call, clock } = startSimulator();
  const vacation = async () => {
    const [balance] = (await call('GET /leave_balances/r2')).json.balances;
    return [balance.balanceWithFutureRequests, balance.balanceWithoutFutureRequests];
  };
  const [kept] = (await call('POST /leave_requests', { body: BODY })).json;
  const [lost] = (await call('POST /leave_requests', { body: BODY })).json;
  expect(await vacation()).toEqual(['79.00', '120.00']);
  await call(`POST /leave_requests/${lost.id}/process?action=decline`);
  await call(`POST /leave_requests/${kept.id}/process?action=approve`);
  expect(await vacation()).toEqual(['99.50', '120.00']);
  clock.ms = Date.UTC(2026, 11, 24);
  expect(await vacation()).toEqual(['99.50', '99.50']);
});
