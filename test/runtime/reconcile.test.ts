import { expect, it, vi } from 'vitest';
import { eachConnection } from '../../shared/runtime/each-connection.ts';
import { type ReconcileTaskPorts, runReconcile } from '../../shared/runtime/run-reconcile.ts';
import { ThrottledError } from '../../shared/sync/ports/store-errors.ts';
import { seededRandom } from '../../simulate/random.ts';
import { createWorld, failure, type World } from '../sync/reconcile/support/world.ts';

function tasks(world: World) {
  const notified: string[] = [];
  const found: Parameters<typeof runReconcile>[2]['found'] = new Map();
  const notifier = {
    prefix: 'prod',
    targets: ['webhook'],
    send: async (_: unknown, about?: { readonly subject: string }) => {
      notified.push(about?.subject ?? '');
      return new Map();
    },
  };
  const ports = { ...world.ports, notifier } as never as ReconcileTaskPorts;
  const deadlineMs = world.ports.clock() + 60_000;
  return {
    found,
    notified,
    run: (task: 'pump' | 'feed' | 'sweep' | 'health') =>
      runReconcile(world.connection, { task }, { ports, found, deadlineMs }),
  };
}

const event = {
  id: 'a',
  at: null,
  groups: ['company-3' as never],
  initiator: 'ROLE',
  type: 'EXTERNAL_GROUP_ADD',
};

it('the notify task sends a test message only if it is not silent', async () => {
  const { connection, ports } = await createWorld();
  const send = vi.fn(async () => new Map());
  const told = { ...ports, notifier: { prefix: 'prod', targets: ['webhook'], send } };
  const on = { ports: told as never, found: new Map(), deadlineMs: 0 };
  for (const silent of [true, false]) {
    const report = await runReconcile(connection, { task: 'notify', silent }, on);
    expect(report).toEqual({ notified: [{ target: 'webhook', failure: null }] });
    expect(send).toHaveBeenCalledTimes(silent ? 0 : 1);
  }
});

it('the requeue job does its other work before it fails because of an invalid item', async () => {
  const world = await createWorld();
  await world.link('g', { dirtySince: 1 }, 1);
  await world.table.put({
    pk: 'U#default#u',
    sk: 'USER',
    member: 'u',
    floor: 7,
    gpk: 'fanOuts#default#0',
    gsk: 'u',
  });
  const { run, found } = tasks(world);
  await expect(run('pump')).rejects.toThrow('could not be handled (1): user u: expected a directory user');
  expect(world.woken).toEqual(['g']);
  expect([...found.keys()]).toEqual(['default']);
});

it('if one connection uses the whole time of a run, a later run begins with another connection', async () => {
  const names = ['a', 'b', 'c', 'd'];
  const first = new Set<string>();
  const random = seededRandom(1);
  for (let run = 0; run < 40; run += 1) {
    const seen: string[] = [];
    await eachConnection(
      {
        connections: { list: async () => names.map((name) => ({ name })) } as never,
        only: undefined,
        logger: { info() {}, error() {} } as never,
        random: () => random.next(),
      },
      async ({ name }) => seen.push(name),
    );
    expect([...seen].sort()).toEqual(names);
    first.add(seen[0] ?? '');
  }
  expect(first.size).toBe(names.length);
});

it('a connection that the table throttled is tried again after all others', async () => {
  const order: string[] = [];
  const connections = { list: async () => ['a', 'b'].map((name) => ({ name })) } as never;
  const error = vi.fn();
  const logger = { info() {}, error } as never;
  const round = { connections, only: undefined, logger, random: () => order.length };
  const { failure } = await eachConnection(round, async ({ name }) => {
    order.push(name);
    if (order.filter((one) => one === 'a').length < 2) throw new ThrottledError('throttled');
    return {};
  });
  expect(order).toEqual(['a', 'b', 'a', 'b']);
  expect([failure, error.mock.calls.length]).toEqual([undefined, 2]);
});

it.each([1, 4, 16])('a run works on at most %i connections at once, and on each once', async (atOnce) => {
  const names = Array.from({ length: 40 }, (_, at) => `c${at}`);
  const seen: string[] = [];
  let running = 0;
  let most = 0;
  const connections = { list: async () => names.map((name) => ({ name })) } as never;
  const logger = { info() {}, error() {} } as never;
  await eachConnection({ connections, only: undefined, logger, atOnce }, async ({ name }) => {
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    seen.push(name);
  });
  expect([...seen].sort()).toEqual([...names].sort());
  expect(most).toBe(atOnce);
});

it('a run of the feed returns its report and counts duplicates', async () => {
  const world = await createWorld({
    activity: async function* () {
      yield { events: [event], next: 'c1', done: true };
    },
  });
  await world.link('g');
  expect(world.stranger('g')).toBe(event.groups[0]);
  const { run } = tasks(world);
  expect(await run('feed')).toEqual({
    connection: 'default',
    eventsRead: 1,
    groupsTouched: 1,
    echoes: 0,
    drift: {},
    restored: 0,
    reported: 0,
    adopted: 0,
    orphans: 0,
    missing: 0,
    unsearchedUsers: 0,
    reenqueued: 0,
    cursor: 'c1',
    durationMs: 0,
  });
  world.advance(1_000);
  expect(await run('feed')).toMatchObject({ drift: { duplicate_spoke_id: 1 }, reported: 1 });
});

it('if reading the feed fails halfway, the run counts the events that it has read, and fails', async () => {
  const world = await createWorld({
    activity: async function* ({ cursor }: { cursor?: string }) {
      if (cursor === undefined) yield { events: [event], next: 'c1', done: false };
      throw failure('throttled', 429);
    } as never,
  });
  const { run } = tasks(world);
  await expect(run('feed')).rejects.toThrow('reading the feed failed after 1 events of 1 groups');
});

it('a run of the feed reports the sweep that a gap in the feed caused', async () => {
  const world = await createWorld({
    activity: async function* ({ cursor }: { cursor?: string }) {
      if (cursor !== undefined) throw failure('rejected', 400);
      yield { events: [], next: 'c1', done: true };
    } as never,
  });
  for (const group of ['a', 'b']) await world.link(group).then(() => world.lose(group));
  const { run, notified } = tasks(world);
  await run('feed');
  expect(await run('feed')).toMatchObject({ missing: 2, groupsTouched: 2 });
  expect(notified).toEqual(['missing']);
});

it('a sweep returns its report', async () => {
  const world = await createWorld();
  await world.link('g');
  expect(await tasks(world).run('sweep')).toMatchObject({ groupsTouched: 1, echoes: 1, missing: 0 });
});
