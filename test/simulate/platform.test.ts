import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { staticBearer } from '../../shared/platform/credential.ts';
import { PlatformError } from '../../shared/platform/errors.ts';
import { createGroupClient } from '../../shared/platform/group-client.ts';
import { createSimulatedPlatform, PLAIN_TRAITS } from '../../simulate/platform/platform.ts';
import { seededRandom } from '../../simulate/random.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, type PlatformFault, START_MS } from '../../simulate/simulation-run.ts';
import { createTime, type Time } from '../../simulate/time.ts';

/** Runs the work in simulated time. Returns its result, or the class, status and waiting time of its error. */
async function outcomeOf(work: Promise<unknown>, time: Time): Promise<unknown> {
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
    if (result === undefined) await time.run(time.nowMs() + 1_000);
  }
  return result.value;
}

const TOKEN = 'token-1';

function stage() {
  const time = createTime(START_MS);
  const pass = (ms: number) => time.run(time.nowMs() + ms);
  const outcome = (work: Promise<unknown>) => outcomeOf(work, time);
  const fired = new Map<string, number>();
  const platform = createSimulatedPlatform({
    company: 'co',
    clock: time.nowMs,
    random: seededRandom(7),
    sleep: time.sleep,
    traits: PLAIN_TRAITS,
    runLog: {
      log: () => undefined,
      fired: (name) => fired.set(name, (fired.get(name) ?? 0) + 1),
      violated: () => undefined,
    },
  });
  platform.tokens.add(TOKEN);
  const worker = { name: 'apply-1', skewMs: 0, effect: async () => undefined, isDead: () => false };
  const client = createGroupClient({
    baseUrl: 'https://co.test/base',
    credential: staticBearer(TOKEN),
    clock: time.nowMs,
    random: () => 0,
    sleep: time.sleep,
    maxAttempts: 1,
    dispatcher: platform.dispatcherFor(worker),
  });
  const create = (spokeId: string, users: readonly string[] = BEFORE) =>
    client.groups.create({ name: `${spokeId} Crew`, spokeId, users });
  const feed = async () => {
    const events = [];
    for await (const page of client.activity.follow({ sinceMs: START_MS - DAY_MS }))
      events.push(...page.events);
    return events;
  };
  return { clock: time.nowMs, pass, outcome, platform, fired, client, create, feed };
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
const change = (fields: object) => (stage: Stage, id: string) =>
  stage.client.groups.patch(id, { ...fields, version: stage.platform.groups.get(id)?.version ?? '' });
const removal = change({ users: ['u-a'] });
const failed = (name: string, status?: number, retryAfterMs?: number) => ({ name, status, retryAfterMs });
const BEFORE = ['u-a', 'u-b'];
const AFTER = ['u-a'];
const list = ({ client }: Stage) => client.groups.list().then((all) => all.map(({ spokeId }) => spokeId));
const get = ({ client }: Stage, id: string) => client.groups.get(id);

const CASES: readonly Case[] = [
  {
    platformFault: 'refuses_name',
    act: change({ name: 'Team' }),
    outcome: { name: 'BadRequestError' },
    users: BEFORE,
  },
  {
    platformFault: 'refuses_spoke_id',
    act: change({ spokeId: 'd3' }),
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
  { platformFault: 'answers_html', act: removal, outcome: failed('UnexpectedBodyError', 200), users: AFTER },
  { platformFault: 'answers_half', act: removal, outcome: failed('UnexpectedBodyError', 200), users: AFTER },
  { platformFault: 'list_denies', about: ['d1'], act: list, outcome: ['d2'] },
  { platformFault: 'list_shows_odd_group', act: list, outcome: ['d1', 'd2', null] },
  { platformFault: 'list_times_out', act: list, outcome: failed('TimeoutError') },
  { platformFault: 'writes_403', act: removal, outcome: failed('ForbiddenError', 403), users: BEFORE },
  { platformFault: 'writes_302', act: removal, outcome: failed('UnexpectedStatusError', 302), users: BEFORE },
  { platformFault: 'everything_503', act: ({ client }) => client.me(), outcome: failed('ServerError', 503) },
  { platformFault: 'throttles', about: ['date'], act: list, outcome: { retryAfterMs: 60_000 } },
  { platformFault: 'slow', act: removal, outcome: failed('TimeoutError'), users: AFTER },
  { platformFault: 'late_writes', act: removal, outcome: failed('TimeoutError'), users: BEFORE },
  { platformFault: 'wrong_route', act: list, outcome: [] },
  { platformFault: 'wrong_route', act: get, outcome: failed('NotFoundError', 404) },
  { platformFault: 'list_cut', act: list, outcome: expect.not.arrayContaining(['d1', 'd2']) },
  {
    platformFault: 'feed_malformed',
    act: ({ feed }) => feed(),
    outcome: [expect.objectContaining({ id: 'co-e3' })],
  },
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
