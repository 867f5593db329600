import { expect, it } from 'vitest';
import { connectionName, memberId, roleId } from '../../shared/domain/ids.ts';
import { STAMP_ZERO } from '../../shared/domain/stamp.ts';
import { journalOf } from '../../shared/operate/journal.ts';
import { verifyAudit } from '../../shared/operate/verify-audit.ts';
import { createEraser } from '../../shared/store/eraser.ts';
import { pointerKey, pointerPartition } from '../../shared/store/keys.ts';
import { createLeases } from '../../shared/store/leases.ts';
import type { Item } from '../../shared/store/table.ts';
import { runCli } from '../support/cli/io.ts';
import { added, employee, group, removed, savedWorld } from '../support/operate/world.ts';

const ACME = connectionName('default');
const BOLT = connectionName('bolt');
/** Texts in the data of the first company: names of two people, of an operator and of a group, and an attribute. */
const OF_ACME = ['ann', 'bob', 'Ann Archer', 'Olga Operator', 'badge-77', 'Secret Projects'];

type World = Awaited<ReturnType<typeof twoCompanies>>;

/**
 * Creates two companies. Each has members, audit and drift records, a SCIM user, a SCIM token, and a claimed group. The
 * result also contains `cli`, which runs a command.
 */
async function twoCompanies() {
  const world = await savedWorld();
  const { ports, table } = world;
  await ports.connections.save({ ...world.connection, name: BOLT, company: 'bolt' });
  const actor = { kind: 'directory', id: 'm-ann', name: 'Ann Archer' } as const;
  for (const connection of [ACME, BOLT]) {
    const people = connection === ACME ? ['ann', 'bob'] : ['ivy'];
    for (const name of people) {
      await ports.people.save(connection, employee(name, `${name}@x.test`), undefined);
    }
    const members = people.map((name) => ({ id: `m-${name}`, email: `${name}@x.test`, badge: 'badge-77' }));
    const at = { connection, group: world.refOf('g').group };
    const joined = { type: 'group.member.added', data: { group: { id: 'g' }, members } };
    await world.publish(
      { type: 'group.upserted', data: { group: { id: 'g', name: 'Secret Projects' } }, connection },
      { ...joined, connection, actor: 'Olga Operator' },
    );
    for (const name of people) {
      const bound = { role: roleId(`r-${name}`), revision: 1, isFirst: false };
      await ports.people.bind(connection, memberId(`m-${name}`), bound);
    }
    await ports.audit.record(at, {
      ...{ atMs: world.clock.ms, intent: 'i' as never, action: 'patch', changes: [], changeCount: 0 },
      ...{ versionBefore: null, versionAfter: null, cause: 'ann@x.test', outcome: 'written', actor },
    });
    await ports.drift.record(connection, {
      ...{
        id: 'd',
        group: at.group,
        platformId: null,
        kind: 'name',
        before: 'a',
        after: 'b',
        initiator: 'ROLE',
      },
      ...{
        actor: { role: 'r-ann', name: 'Ann Archer' },
        eventIds: [],
        detectedAtMs: world.clock.ms,
      },
      ...{ settledBy: null, settledAtMs: null },
    });
    const resource = {
      type: 'User',
      id: 'm-ann',
      attributes: { userName: 'ann@x.test' },
      revision: 1,
    } as const;
    const times = {
      createdMs: 1,
      modifiedMs: 1,
      changedMs: 1,
      state: 'live',
      settled: true,
      version: 1,
      writes: new Map(),
      replacements: new Map(),
      listedAt: STAMP_ZERO,
    } as const;
    await ports.scim.save(connection, { ...resource, ...times }, undefined);
    await ports.scim.claim(connection, { type: 'User', attribute: 'userName', value: 'ann@x.test' }, 'm-ann');
    const token = { prefix: `t-${connection}`, connection, hash: 'h', createdMs: 1 };
    await ports.tokens.add(token);
    await ports.claims.claim('shared', `p-${connection}` as never, at);
  }
  const cli = (...args: string[]) => runCli([...args, '--json', '--yes'], { ports });
  const ofOthers = () => [...table.items.values()].filter((item) => /bolt/.test(JSON.stringify(item)));
  return { ...world, cli, ofOthers };
}

const textOf = (items: Iterable<Item>) => [...items].map((item) => JSON.stringify(item)).join('\n');

it('erasure leaves no name, address or attribute of the company in the table, and does not change another company', async () => {
  const { table, cli, ofOthers } = await twoCompanies();
  const before = textOf(ofOthers());
  for (const text of OF_ACME) expect(textOf(table.items.values()), text).toContain(text);
  const { code, json } = await cli('connections', 'remove', 'default', '--erase');
  expect(code).toBe(0);
  expect(json).toMatchObject({
    removed: 'default',
    erased: { directoryUsers: 4, employees: 4, scimTokens: 1 },
  });
  const rest = [...table.items.values()].filter((item) => !/bolt/.test(JSON.stringify(item)));
  for (const text of OF_ACME) expect(textOf(rest), text).not.toContain(text);
  expect(rest.map(({ sk }) => sk.split('#')[0]).sort()).toEqual(['ACT', 'JOURNAL', 'REMOVED']);
  expect(textOf(ofOthers())).toBe(before);
  expect((await cli('connections', 'remove', 'default', '--erase')).json.erased).toEqual({});
  expect((await cli('connections', 'remove', 'missing', '--erase')).code).toBe(1);
});

it('the erasure waits for a refresh of people that began before the removal, and erases what it stored', async () => {
  const { ports, table, clock } = await twoCompanies();
  const leases = createLeases(table);
  const lease = await leases.take(ACME, 'people', { nowMs: clock.ms, lengthMs: 16 * 60_000 });
  if (lease === undefined) throw new Error('expected a free lease');
  let sleeps = 0;
  const sleep = async (ms: number) => {
    clock.ms += ms;
    sleeps += 1;
    if (sleeps !== 3) return;
    await ports.people.save(ACME, employee('cid', 'cid@x.test'), undefined);
    await leases.release(ACME, lease, { atMs: clock.ms });
  };
  await runCli(['connections', 'remove', 'default', '--erase', '--yes'], { ports: { ...ports, sleep } });
  while (sleeps < 3) await sleep(1);
  expect(textOf(table.items.values())).not.toContain('cid@x.test');
});

it('the erasure stops if another operator connects the company again while it waits', async () => {
  const { ports, table, connection } = await twoCompanies();
  const sleep = async () => void (await ports.connections.replace(connection, undefined));
  const args = ['connections', 'remove', 'default', '--erase', '--yes'];
  const { code, stderr } = await runCli(args, { ports: { ...ports, sleep } });
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining('another operator connected default meanwhile'),
  ]);
  expect(await ports.connections.current(ACME)).toBeDefined();
  expect(textOf(table.items.values())).toContain('ann@x.test');
});

it('a second erasure succeeds if the first erasure crashed at any of its deletions', async () => {
  for (let dieAt = 0; ; dieAt += 1) {
    const { ports, table, cli } = await twoCompanies();
    let operations = 0;
    const eraser = createEraser({
      ...{ scan: table.scan.bind(table), update: table.update.bind(table) },
      delete: async (key: Item) =>
        operations++ === dieAt ? Promise.reject(new Error('died')) : table.delete(key),
    } as never);
    const first = await runCli(['connections', 'remove', 'default', '--erase', '--yes'], {
      ports: { ...ports, eraser },
    });
    if (first.code === 0) {
      expect(dieAt).toBeGreaterThan(15);
      return;
    }
    expect((await cli('connections', 'remove', 'default', '--erase')).code).toBe(0);
    const rest = [...table.items.values()].filter((item) => !/bolt/.test(JSON.stringify(item)));
    expect([...new Set(rest.map(({ sk }) => sk.split('#')[0]))].sort()).toEqual([
      'ACT',
      'JOURNAL',
      'REMOVED',
    ]);
  }
});

it('a company that is connected again after its erasure rejects events from before the erasure', async () => {
  const world = await twoCompanies();
  const { ports, clock, publish, refOf } = world;
  const late = new Date(clock.ms).toISOString();
  await world.cli('connections', 'remove', 'default', '--erase');
  clock.ms += 60_000;
  expect(await ports.connections.replace(world.connection, undefined)).toBe(true);
  const { rejected } = await publish({ ...group('g'), time: late }, { ...added('g', 'ann'), time: late });
  expect(rejected.map(({ code }) => code)).toEqual(['too_old', 'too_old']);
  expect(await ports.groups.read(refOf('g'))).toBeUndefined();
  expect((await publish(group('g'), added('g', 'eve'))).rejected).toEqual([]);
  expect((await verifyAudit(journalOf(ACME), ports)).broken).toBeNull();
  expect((await publish({ ...group('b'), time: late, connection: 'bolt' })).rejected).toEqual([]);
});

it('forget erases addresses and name from all items except the audit, even from an index item that a crash left', async () => {
  const { ports, table, cli } = await twoCompanies();
  const stray = pointerKey(pointerPartition(ACME, 'workEmail', 'archer@old.test'), roleId('r-ann'));
  await table.put({ ...stray, role: 'r-ann', revision: 1 });
  expect((await cli('person', 'm-ann')).json).toMatchObject({
    attributes: {
      email: { value: 'ann@x.test', at: '2026-11-20T10:00:00.000Z' },
      badge: { value: 'badge-77' },
    },
    values: { workEmail: 'ann@x.test' },
    scim: { userName: 'ann@x.test' },
  });
  const found = async (text: string) => (await cli('person', text)).json?.member;
  expect([await found('ANN@'), await found('zoe@')]).toEqual(['m-ann', undefined]);
  const { json } = await cli('forget', 'm-ann');
  expect(await found('ANN@')).toBeUndefined();
  expect(json.erased).toEqual({
    ...{ attributes: 2, scimResources: 1, valuesOfEmployee: 1, pointersToEmployees: 1, namesOfActors: 1 },
  });
  const rest = [...table.items.values()].filter(({ pk, sk }) => !/bolt/.test(pk) && !sk.startsWith('A#'));
  for (const text of ['ann@x.test', 'archer@old', 'Ann Archer'])
    expect(textOf(rest), text).not.toContain(text);
  expect(textOf(rest)).toContain('bob@x.test');
  expect((await ports.people.read(ACME, [roleId('r-ann')])).get(roleId('r-ann'))).toMatchObject({
    userId: 'u-ann',
  });
  expect((await cli('forget', 'm-ann')).json.erased).toMatchObject({ attributes: 0, valuesOfEmployee: 0 });
});

it.each([
  ['the same member', undefined, ''],
  ['an employee with the address of the member', 'r-other', 'ann@x.test'],
  ['the same employee', 'r-ann', 'another@x.test'],
])('forget names another connection that still has data of %s', async (_, role, address) => {
  const { ports, cli, publish } = await twoCompanies();
  expect((await cli('forget', 'm-bob')).json.others).toEqual([]);
  if (role === undefined) await publish({ ...added('g', 'ann'), connection: 'bolt' });
  else await ports.people.save(BOLT, { ...employee('x', address), role: roleId(role) }, undefined);
  expect((await cli('forget', 'm-ann')).json.others).toEqual(['bolt']);
});

it('forget erases the platform data of every role of the user, and keeps the data of another user', async () => {
  const { ports, table, cli } = await twoCompanies();
  const [ann] = await ports.people.ofUser(ACME, 'u-ann');
  const again = { ...employee('ann', 'ann.again@x.test'), role: roleId('r-ann-again') };
  await ports.people.save(ACME, again, undefined);
  await cli('forget', 'm-ann');
  const rest = textOf(
    [...table.items.values()].filter(({ pk, sk }) => !/bolt/.test(pk) && !sk.startsWith('A#')),
  );
  expect([ann?.role, rest.includes('ann.again@x.test'), rest.includes('bob@x.test')]).toEqual([
    'r-ann',
    false,
    true,
  ]);
  expect(await ports.people.ofUser(ACME, 'u-ann')).toHaveLength(2);
});

it('after forget, a late event restores no data, and a new employee can have the same address', async () => {
  const world = await twoCompanies();
  const { ports, table, publish, clock } = world;
  await publish(removed('g', 'ann'));
  const before = new Date(clock.ms + 1_000).toISOString();
  clock.ms += 60_000;
  await world.cli('forget', 'm-ann');
  const again = { id: 'm-ann', email: 'ann@x.test', phone: '5550' };
  await publish({ type: 'user.upserted', data: { user: again }, time: before });
  await publish({ ...added('g', 'ann'), time: '2026-11-01T00:00:00Z' });
  const user = (await ports.users.read(ACME, [memberId('m-ann')])).get(memberId('m-ann'));
  expect([...(user?.attributes ?? [])].map(([, { value }]) => value)).toEqual(['', '']);
  const isIn = async (member: string) =>
    (await ports.groups.members(world.refOf('g'))).some(
      (one) => one.member === member && one.value === 'present',
    );
  expect(await isIn('m-ann')).toBe(false);
  await ports.people.save(ACME, employee('new', 'ann@x.test'), undefined);
  await publish({
    type: 'group.member.added',
    data: { group: { id: 'g' }, members: [{ id: 'm-new', email: 'ann@x.test' }] },
  });
  await world.apply('g');
  const newcomer = (await ports.users.read(ACME, [memberId('m-new')])).get(memberId('m-new'));
  expect(newcomer?.role).toBe('r-new');
  const kept = [...table.items.values()].filter(({ pk }) => pk.startsWith('U#default#m-ann'));
  expect(textOf(kept)).not.toContain('5550');
});

const DAY_MS = 86_400_000;
/**
 * Advances the clock, deletes expired items as DynamoDB does, and runs the daily erasure of leavers for the next 30
 * days. @returns the members who still have attributes
 */
async function keepersAfter(days: number, { table, ports, clock }: World) {
  clock.ms += days * DAY_MS;
  table.expire(clock.ms);
  for (let day = 0; day < 30; day += 1) await ports.eraser.leavers(clock.ms + day * DAY_MS);
  const users = await ports.users.read(ACME, ['m-ann', 'm-bob', 'm-eve', 'm-dan'].map(memberId));
  return [...users.values()]
    .filter(({ attributes }) => [...attributes.values()].some(({ value }) => value !== ''))
    .map(({ member }) => member)
    .sort();
}

it('a person without a group has all attributes 395 days after the last event, and none after 435 days', async () => {
  const world = await twoCompanies();
  const { ports, table, publish, clock } = world;
  await publish(group('s'), added('s', 'eve'), group('d'), added('d', 'dan'));
  await ports.scim.remove(ACME, (await ports.scim.read(ACME, 'User', ['m-ann']))[0] as never);
  clock.ms += DAY_MS;
  const snapshot = { type: 'group.snapshot', data: { group: { id: 's', name: 's' }, members: [] } };
  await publish(removed('g', 'ann'), snapshot, { type: 'group.deleted', data: { group: { id: 'd' } } });
  const facts = { role: roleId('r-ann'), userId: 'u-ann', state: 'TERMINATED', fanOutDue: false };
  const seen = (await ports.people.read(ACME, [facts.role])).get(facts.role);
  await ports.people.save(ACME, { ...facts, values: seen?.values ?? new Map() }, seen);
  expect(await keepersAfter(395, world)).toEqual(['m-ann', 'm-bob', 'm-dan', 'm-eve']);
  await publish({ type: 'user.upserted', data: { user: { id: 'm-dan', email: 'dan@x.test' } } });
  expect(await keepersAfter(40, world)).toEqual(['m-bob', 'm-dan']);
  const kept = [...table.items.values()].filter(({ sk }) => !sk.startsWith('A#'));
  expect(textOf(kept)).not.toMatch(/default[^\n]*ann@x/);
  expect(await keepersAfter(435, world)).toEqual(['m-bob']);
  expect((await ports.users.read(ACME, [memberId('m-ann')])).get(memberId('m-ann'))?.role).toBe('r-ann');
});

it('an employee without a group keeps the address, and a later event with only the id finds the employee', async () => {
  const world = await twoCompanies();
  const { ports, publish } = world;
  await ports.people.save(ACME, employee('eve', 'eve@x.test'), undefined);
  await publish({ type: 'user.upserted', data: { user: { id: 'm-eve', email: 'eve@x.test' } } });
  expect(await keepersAfter(435, world)).toContain('m-eve');
  await publish({ type: 'group.member.added', data: { group: { id: 'g' }, members: [{ id: 'm-eve' }] } });
  await world.apply('g');
  const user = (await ports.users.read(ACME, [memberId('m-eve')])).get(memberId('m-eve'));
  expect(user?.role).toBe('r-eve');
});

it('a member keeps all addresses if only the second address matches an employee', async () => {
  const world = await twoCompanies();
  const { ports, publish } = world;
  const settings = { ...world.connection.settings, match: ['otherEmails=workEmail'] };
  await ports.connections.save({ ...world.connection, settings });
  await ports.people.save(ACME, employee('eve', 'eve@x.test'), undefined);
  const user = { id: 'm-eve', otherEmails: 'home@x.test eve@x.test' };
  await publish({ type: 'user.upserted', data: { user } });
  expect(await keepersAfter(435, world)).toContain('m-eve');
});

it('an employee without a group keeps the address while the settings of the connection cannot be read', async () => {
  const world = await twoCompanies();
  const { ports, publish, table, clock } = world;
  await ports.people.save(ACME, employee('eve', 'eve@x.test'), undefined);
  await publish({ type: 'user.upserted', data: { user: { id: 'm-eve', email: 'eve@x.test' } } });
  clock.ms += 435 * DAY_MS;
  table.expire(clock.ms);
  const { get } = table;
  table.get = async (key) => {
    if (key.sk === 'CONNECTION') throw new Error('the table did not answer');
    return get.call(table, key);
  };
  const eraser = createEraser(table);
  for (let day = 0; day < 30; day += 1) await eraser.leavers(clock.ms + day * DAY_MS);
  const member = memberId('m-eve');
  const stored = (await ports.users.read(ACME, [member])).get(member);
  expect(stored?.attributes.get('email')?.value).toBe('eve@x.test');
});
