import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { staticBearer } from '../../shared/platform/credential.ts';
import { PlatformError } from '../../shared/platform/errors.ts';
import { createGroupClient } from '../../shared/platform/group-client.ts';
import { createSimulatedPlatform, PLAIN_TRAITS } from '../../simulate/platform/platform.ts';
import { seededRandom } from '../../simulate/random.ts';
import {
  DAY_MS,
  HOUR_MS,
  MINUTE_MS,
  type PlatformFault,
  START_MS,
  type Traits,
} from '../../simulate/simulation-run.ts';

/** Creates a clock that advances only when all tasks wait. */
function createTime() {
  let nowMs = START_MS;
  const sleepers: { readonly atMs: number; readonly wake: () => void }[] = [];
  const wakeNext = (untilMs: number) => {
    sleepers.sort((one, other) => one.atMs - other.atMs);
    const next = sleepers[0];
    if (next === undefined || next.atMs > untilMs) return false;
    sleepers.shift();
    nowMs = Math.max(nowMs, next.atMs);
    next.wake();
    return true;
  };
  return {
    clock: () => nowMs,
    sleep: (ms: number) => new Promise<void>((wake) => sleepers.push({ atMs: nowMs + ms, wake })),
    async pass(ms: number) {
      const untilMs = nowMs + ms;
      do await turn();
      while (wakeNext(untilMs));
      nowMs = untilMs;
    },
    /** Returns the result of the work, or the class, status and waiting time of its error. */
    async outcome(work: Promise<unknown>): Promise<unknown> {
      let result: { readonly value: unknown } | undefined;
      void work.then(
        (value) => {
          result = { value };
        },
        (error: unknown) => {
          const { name, status, retryAfterMs } = error as PlatformError;
          result = { value: error instanceof PlatformError ? { name, status, retryAfterMs } : error };
        },
      );
      while (result === undefined) {
        await turn();
        if (result === undefined) wakeNext(Number.POSITIVE_INFINITY);
      }
      return result.value;
    },
  };
}

const TOKEN = 'token-1';

function stage(traits: Partial<Traits> = {}, effect: () => Promise<void> = async () => undefined) {
  const time = createTime();
  const fired = new Map<string, number>();
  const platform = createSimulatedPlatform({
    company: 'co',
    clock: time.clock,
    random: seededRandom(7),
    sleep: time.sleep,
    traits: { ...PLAIN_TRAITS, ...traits },
    people: ['a', 'b', 'c'].map((role) => ({ role, email: `${role}@co.test` })),
    rotates: true,
    runLog: {
      log: () => undefined,
      fired: (name) => fired.set(name, (fired.get(name) ?? 0) + 1),
      violated: () => undefined,
    },
  });
  platform.tokens.add(TOKEN);
  const worker = { name: 'apply-1', skewMs: 0, effect, isDead: () => false };
  const dispatcher = platform.dispatcherFor(worker);
  const clientWith = (credential: Parameters<typeof createGroupClient>[0]['credential']) =>
    createGroupClient({
      baseUrl: 'https://co.test/base',
      credential,
      clock: time.clock,
      random: () => 0,
      sleep: time.sleep,
      maxAttempts: 1,
      dispatcher,
    });
  const client = clientWith(staticBearer(TOKEN));
  const create = (spokeId: string, users: readonly string[] = ['u-a', 'u-b'], name = ` ${spokeId} Crew `) =>
    client.groups.create({ name, spokeId, users });
  const outcome = (work: Promise<unknown>) => time.outcome(work);
  const feed = async () => {
    const events = [];
    for await (const page of client.activity.follow({ sinceMs: START_MS - DAY_MS }))
      events.push(...page.events);
    return events;
  };
  return { ...time, platform, fired, dispatcher, clientWith, client, create, outcome, feed };
}
type Stage = ReturnType<typeof stage>;
const held = ({ platform }: Stage, spokeId: string) =>
  [...platform.groups.values()].find((group) => group.spokeId === spokeId);

/**
 * A call during a platform fault, with its expected outcome. The platform has the groups d1 (users u-a, u-b) and d2.
 */
interface Case {
  readonly platformFault: PlatformFault;
  readonly about?: readonly string[];
  readonly act: (stage: Stage, id: string) => Promise<unknown>;
  readonly outcome: unknown;
  readonly users?: readonly string[];
}
const patch =
  (users: readonly string[]) =>
  ({ client, platform }: Stage, id: string) =>
    client.groups.patch(id, { users, version: platform.groups.get(id)?.version ?? '' });
const removal = patch(['u-a']);
const failed = (name: string, status?: number, retryAfterMs?: number) => ({ name, status, retryAfterMs });
const BEFORE = ['u-a', 'u-b'];
const AFTER = ['u-a'];
const list = ({ client }: Stage) => client.groups.list().then((all) => all.map(({ spokeId }) => spokeId));
const get = ({ client }: Stage, id: string) => client.groups.get(id);

const CASES: readonly Case[] = [
  {
    platformFault: 'drops_users',
    about: ['u-c'],
    act: patch(['u-a', 'u-c']),
    outcome: { users: AFTER },
    users: AFTER,
  },
  { platformFault: 'keeps_users', about: ['u-b'], act: removal, outcome: { users: BEFORE }, users: BEFORE },
  {
    platformFault: 'refuses_user_422',
    about: ['u-c'],
    act: patch(['u-c']),
    outcome: failed('BadRequestError', 422),
    users: BEFORE,
  },
  {
    platformFault: 'refuses_name',
    act: ({ client, platform }, id) =>
      client.groups.patch(id, { name: 'Team', version: platform.groups.get(id)?.version ?? '' }),
    outcome: { name: 'BadRequestError' },
    users: BEFORE,
  },
  {
    platformFault: 'refuses_spoke_id',
    act: ({ client, platform }, id) =>
      client.groups.patch(id, { spokeId: 'd3', version: platform.groups.get(id)?.version ?? '' }),
    outcome: { name: 'BadRequestError' },
    users: BEFORE,
  },
  { platformFault: 'answers_lag', act: removal, outcome: { users: BEFORE }, users: AFTER },
  { platformFault: 'answers_lack_users', about: ['u-a'], act: removal, outcome: { users: [] }, users: AFTER },
  { platformFault: 'answers_lack_users', about: ['u-a'], act: get, outcome: { users: ['u-b'] } },
  { platformFault: 'answers_404', act: get, outcome: failed('NotFoundError', 404) },
  { platformFault: 'answers_404', act: removal, outcome: failed('NotFoundError', 404), users: BEFORE },
  {
    platformFault: 'deletes_ignored',
    act: ({ client }, id) => client.groups.delete(id).then((deleted) => ({ deleted })),
    outcome: { deleted: expect.stringMatching(/deleted|absent/) },
    users: BEFORE,
  },
  { platformFault: 'answers_other_group', act: removal, outcome: { spokeId: 'd2' }, users: AFTER },
  { platformFault: 'answers_html', act: removal, outcome: failed('UnexpectedBodyError', 200), users: AFTER },
  { platformFault: 'answers_half', act: removal, outcome: failed('UnexpectedBodyError', 200), users: AFTER },
  { platformFault: 'list_denies', about: ['d1'], act: list, outcome: ['d2'] },
  { platformFault: 'get_denies', about: ['d1'], act: get, outcome: failed('NotFoundError', 404) },
  { platformFault: 'list_shows_odd_group', act: list, outcome: ['d1', 'd2', null] },
  { platformFault: 'list_times_out', act: list, outcome: failed('TimeoutError') },
  { platformFault: 'writes_503', act: removal, outcome: failed('ServerError', 503), users: BEFORE },
  { platformFault: 'writes_403', act: removal, outcome: failed('ForbiddenError', 403), users: BEFORE },
  { platformFault: 'writes_302', act: removal, outcome: failed('UnexpectedStatusError', 302), users: BEFORE },
  { platformFault: 'everything_503', act: ({ client }) => client.me(), outcome: failed('ServerError', 503) },
  {
    platformFault: 'throttles',
    about: ['7'],
    act: removal,
    outcome: { retryAfterMs: 7_000 },
    users: BEFORE,
  },
  { platformFault: 'throttles', about: ['7200'], act: list, outcome: { retryAfterMs: 15 * 60_000 } },
  { platformFault: 'throttles', about: ['date'], act: list, outcome: { retryAfterMs: 60_000 } },
  { platformFault: 'slow', act: removal, outcome: failed('TimeoutError'), users: AFTER },
  { platformFault: 'loses_answers', act: removal, outcome: failed('NetworkError'), users: AFTER },
  { platformFault: 'late_writes', act: removal, outcome: failed('TimeoutError'), users: BEFORE },
  { platformFault: 'wrong_route', act: list, outcome: [] },
  { platformFault: 'wrong_route', act: get, outcome: failed('NotFoundError', 404) },
  { platformFault: 'token_revoked', act: list, outcome: failed('UnauthorizedError', 401) },
  { platformFault: 'feed_missing', act: ({ feed }) => feed(), outcome: [] },
  { platformFault: 'refuses_connection', act: removal, outcome: failed('NetworkError'), users: BEFORE },
];

it.each(CASES)(
  'the platform fault $platformFault takes effect, is counted, and ends after its duration',
  async ({ platformFault, about, act, outcome, users }) => {
    const world = stage();
    const { id } = (await world.outcome(world.create('d1', BEFORE))) as { id: string };
    await world.outcome(world.create('d2', []));
    world.platform.begin({ kind: 'platformFault', platformFault, forMs: HOUR_MS, ...(about && { about }) });

    const got = await world.outcome(act(world, id));
    if (Array.isArray(outcome)) expect(got).toEqual(outcome);
    else expect(got).toMatchObject(outcome as object);
    expect(world.fired.get(`platformFault:${platformFault}`)).toBeGreaterThan(0);
    expect(world.platform.calls.some(({ platformFaults }) => platformFaults.includes(platformFault))).toBe(
      true,
    );
    if (users !== undefined) expect(held(world, 'd1')?.users).toEqual(users);

    await world.pass(2 * HOUR_MS);
    const count = world.fired.get(`platformFault:${platformFault}`);
    expect(await world.outcome(removal(world, id))).toMatchObject({ users: AFTER });
    expect(world.fired.get(`platformFault:${platformFault}`)).toBe(count);
  },
);

it('during late_writes, a write may take effect up to a minute after its call failed', async () => {
  const world = stage();
  world.platform.begin({ kind: 'platformFault', platformFault: 'late_writes', forMs: HOUR_MS });
  const begunMs = world.clock();
  await world.outcome(world.create('d1'));
  expect(world.clock() - begunMs).toBe(10_000);
  world.platform.calm();
  expect(world.platform.groups.size).toBe(0);
  await world.pass(MINUTE_MS);
  expect(held(world, 'd1')?.users).toEqual(BEFORE);
  expect(world.platform.writes).toMatchObject([
    { action: 'create', late: true, by: 'apply-1', token: TOKEN },
  ]);
});

it('feed_malformed makes an entry malformed, and the entry stays malformed after the fault', async () => {
  const world = stage();
  await world.outcome(world.create('d1'));
  world.platform.begin({ kind: 'platformFault', platformFault: 'feed_malformed', forMs: HOUR_MS });
  const ids = async () => ((await world.outcome(world.feed())) as { id: string }[]).map(({ id }) => id);
  const shown = await ids();
  expect(shown.length).toBeLessThan(3);
  world.platform.calm();
  expect(await ids()).toEqual(shown);
});

it('after feed_forgets, the platform refuses an earlier cursor and accepts a later cursor', async () => {
  const world = stage();
  await world.outcome(world.create('d1'));
  const cursorAt = async (start: Parameters<typeof world.client.activity.follow>[0]) => {
    const pages = [];
    for await (const { next } of world.client.activity.follow(start)) pages.push(next);
    return { cursor: pages.at(-1) ?? '' };
  };
  const before = (await world.outcome(cursorAt({ sinceMs: START_MS }))) as { cursor: string };
  await world.pass(MINUTE_MS);
  world.platform.begin({ kind: 'platformFault', platformFault: 'feed_forgets', forMs: MINUTE_MS });
  expect(await world.outcome(cursorAt(before))).toHaveProperty('status');
  await world.pass(2 * MINUTE_MS);
  expect(await world.outcome(cursorAt(before))).toHaveProperty('status');
  const after = (await world.outcome(cursorAt({ sinceMs: START_MS }))) as { cursor: string };
  expect(await world.outcome(cursorAt(after))).toEqual(after);
});

it('during list_cut, the list lacks its end or a part in the middle', async () => {
  const world = stage();
  const ids = ['d1', 'd2', 'd3', 'd4'];
  for (const id of ids) await world.outcome(world.create(id));
  world.platform.begin({ kind: 'platformFault', platformFault: 'list_cut', forMs: HOUR_MS });
  const lists: string[][] = [];
  for (let left = 12; left > 0; left -= 1) lists.push((await world.outcome(list(world))) as string[]);
  expect(lists.every((one) => one.length < ids.length)).toBe(true);
  expect(lists.some((one) => one.at(-1) !== 'd4')).toBe(true);
  expect(lists.some((one) => one.at(-1) === 'd4' && one.length > 1)).toBe(true);
  expect(world.fired.get('platformFault:list_cut')).toBe(12);
});
