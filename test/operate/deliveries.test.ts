import { expect, it, vi } from 'vitest';
import type { DeliveryRow } from '../../shared/contract/answers/deliveries.ts';
import type { DeliveryOf } from '../../shared/domain/delivery.ts';
import { memberId } from '../../shared/domain/ids.ts';
import { isOf } from '../../shared/operate/deliveries.ts';
import { forgetMember } from '../../shared/operate/forget.ts';
import { reportDeliveries } from '../../shared/runtime/report.ts';
import { handleScim, type ScimPorts } from '../../shared/scim/server/handle.ts';
import { createToken } from '../../shared/scim/tokens/tokens.ts';
import { savedWorld } from '../support/operate/world.ts';

const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group';
const PATCH_OP = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
const HOUR_MS = 3_600_000;

/** A world with a scripted identity provider. Like the functions, it records each delivery before the answer. */
async function provider() {
  const world = await savedWorld();
  const { connection, clock } = world;
  const ports = world.ports as typeof world.ports & ScimPorts;
  const never = () => new Promise<void>(() => {});
  const record = (records: readonly DeliveryOf[]) =>
    reportDeliveries(records, { ...ports, sleep: never }, { warn: () => {} });
  const options = { expiresMs: clock.ms + HOUR_MS };
  const randomHex = (bytes: number) => '5'.repeat(bytes * 2);
  const { token, kept } = await createToken(connection.name, { ...ports, randomHex }, options);
  const send = async (method: string, path: string, body?: unknown, query = '') => {
    clock.ms += 1_000;
    const { reply, deliveries } = await handleScim(
      {
        method,
        path: `/scim/v2${path}`,
        query,
        headers: { authorization: `Bearer ${token}` },
        body: JSON.stringify(body),
        origin: 'https://scim.test',
      },
      ports,
    );
    await record(deliveries);
    return { status: reply.status, body: reply.body === '' ? undefined : JSON.parse(reply.body) };
  };
  const publish = async (...given: Parameters<typeof world.publish>) => {
    await record((await world.publish(...given)).deliveries);
  };
  return {
    ...world,
    client: kept.prefix,
    limiter: ports.limiter,
    send,
    publish,
    async deliver(id: string, ...given: Parameters<typeof world.publish>) {
      await publish(...given);
      await world.apply(id);
    },
    addUser: (userName: string) => send('POST', '/Users', { schemas: [USER], userName }),
    addGroup: (displayName: string, members: object[] = []) =>
      send('POST', '/Groups', { schemas: [GROUP], displayName, members }),
    patch: (path: string, ...Operations: object[]) =>
      send('PATCH', path, { schemas: [PATCH_OP], Operations }),
    find: (filter: string) => send('GET', '/Users', undefined, `filter=${encodeURIComponent(filter)}`),
    async deliveries(...args: string[]): Promise<readonly DeliveryRow[]> {
      return (await world.cli('deliveries', ...args, '--json')).json.deliveries;
    },
  };
}

it('deliveries shows each mistake of an identity provider with its reason', async () => {
  const world = await provider();
  const ann = (await world.addUser('ann@acme.test')).body.id;
  const group = (await world.addGroup('Engineering', [{ value: ann }])).body.id;
  await world.addUser('ANN@acme.test');
  await world.patch('/Groups/unknown', { op: 'add', path: 'members', value: [{ value: ann }] });
  await world.send('GET', '/Users', undefined, 'filter=userName%20is%20x');
  await world.find('userName eq "bob@acme.test"');
  await world.find('title pr');
  await world.addGroup('Outer', [{ value: group, type: 'Group' }]);
  await world.patch(`/Groups/${group}`, { op: 'replace', path: 'members', value: [] });
  await world.patch(`/Users/${ann}`, { op: 'Replace', path: 'active', value: 'False' });
  await world.patch(`/Groups/${group}`, { op: 'add', path: 'members', value: [{ value: 'm-unknown' }] });
  await world.send('GET', `/Users/${ann}`);
  await world.publish(
    { type: 'group.upserted', data: { group: {} } },
    {
      type: 'group.member.added',
      data: { group: { id: 'g' }, members: [{ id: 'm-ann' }] },
      time: '2020-01-01T00:00:00Z',
    },
  );
  await world.publish({ type: 'user.upserted', data: { user: { id: 'm-eve' } } });
  world.clock.ms += HOUR_MS;
  await world.addUser('eve@acme.test');
  const rows = await world.deliveries();
  expect(
    rows.map(({ request, summary, outcome, status, code }) => [request, summary, outcome, status, code]),
  ).toEqual([
    ['POST Users', 'create user', 'accepted', 201, null],
    ['POST Groups', 'create group, all members: 1', 'accepted', 201, null],
    ['POST Users', 'create user', 'refused', 409, 'uniqueness'],
    ['PATCH Groups', 'add 1', 'refused', 404, null],
    ['GET Users', 'find user', 'refused', 400, 'invalidFilter'],
    ['GET Users', 'find user', 'not_found', 200, null],
    ['GET Users', 'find user', 'not_found', 200, null],
    ['POST Groups', 'create group, all members: 1', 'refused', 400, 'invalidValue'],
    ['PATCH Groups', 'all members: 0', 'accepted', 204, null],
    ['PATCH Users', 'account off', 'accepted', 200, null],
    ['PATCH Groups', 'add 1', 'accepted', 204, null],
    ['event', '', 'refused', null, 'invalid_event'],
    ['event', '', 'refused', null, 'too_old'],
    ['event', 'describe user', 'accepted', null, null],
    ['POST Users', 'create user', 'refused', 401, 'token_expired'],
  ]);
  expect(rows[5]?.filter).toMatchObject({ attribute: 'userName', operator: 'eq' });
  const outcomes = (some: readonly DeliveryRow[]) =>
    some.map(({ summary, outcome }) => `${summary} ${outcome}`);
  expect(outcomes(await world.deliveries('--member', 'm-unknown'))).toEqual(['add 1 accepted']);
  expect(outcomes(await world.deliveries('--group', 'Engineering', '--limit', '2'))).toEqual([
    'all members: 0 accepted',
    'add 1 accepted',
  ]);
  expect(outcomes(await world.deliveries('--status', 'token_expired'))).toEqual(['create user refused']);
  expect(await world.deliveries('--client', world.client, '--since', '30m')).toHaveLength(1);
  const { stdout } = await world.cli('deliveries', '--status', '409');
  expect(stdout).toContain('POST Users  create user');
  expect(JSON.stringify([...world.table.items.values()].filter(({ pk }) => pk.startsWith('D#')))).not.toMatch(
    /acme\.test/,
  );
});

it('the Home page of the console counts a refusal that arrived two seconds ago', async () => {
  const world = await provider();
  expect(await world.ask('deliverySurvey')).toMatchObject({ received: 0 });
  await world.find('nonsense');
  world.clock.ms += 1_000;
  vi.spyOn(world.limiter, 'take').mockReturnValue(1);
  expect((await world.find('nonsense')).status).toBe(429);
  world.clock.ms += 1_000;
  expect(await world.ask('deliverySurvey')).toMatchObject({ received: 1, refused: 1 });
});

it('deliveries shows one record for a message that is received twice', async () => {
  const world = await provider();
  const message = { type: 'user.upserted', data: { user: { id: 'm-ann', email: 'ann@acme.test' } } };
  await world.publish(message);
  const [first] = await world.deliveries();
  expect(first).toMatchObject({
    client: { kind: 'event', id: 'test' },
    summary: 'describe user',
    outcome: 'accepted',
  });
  const key = { pk: 'D#default#2026-11-20', sk: `${first?.at}#${first?.id}` };
  const expiresAt = (world.clock.ms + 30 * 24 * HOUR_MS) / 1_000;
  expect(world.table.look(key)).toMatchObject({ members: ['m-ann'], expiresAt });
});

it('the command deliveries says how they arrive if there are none, and that no delivery matches a filter', async () => {
  const world = await provider();
  const { code, stderr } = await world.cli('deliveries');
  expect([code, stderr]).toEqual([0, expect.stringContaining('messages of the events queue')]);
  await world.addUser('ann@acme.test');
  expect((await world.cli('deliveries', '--status', '404')).stderr).toContain('no deliveries match');
  expect(await world.cli('deliveries', '--since', 'soon')).toMatchObject({ code: 2 });
  world.clock.ms += 24 * HOUR_MS;
  await world.find('userName eq "bob@acme.test"');
  for (const [limit, complete] of [
    ['1', false],
    ['2', true],
  ] as const)
    expect((await world.cli('deliveries', '--limit', limit, '--json')).json).toMatchObject({ complete });
  world.clock.ms += 31 * 24 * HOUR_MS;
  expect(await world.deliveries()).toEqual([]);
});

it('forget deletes the deliveries that name the person or searched for the person', async () => {
  const world = await provider();
  await world.find('userName eq "ann@acme.test"');
  await world.find('externalId eq "hr-7"');
  await world.find('emails eq "ann@home.test"');
  const emails = ['ann@work.test', 'ann@old.test', 'ann@home.test'].map((value) => ({ value }));
  const person = { userName: 'ann@acme.test', externalId: 'hr-7', emails };
  const { id } = (await world.send('POST', '/Users', { schemas: [USER], ...person })).body;
  await world.find('userName eq "bob@acme.test"');
  expect(await forgetMember(world.connection.name, memberId(id), world.ports)).toMatchObject({
    deliveries: 4,
  });
  expect(await world.deliveries()).toMatchObject([{ outcome: 'not_found' }]);
});

it('a slow or failing table does not delay the answer, and each lost record is counted', async () => {
  const world = await provider();
  const delivery = { atMs: 1, client: { kind: 'scim', id: 'a' } } as DeliveryOf['delivery'];
  const records = [{ connection: world.connection.name, delivery }];
  const logged: unknown[] = [];
  const warn = (...line: unknown[]) => void logged.push(line);
  for (const record of [() => new Promise<boolean>(() => {}), () => Promise.reject(new Error('throttled'))])
    await reportDeliveries(
      records,
      { ...world.ports, deliveries: { record }, sleep: async () => {} },
      { warn },
    );
  expect(logged).toEqual(Array(2).fill(['deliveries not recorded', { count: 1 }]));
});

it('a change names the first delivery of its event, and the delivery names the write that it led to', async () => {
  const world = await provider();
  await world.hire('ann', 'bob');
  const ann = (await world.addUser('ann@acme.test')).body.id;
  const bob = (await world.addUser('bob@acme.test')).body.id;
  const group = (await world.addGroup('Engineering', [{ value: ann }])).body.id;
  await world.patch(`/Groups/${group}`, { op: 'add', path: 'members', value: [{ value: bob }] });
  await world.apply(group);
  const taken = {
    type: 'group.member.removed',
    id: 'e-9',
    data: { group: { id: 'g' }, members: [{ id: 'm-ann' }] },
  };
  await world.deliver(
    'g',
    { type: 'group.upserted', data: { group: { id: 'g', name: 'Legal' } } },
    {
      type: 'group.member.added',
      data: { group: { id: 'g' }, members: [{ id: 'm-ann', email: 'ann@acme.test' }] },
    },
  );
  await world.deliver('g', taken);
  world.clock.ms += HOUR_MS;
  await world.publish(taken);
  const { json } = await world.cli('log', '--json');
  const caused = json.entries.flatMap(
    ({ changes }: { changes: { event: object | null; member?: string }[] }) =>
      changes.filter(({ event, member }) => event !== null && member !== undefined),
  );
  const found = [];
  for (const { kind, member, event } of caused) {
    const [first] = await world.deliveries('--event', event.id);
    found.push([kind, member === bob ? 'bob' : 'ann', first?.request, first?.summary]);
  }
  expect(found).toEqual([
    ['add_member', 'ann', 'POST Groups', 'create group, all members: 1'],
    ['add_member', 'bob', 'PATCH Groups', 'add 1'],
    ['add_member', 'ann', 'event', 'add 1'],
    ['remove_member', 'ann', 'event', 'remove 1'],
  ]);
  const both = await world.deliveries('--event', 'e-9');
  expect(both.map(({ at }) => Date.parse(at))).toEqual([world.clock.ms - HOUR_MS, world.clock.ms]);
  const shown = await world.cli('deliveries', '--event', 'e-9');
  expect(shown.stderr).toContain('next: groupsync log --event e-9 --details');
  const log = await world.cli('log', '--event', 'e-9', '--details');
  expect(log.stdout).toContain('removed ann@acme.test (u-ann)');
  expect(log.stdout.trim().split('\n')).toHaveLength(2);
  expect(log.stderr).toContain('next: groupsync deliveries --event e-9');
  const delivery = encodeURIComponent(JSON.stringify(both[0]));
  const { entries } = await world.ask(`activity?delivery=${delivery}`);
  expect(entries).toMatchObject([
    { action: 'patch', changes: [{ kind: 'remove_member', event: { id: 'e-9' } }] },
  ]);
  const from = entries[0].changes[0].event.at;
  const page = await world.ask(`deliveries?event=e-9&from=${from}`);
  expect(page.deliveries.at(-1).at).toBe(both[0]?.at);
});

it('an event of the directory reader names the run that read it', async () => {
  const at = '2026-11-20T10:00:00.000Z';
  const run = { client: { kind: 'reader', id: 'directory' }, at, elapsedMs: 60_000, events: [] } as const;
  const readAt = (ms: number) => `${(Date.parse(at) + ms).toString(16).padStart(12, '0')}0123456789abcdef.s0`;
  expect([-1, 0, 60_000, 60_001].map((ms) => isOf(run, readAt(ms)))).toEqual([false, true, true, false]);
});
