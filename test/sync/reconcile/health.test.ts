import { expect, it } from 'vitest';
import { roleId } from '../../../shared/domain/ids.ts';
import { createTrendStore } from '../../../shared/store/connection-states.ts';
import type { Platform, Platforms } from '../../../shared/sync/ports/platform.ts';
import type { Lease } from '../../../shared/sync/ports/reconcile.ts';
import { checkHealth, findProblems, recordTrend } from '../../../shared/sync/reconcile/levels.ts';
import { MemoryTable } from '../../../simulate/table.ts';
import { CONNECTION, createWorld, failure, START_MS } from './support/world.ts';

const DAY_MS = 24 * 3_600_000;

it('the daily check records its last success and its last failure', async () => {
  const world = await createWorld();
  expect(await checkHealth(world.connection, world.ports)).toEqual({
    goodAtMs: START_MS,
    holder: { user: expect.any(String) },
  });
  world.advance(DAY_MS);
  world.platform.failing = (kind) => (kind === 'me' ? 401 : undefined);
  await checkHealth(world.connection, world.ports);
  expect(await world.ports.health.read(CONNECTION)).toEqual({
    goodAtMs: START_MS,
    lastFailure: {
      atMs: START_MS + DAY_MS,
      message: expect.stringMatching(/401.*Contact the person who installed the app.*the platform user is/),
      refused: true,
    },
    holder: { user: expect.any(String) },
  });
  world.advance(DAY_MS);
  world.platform.failing = () => undefined;
  expect(await checkHealth(world.connection, world.ports)).toMatchObject({
    goodAtMs: START_MS + 2 * DAY_MS,
    lastFailure: { atMs: START_MS + DAY_MS },
  });
});

it('a failure of the platform counts as a failure of the daily check, but an internal error does not', async () => {
  const world = await createWorld();
  const failing = (error: Error) => ({
    ...world.ports,
    platforms: {
      open: async () => {
        throw error;
      },
    },
  });
  const refused = failing(failure('unauthorized'));
  expect(await checkHealth(world.connection, refused)).toMatchObject({ lastFailure: { atMs: START_MS } });
  await expect(checkHealth(world.connection, failing(new Error('ours')))).rejects.toThrow('ours');
});

const at = (day: string) => new Date(START_MS + Number(day) * DAY_MS).toISOString().slice(0, 10);

/** Runs the daily check for a user with these roles: `stays`, `terminated`, or the day on which the role ends. */
async function checked(...roles: readonly string[]) {
  const world = await createWorld();
  const people = {
    ...world.ports.people,
    ofUser: async () => roles.map((_, index) => ({ role: roleId(String(index)) }) as never),
  };
  const employee: Platform['employee'] = async (role) => {
    const given = roles[Number(role)] ?? '';
    const ends = { stays: {}, terminated: { state: 'TERMINATED' } }[given] ?? { endDate: at(given) };
    return { role, fields: new Map(), ...ends };
  };
  const open: Platforms['open'] = async (...args) => ({
    ...(await world.ports.platforms.open(...args)),
    holder: 'user-ann',
    employee,
  });
  const ports = { ...world.ports, people, platforms: { open } };
  const { holder } = await checkHealth(world.connection, ports);
  const found = await findProblems(world.connection, ports);
  return {
    holder,
    holderLeaves: found.some(({ subject, count }) => subject === 'credential' && count > 0),
  };
}

it.each([
  ['is no known employee', [], undefined, false],
  ['stays', ['stays'], undefined, false],
  ['leaves in 29 days', ['29'], '29', true],
  ['leaves in 60 days', ['60'], '60', false],
  ['has left', ['terminated'], '0', true],
  ['has left one of two roles', ['terminated', 'stays'], undefined, false],
  ['leaves both roles, the second one in 60 days', ['terminated', '60'], '60', false],
] as const)(
  'the daily check stores the user and the last day, and the levels show an early end, for a user who %s',
  async (_, roles, day, leaves) => {
    const lastDay = day === undefined ? {} : { lastDay: at(day) };
    expect(await checked(...roles)).toEqual({
      holder: { user: 'user-ann', ...lastDay },
      holderLeaves: leaves,
    });
  },
);

it('the daily check succeeds and keeps the stored user if it cannot read the employee of the user', async () => {
  const world = await createWorld();
  const people = { ...world.ports.people, ofUser: async () => [{ role: roleId('0') } as never] };
  const open: Platforms['open'] = async (...args) => ({
    ...(await world.ports.platforms.open(...args)),
    holder: 'user-ann',
    employee: async () => {
      throw failure('unavailable');
    },
  });
  const known = { goodAtMs: 1, holder: { user: 'user-ann', lastDay: at('29') } };
  await world.ports.health.write(CONNECTION, known);
  expect(await checkHealth(world.connection, { ...world.ports, people, platforms: { open } })).toEqual({
    ...known,
    goodAtMs: START_MS,
  });
});

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
type World = Awaited<ReturnType<typeof createWorld>>;
const error = (code: string) => ({ lastError: { code, message: code, atMs: START_MS } });
const dirty =
  (hours: number, over: object = {}) =>
  (world: World) =>
    world.link('g', { dirtySince: world.ports.clock() - hours * HOUR_MS, ...over });
const gate =
  (state: 'open' | 'backoff' | 'unauthorized' | 'paused', minutes: number) => async (world: World) => {
    const sinceMs = world.ports.clock() - minutes * MINUTE_MS;
    const { gates } = world.ports;
    await gates.write(CONNECTION, await gates.read(CONNECTION), { state, closings: 1, sinceMs });
  };
const unread = async ({ ports: { feed, leases } }: World) => {
  const lease = (await leases.take(CONNECTION, 'feed', { nowMs: START_MS, lengthMs: 1 })) as Lease;
  await feed.begin(CONNECTION, lease);
  const readAtMs = START_MS - 2 * DAY_MS;
  const position = { cursor: null, recentIds: [], lastEventAt: null, readAtMs, writtenAtMs: readAtMs };
  await feed.write(CONNECTION, { ...position, needsSweep: false }, lease);
};
const refused = { atMs: START_MS, message: 'answered 401', refused: true };
const health = (seen: object) => (world: World) => world.ports.health.write(CONNECTION, { ...seen });

it.each<[string, readonly ((world: World) => Promise<unknown>)[], readonly string[]]>([
  ['nothing waits', [], []],
  ['a change waits for 50 minutes', [dirty(0.8)], []],
  ['a change waits for two hours', [dirty(2)], ['waiting']],
  ['a change waits while the connection is paused', [dirty(2), gate('paused', 90)], ['waiting']],
  ['a change waits because of a closed gate', [dirty(2), gate('backoff', 90)], ['gate']],
  ['a change waits because of a long outage', [dirty(7), gate('backoff', 90)], ['gate']],
  ['a gate has just closed', [dirty(2), gate('backoff', 5)], []],
  ['a gate closes again and again', [dirty(7), gate('backoff', 5)], ['waiting']],
  ['the backlog of an outage is applied', [dirty(5), gate('open', 20)], []],
  ['the backlog of an outage still waits after an hour', [dirty(5), gate('open', 70)], ['waiting']],
  ['the platform refuses the credential', [gate('unauthorized', 1)], ['gate']],
  ['the daily check finds a refused credential', [health({ lastFailure: refused })], ['gate']],
  ['a new credential is accepted', [health({ lastFailure: refused, goodAtMs: START_MS })], []],
  ['the daily check meets an outage', [health({ lastFailure: { atMs: START_MS, message: '503' } })], []],
  ['the credential has not been checked', [health({ goodAtMs: START_MS - 3 * DAY_MS })], ['credential']],
  ['the credential was checked a day ago', [health({ goodAtMs: START_MS - DAY_MS })], []],
  ['the platform refuses removals', [dirty(2, error('removals_refused'))], ['access']],
  ['the platform keeps users', [dirty(2, error('kept'))], ['access']],
  ['the platform lists too few groups', [dirty(2, error('missing_held'))], []],
  ['the platform refused the group for good', [dirty(2, { failedAt: START_MS })], []],
  ['removals are held', [dirty(2, { removals: { sets: [{ decision: { kind: 'waiting' } }] } })], ['hold']],
  ['a name is in use', [dirty(2, { settled: 'name_clash' })], ['name_clash']],
  ['the feed was not read for two days', [unread], ['feed']],
  ['a pause stops all checks', [unread, health({ goodAtMs: 1 }), gate('paused', 1)], []],
])('if %s, people are told once', async (_, states, subjects) => {
  const world = await createWorld();
  for (const state of states) await state(world);
  const found = await findProblems(world.connection, world.ports);
  expect(found.filter(({ count }) => count > 0).map(({ subject }) => subject)).toEqual(subjects);
});

it('waiting groups count since the first change of the group that waits longest', async () => {
  const world = await createWorld();
  const since = (hours: number) => ({ dirtySince: START_MS - hours * HOUR_MS });
  for (const [id, hours] of Object.entries({ g: 2, h: 4, i: 3 })) await world.link(id, since(hours));
  const found = await findProblems(world.connection, world.ports);
  const problem = { subject: 'waiting', count: 3, sinceMs: START_MS - 4 * HOUR_MS };
  expect(found).toContainEqual(expect.objectContaining(problem));
});

const GROUPS = [
  { holdWaits: true, dirtySinceMs: 1 },
  { failedAtMs: 1, dirtySinceMs: 1 },
  { dirtySinceMs: 1 },
  {},
];

it('the trend has one entry for each hour of the last day, and no entry for an hour in which nothing ran', async () => {
  const trends = createTrendStore(new MemoryTable());
  let nowMs = 1_000 * HOUR_MS;
  const pages = async function* (page: readonly unknown[]) {
    yield page;
  };
  const index = { all: () => pages(GROUPS), pending: () => pages([1, 2]) } as never;
  const record = () => recordTrend(CONNECTION, { index, trends, clock: () => nowMs });
  await record();
  nowMs += HOUR_MS / 2;
  await record();
  nowMs += 3 * HOUR_MS;
  await record();
  const counts = { held: 1, failed: 1, waiting: 1, pending: 2 };
  expect(await trends.read(CONNECTION)).toEqual([
    { atMs: 1_000 * HOUR_MS, ...counts },
    { atMs: 1_003 * HOUR_MS, ...counts },
  ]);
  nowMs += 22 * HOUR_MS;
  await record();
  expect((await trends.read(CONNECTION)).map(({ atMs }) => atMs / HOUR_MS)).toEqual([1_003, 1_025]);
});
