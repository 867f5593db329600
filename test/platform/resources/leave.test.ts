import { expect, it } from 'vitest';
import { InvalidRequestError, UnexpectedBodyError } from '../../../shared/platform/errors.ts';
import { collect, rig } from '../support/platform-client.ts';

const NEW = { role: 'r1', companyLeaveType: 'clt-1', startDate: '2026-12-01', endDate: '2026-12-02' };

it.each<[string, unknown]>([
  ['an array with one leave request', [{ id: 'l1', status: 'PENDING' }]],
  ['a leave request', { id: 'l1', status: 'PENDING' }],
])('the client reads %s from each of the three endpoints', async (_, body) => {
  const { client } = await rig(() => ({ body }));
  const expected = { id: 'l1', status: 'PENDING' };
  await expect(client.leave.requests.create(NEW)).resolves.toEqual(expected);
  await expect(client.leave.requests.update('l1', { reasonForLeave: 'sun' })).resolves.toEqual(expected);
  await expect(client.leave.requests.process('l1', 'decline')).resolves.toEqual(expected);
});

it.each<[string, unknown]>([
  ['an empty array', []],
  ['an array with two leave requests', [{ id: 'l1' }, { id: 'l2' }]],
  ['an array in an array', [[{ id: 'l1' }]]],
])('the client refuses %s as the answer', async (_, body) => {
  const { client } = await rig(() => ({ body }));
  await expect(client.leave.requests.create(NEW)).rejects.toBeInstanceOf(UnexpectedBodyError);
});

it.each<[number | string, string]>([
  [4, '4'],
  [3.5, '3.5'],
  ['3.50', '3.5'],
  ['0', '0'],
])('the client sends %j custom hours as the text %j', async (hours, text) => {
  const { client, platform } = await rig(() => ({ body: [{ id: 'l1' }] }));
  await client.leave.requests.create({ ...NEW, startDateCustomHours: hours });
  expect(JSON.parse(platform.seen[0]?.text ?? '')).toEqual({ ...NEW, startDateCustomHours: text });
});

it('the client reads custom hours as numbers from a number or a text', async () => {
  const { client } = await rig(() => ({
    body: { id: 'l1', startDateCustomHours: 4.5, endDateCustomHours: '3.50' },
  }));
  await expect(client.leave.requests.process('l1', 'approve')).resolves.toEqual({
    id: 'l1',
    startDateCustomHours: 4.5,
    endDateCustomHours: 3.5,
  });
});

it.each<[string, object]>([
  ['an invalid date', { startDate: '2026-02-30' }],
  ['a time without an offset', { startDateStartTime: '2026-12-01T09:00:00' }],
  ['hours that are not a number', { startDateCustomHours: 'four' }],
  ['negative hours', { startDateCustomHours: '-1' }],
  ['an unknown status', { status: 'DECLINED' }],
  ['an unknown field', { comments: 'x' }],
])('the client refuses to send %s', async (_, wrong) => {
  const { client, platform } = await rig(() => ({ body: [{ id: 'l1' }] }));
  await expect(client.leave.requests.create({ ...NEW, ...wrong })).rejects.toBeInstanceOf(
    InvalidRequestError,
  );
  expect(platform.seen).toEqual([]);
});

it.each([
  ['20.123456789012345678', '20.123456789012345678'],
  ['"12.50"', '12.5'],
  ['7', '7'],
  ['-0.10', '-0.1'],
  ['1e2', '100'],
  ['null', null],
])('the client reads the amount %s exactly', async (json, expected) => {
  const body = `{"role":"r1","balances":[{"companyLeaveType":"c1","balanceWithFutureRequests": ${json}}]}`;
  const bodies = [body, `[${body}]`];
  const { client } = await rig((_, index) => ({ body: bodies[index] ?? '[]' }));
  const balance = {
    role: 'r1',
    balances: [{ companyLeaveType: 'c1', balanceWithFutureRequests: expected }],
  };
  await expect(client.leave.balances.get('r1')).resolves.toEqual(balance);
  expect(await collect(client.leave.balances.list())).toEqual([balance]);
});
