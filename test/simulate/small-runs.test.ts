import { expect, it, vi } from 'vitest';
import { PERMISSIONS } from '../../infra/permissions.ts';
import { verifyAudit } from '../../shared/operate/verify-audit.ts';
import { NO_PAIRS, type PastPairs } from '../../simulate/checks/past.ts';
import { drawRun } from '../../simulate/draw.ts';
import { CRASH_POINTS, crashPoints } from '../../simulate/draw-crashes.ts';
import { allStoresOver } from '../../simulate/engine.ts';
import { execute, type Outcome } from '../../simulate/execute.ts';
import { DAY_MS, type Happening, HOUR_MS, type LambdaName } from '../../simulate/simulation-run.ts';
import { PATIENCE_MS, runs } from '../support/engine/runs.ts';

/** Makes every group large, because only the registers of a large group contain copies of their users. */
vi.mock('../../shared/sync/tuning.ts', async (original) => ({
  ...(await original<typeof import('../../shared/sync/tuning.ts')>()),
  LARGE_GROUP: 1,
}));

/** The table calls of each function, in the form `function operation table` or `function operation index`. */
const asked = vi.hoisted(() => new Set<string>());
vi.mock('../../simulate/engine.ts', async (original) => {
  const engine = await original<typeof import('../../simulate/engine.ts')>();
  const tableOf: typeof engine.tableOf = (table, { effect, ...worker }, faultOf) => {
    const [actor] = worker.name.split('-');
    const received = (kind: string) => {
      asked.add(`${actor} ${kind.replace(/ (?!index).*/, ' table')}`);
      return effect(kind);
    };
    return engine.tableOf(table, { ...worker, effect: received }, faultOf);
  };
  return { ...engine, tableOf };
});
const ACTIONS: Readonly<Record<string, string>> = {
  ...{ get: 'BatchGetItem', getMany: 'BatchGetItem', query: 'Query', scan: 'Scan' },
  ...{ put: 'PutItem', update: 'UpdateItem', delete: 'DeleteItem' },
};

/** The seeds of simulation runs that together meet every kind of effect, except the effects in `SELDOM`. */
const SEEDS = [1, 2, 3, 6, 7, 8, 11];
/** Returns the fixed seeds. A deep test has `count` seeds instead. */
const seedsOf = (count: number): readonly number[] =>
  count > SEEDS.length ? Array.from({ length: count }, (_, at) => at + 1) : SEEDS;
/** Effects that are too rare in a small simulation run of a day. */
const SELDOM = [
  ...[
    'apply:getMany GROUP',
    'apply:getMany DRIFT#',
    'apply:SendMessageBatch apply',
    'pump:update M#',
    'feed:put DRIFT#',
  ],
  ...['scim:put USER', 'scim:update USER'],
  ...['operator:SendMessageBatch events', 'operator:DeleteMessageBatch eventsDlq'],
];

/** The functions that do not crash in these runs. Only `npm run simulate -- --directory` reads a directory. */
const NOT_RUN: readonly LambdaName[] = ['health', 'directory'];
const POINTS = (Object.keys(CRASH_POINTS) as LambdaName[])
  .filter((lambda) => !NOT_RUN.includes(lambda))
  .flatMap((lambda) => crashPoints(lambda).map((effect) => ({ lambda, effect })));
const nameOf = ({ lambda, effect }: (typeof POINTS)[number]) => `${lambda}:${effect}`;

/** Draws a simulation run of a day, and adds a crash before each of these effects. */
function runWith(seed: number, points: typeof POINTS) {
  const run = drawRun(seed, { days: 1, scale: 'small' });
  const connection = run.connections[0]?.name ?? '';
  const crashes = points.map((point, index): Happening => {
    const atMs = Math.round(((index + 1) * (DAY_MS - 2 * HOUR_MS)) / (points.length + 1));
    return { atMs, connection, actor: 'aws', action: { kind: 'crash', ...point, nth: 1 } };
  });
  return { ...run, happenings: [...run.happenings, ...crashes].toSorted((a, b) => a.atMs - b.atMs) };
}

/** Expects that no audit entry is missing or changed. */
async function expectWholeAudit({ cloud }: Outcome) {
  const { audit, index } = allStoresOver(cloud.table);
  for (const connection of cloud.connections.keys())
    for await (const page of index.all(connection as never))
      for (const { ref } of page)
        expect(await verifyAudit(ref, { audit, clock: cloud.nowMs })).toMatchObject({ broken: null });
}

const addPairs = (pairs: PastPairs, { figures }: Outcome) => {
  for (const name of Object.keys(pairs) as (keyof PastPairs)[]) pairs[name] += figures[name];
};
const uncertainShare = ({ certain, uncertain, unread }: PastPairs) =>
  uncertain / (certain + uncertain + unread);

it(
  'without faults of AWS and the platform, and over takeovers, at most 2 % of the members of the past are uncertain',
  async () => {
    const pairs = { ...NO_PAIRS };
    for (const seed of [2, 3]) {
      const run = drawRun(seed, { days: 1, scale: 'small' });
      const happenings = run.happenings.filter(({ actor }) => actor !== 'aws' && actor !== 'platform');
      const outcome = await execute({ ...run, happenings });
      expect(outcome.violations).toEqual([]);
      expect(outcome.fired.has('takeover:scim')).toBe(seed === 3);
      addPairs(pairs, outcome);
    }
    expect(pairs.moments).toBeGreaterThan(500);
    expect(uncertainShare(pairs)).toBeLessThan(0.02);
  },
  PATIENCE_MS,
);

it(
  'small simulation runs with crashes before every kind of effect that is not rare have no violation',
  async () => {
    const met = new Set<string>();
    const pairs = { ...NO_PAIRS };
    const missing = () => POINTS.filter((point) => !met.has(`crash:${nameOf(point)}`));
    for (const seed of seedsOf(runs(SEEDS.length).numRuns)) {
      const outcome = await execute(runWith(seed, missing()));
      expect(outcome.violations, `simulation run ${seed}`).toEqual([]);
      await expectWholeAudit(outcome);
      for (const name of outcome.fired.keys()) met.add(name);
      addPairs(pairs, outcome);
    }
    expect(pairs.moments).toBeGreaterThan(1_000);
    expect(uncertainShare(pairs)).toBeLessThan(0.05);
    expect(
      missing()
        .map(nameOf)
        .filter((name) => !SELDOM.includes(name)),
    ).toEqual([]);
  },
  PATIENCE_MS,
);

it('each function makes only table calls that its IAM role permits', () => {
  const refused = [...asked].filter((one) => {
    const [actor = '', verb = '', on] = one.split(' ');
    const name = /pump|feed|sweep|health/.test(actor) ? 'reconcile' : actor;
    if (!(name in PERMISSIONS)) return false;
    const { index, table } = PERMISSIONS[name as keyof typeof PERMISSIONS];
    return !(on === 'index' ? index : table).includes(ACTIONS[verb] as never);
  });
  expect(asked.size).toBeGreaterThan(30);
  expect(refused).toEqual([]);
});
