import { expect, it } from 'vitest';
import type { PlatformFailure } from '../../../shared/sync/ports/platform.ts';
import type { FeedEvent, FeedPage } from '../../../shared/sync/ports/reconcile.ts';
import { followFeed } from '../../../shared/sync/reconcile/feed.ts';
import { CONNECTION, createWorld, failure, START_MS, type World } from './support/world.ts';

const DAY_MS = 24 * 3_600_000;
const MINUTE_MS = 60_000;

const event = (id: string, over: Partial<FeedEvent> = {}): FeedEvent => ({
  id,
  at: new Date(START_MS - 1_000).toISOString(),
  groups: ['company-1' as never],
  initiator: 'ROLE',
  type: 'EXTERNAL_GROUP_MEMBER_ADD',
  ...over,
});
const page = (events: readonly FeedEvent[], next: string | null, done = false): FeedPage => ({
  events,
  next,
  done,
});

type Script = (start: { cursor?: string; sinceMs?: number }) => readonly (FeedPage | PlatformFailure)[];

async function worldWith(script: Script, settings = {}) {
  const starts: { cursor?: string; sinceMs?: number }[] = [];
  const world = await createWorld({
    settings,
    activity: async function* (start) {
      starts.push(start);
      for (const answer of script(start)) {
        if (answer instanceof Error) throw answer;
        yield answer;
      }
    },
  });
  return { world, starts };
}

const run = (world: World, minutes = 10) =>
  followFeed(world.connection, world.ports, world.ports.clock() + minutes * MINUTE_MS);

it('the first run of the feed begins 89 days back, and the next run continues at the cursor', async () => {
  const { world, starts } = await worldWith(() => [page([event('a')], 'c1', true)]);
  await run(world);
  await run(world);
  expect(starts).toEqual([{ sinceMs: START_MS - 89 * DAY_MS }, { cursor: 'c1' }]);
});

it('a feed run does not start while another run has the lease, and can start immediately after that run', async () => {
  const { world } = await worldWith(() => [page([], 'c1', true)]);
  await world.ports.leases.take(CONNECTION, 'feed', { nowMs: START_MS, lengthMs: MINUTE_MS });
  expect(await run(world)).toBeUndefined();
  world.advance(MINUTE_MS + 1);
  expect(await run(world)).toBeDefined();
  expect(await run(world)).toBeDefined();
});

it('a feed run cannot write after its lease has expired and another run has begun', async () => {
  let wakeUp = () => {};
  const asleep = new Promise<void>((resolve) => {
    wakeUp = resolve;
  });
  const world = await createWorld({
    activity: async function* () {
      await asleep;
      yield page([event('a')], 'stale', true);
    },
  });
  const paused = run(world);
  await new Promise(setImmediate);
  world.advance(17 * MINUTE_MS);
  const later = await world.ports.leases.take(CONNECTION, 'feed', {
    nowMs: world.ports.clock(),
    lengthMs: MINUTE_MS,
  });
  expect(await world.ports.feed.begin(CONNECTION, later as never)).toEqual({ position: undefined });
  wakeUp();
  await expect(paused).rejects.toThrow('suspended for too long');
  expect(await world.ports.feed.read(CONNECTION)).toBeUndefined();
});

it('a feed run that reaches its time limit keeps the pages that it has read, and the next run continues after them', async () => {
  const { world, starts } = await worldWith(({ cursor }) => {
    world.advance(MINUTE_MS);
    return cursor === 'c10'
      ? [page([event('z')], 'c11', true)]
      : Array.from({ length: 10 }, (_, n) => page([event(`e${n}`)], `c${n + 1}`));
  });
  const first = await run(world, 0.5);
  expect(first?.report).toMatchObject({ eventsRead: 10, cursor: 'c10' });
  const second = await run(world, 10);
  expect(second?.report).toMatchObject({ eventsRead: 1, cursor: 'c11' });
  expect(starts.at(-1)).toEqual({ cursor: 'c10' });
});

it('a feed run that fails keeps the events from before the failure, and reports both the events and the failure', async () => {
  const { world } = await worldWith(({ cursor }) =>
    cursor === undefined
      ? [page([event('a')], 'c1'), failure('throttled', 429)]
      : [failure('throttled', 429)],
  );
  const done = await run(world);
  expect(done).toMatchObject({ report: { eventsRead: 1, cursor: 'c1' }, failure: { kind: 'throttled' } });
  expect(done?.sweep).toBeUndefined();
});

it.each([
  ['a status 4xx', failure('rejected', 400), 0],
  ['a status 404', failure('not_found', 404), 0],
  ['an error in an answer 200', failure('unavailable', 200), 0],
  ['a status 500 for over an hour', failure('unavailable', 500), 61],
  ['a status 403 for over an hour', failure('forbidden', 403), 61],
])(
  'after a cursor is refused with %s, a feed run reads the gap once by date, and a sweep follows',
  async (_, refusal, minutes) => {
    const { world, starts } = await worldWith(({ cursor }) =>
      cursor === 'c1'
        ? [refusal]
        : [page([event('a'), ...(starts.length > 1 ? [event('b')] : [])], 'c1', true)],
    );
    await run(world);
    if (minutes > 0) expect((await run(world))?.failure).toBe(refusal);
    world.advance(minutes * MINUTE_MS);
    const done = await run(world);
    expect(starts.at(-1)).toEqual({ sinceMs: START_MS - 1_000 });
    expect(done?.report.eventsRead).toBe(1);
    expect(done?.sweep).toBeDefined();
    expect((await world.ports.feed.read(CONNECTION))?.needsSweep).toBe(false);
  },
);

it('the next run sweeps a gap if the sweep of the earlier run failed', async () => {
  const { world, starts } = await worldWith(({ cursor }) =>
    cursor === 'c1' && starts.length === 2 ? [failure('rejected', 400)] : [page([], 'c1', true)],
  );
  await run(world);
  world.platform.listing = () => 500;
  await expect(run(world)).rejects.toMatchObject({ kind: 'unavailable' });
  world.platform.listing = () => undefined;
  expect((await run(world))?.sweep).toBeDefined();
  expect((await run(world))?.sweep).toBeUndefined();
});

it('after a gap of more than 89 days, the feed starts again and a sweep follows', async () => {
  const { world, starts } = await worldWith(() => [page([], 'c1', true)]);
  await run(world);
  world.advance(DAY_MS);
  expect((await run(world))?.sweep).toBeUndefined();
  world.advance(89 * DAY_MS);
  expect((await run(world))?.sweep).toBeUndefined();
  world.advance(89 * DAY_MS + 1);
  expect((await run(world))?.sweep).toBeDefined();
  expect(starts.at(-1)).toEqual({ sinceMs: START_MS + 90 * DAY_MS + 1 });
});

it('the search for a usable cursor ends even if the platform refuses every cursor', async () => {
  const { world, starts } = await worldWith(({ cursor }) =>
    cursor === undefined ? [page([event('a')], 'c1'), failure('rejected', 400)] : [failure('rejected', 400)],
  );
  expect(await run(world)).toMatchObject({ failure: { kind: 'rejected' } });
  expect(starts.length).toBeLessThan(10);
});

it('a feed event about a version that groupsync wrote marks no group as suspected and wakes no group', async () => {
  const { world } = await worldWith(() => [page([event('a')], 'c1', true)]);
  await world.link('g');
  expect((await run(world))?.report).toMatchObject({ eventsRead: 1, groupsTouched: 1, echoes: 1 });
  expect((await world.state('g')).suspectedChange).toBeUndefined();
  expect(world.woken).toEqual([]);
});

it.each([
  ['that are unmanaged', {}, undefined],
  ['that an operator released', { released: true }, undefined],
  ['that the settings exclude', {}, { groups: { exclude: ['g'] } }],
])('groups %s are counted but not woken when the feed names them', async (title, extra, settings) => {
  const { world } = await worldWith(() => [page([event('a')], 'c1', true)], settings);
  if (title === 'that are unmanaged') world.stranger('g');
  else await world.link('g', extra);
  world.change('g');
  expect((await run(world))?.report).toMatchObject({ eventsRead: 1, groupsTouched: 1, echoes: 0 });
  expect(world.woken).toEqual([]);
});

it('a feed run reads few groups by id, and many groups from one list unless the company is very large', async () => {
  const many = Array.from({ length: 21 }, (_, n) => `g${n}`);
  const { world, starts } = await worldWith(() => {
    const touched = starts.length === 1 ? many.slice(0, 1) : many;
    return [
      page(
        touched.map((id) => event(`${id}-${starts.length}`, { groups: [world.idOf(id)] })),
        `c${starts.length}`,
        true,
      ),
    ];
  });
  for (const id of many) await world.link(id);
  world.change('g0');
  await run(world);
  expect(world.calls()).toEqual([`get ${world.idOf('g0')}`]);
  await run(world);
  expect(world.calls().slice(1)).toEqual(['list']);
  expect(world.woken).toEqual(['g0', 'g0']);
  for (let n = many.length; n < 50 * many.length; n += 1) world.stranger(`of another ${n}`);
  await run(world);
  await run(world);
  expect(world.calls().slice(2)).toEqual(['list', ...many.map((id) => `get ${world.idOf(id)}`)]);
});

it('the group collects the events of several runs until apply has read the group', async () => {
  const { world, starts } = await worldWith(() => [
    page(
      [event(`e${starts.length}`, { initiator: starts.length === 1 ? 'ROLE' : 'SYSTEM' })],
      `c${starts.length}`,
      true,
    ),
  ]);
  await world.link('g');
  world.change('g');
  await run(world);
  world.change('g', 'Theirs again');
  await run(world);
  const { suspectedChange, dirtySinceMs } = await world.state('g');
  const version = world.platform.groups.get(world.idOf('g'))?.version;
  expect(suspectedChange).toMatchObject({ version, activityEvents: [{ id: 'e1' }, { id: 'e2' }] });
  expect(dirtySinceMs).toBe(START_MS);
});

it('a view that was read before a second suspected change does not settle the second change', async () => {
  const { world } = await worldWith(() => [page([event('a')], 'c1', true)]);
  await world.link('g');
  world.change('g');
  await run(world);
  const seen = await world.state('g');
  const at = { nowMs: START_MS, wakeAtMs: START_MS, isAtOnce: true };
  const next = { version: 'v2' as never, activityEvents: [], atMs: (seen.suspectedChange?.atMs ?? 0) + 1 };
  expect(await world.ports.groups.noteSuspected(seen, next, at)).toBe(true);
  // The view was prepared for the first suspected change, so it does not settle the second one.
  const view = await world.ports.groups.prepareView(seen, 'i1' as never, {
    name: '',
    spokeId: null,
    users: new Map(),
  });
  const link = { id: seen.link?.id as never, version: 'v1' as never, view };
  expect(await world.ports.groups.storeObserved(seen, { link })).toBe(false);
  expect((await world.state('g')).suspectedChange?.version).toBe('v2');
});

it('an external group with the spokeId of a linked group is recorded once, as a duplicate', async () => {
  const { world } = await worldWith(() => [
    page([event('x', { groups: ['company-3' as never], type: 'EXTERNAL_GROUP_ADD' })], null, true),
  ]);
  await world.link('g');
  expect(world.stranger('g')).toBe('company-3');
  await run(world);
  await run(world);
  expect(await world.drift()).toMatchObject([
    {
      kind: 'duplicate_spoke_id',
      group: 'g',
      before: 'company-1',
      after: 'company-3',
      initiator: 'ROLE',
      settledBy: 'report',
    },
  ]);
  expect(world.woken).toEqual([]);
});

it('an external group with the spokeId of a missing group is not recorded as a duplicate', async () => {
  const { world } = await worldWith(() => [
    page([event('x', { groups: ['company-3' as never], type: 'EXTERNAL_GROUP_ADD' })], null, true),
  ]);
  await world.link('g');
  world.lose('g');
  expect(world.stranger('g')).toBe('company-3');
  await run(world);
  expect(await world.drift()).toEqual([]);
});
