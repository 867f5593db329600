import { expect, it } from 'vitest';
import { MINUTE_MS } from '../../shared/domain/duration.ts';
import { formatTask, reportTasks } from '../../shared/operate/tasks.ts';
import { eachConnection } from '../../shared/runtime/each-connection.ts';
import { runPeople, runReconcile } from '../../shared/runtime/run-reconcile.ts';
import { underLease } from '../../shared/sync/under-lease.ts';
import { crashBeforeEachEffect, expectSuccessOrCrash } from '../sync/reconcile/support/crashing-worker.ts';
import { createWorld, START_MS, type World } from '../sync/reconcile/support/world.ts';

const everyMinutes = 60;

const people = (world: World, ports = world.ports) => runPeople(world.connection, { everyMinutes }, ports);
const isRun = (report: object | undefined) => report !== undefined && 'read' in report;
const row = async ({ connection, ports }: World, name: string) => {
  const rows = await reportTasks({ ...connection, connectedMs: 0 }, ports as never);
  const found = rows.find(({ task }) => task === name);
  if (found === undefined) throw new Error(`no row of ${name}`);
  return { state: found.state, next: found.next, text: formatTask(found) };
};

it('a refresh of people that is started every ten minutes runs once an hour', async () => {
  const world = await createWorld();
  const ran: number[] = [];
  for (let minute = 0; minute <= 180; minute += 10) {
    if (isRun(await people(world))) ran.push(minute);
    world.advance(10 * MINUTE_MS);
  }
  expect(ran).toEqual([0, 60, 120, 180]);
});

it('the failure of a removed connection is no failure of the next connection with its name', async () => {
  const world = await createWorld();
  world.platform.failing = () => 400;
  await people(world).catch(() => {});
  expect(await row(world, 'people')).toMatchObject({ state: 'failed' });
  world.advance(MINUTE_MS);
  const connection = { ...world.connection, connectedMs: world.ports.clock() };
  const [found] = await reportTasks(connection, world.ports as never);
  expect(found).toMatchObject({ state: expect.not.stringContaining('failed'), failure: null });
});

it('a refresh of people is repeated once after a failure, and after a second failure an hour later', async () => {
  const world = await createWorld();
  let fails = true;
  let asked = false;
  world.platform.failing = () => {
    asked = true;
    return fails ? 400 : undefined;
  };
  const tried: number[] = [];
  for (let minute = 0; minute <= 130; minute += 10) {
    asked = false;
    await people(world).catch(() => {});
    if (asked) tried.push(minute);
    fails = minute < 60;
    world.advance(10 * MINUTE_MS);
  }
  expect(tried).toEqual([0, 10, 70, 130]);
});

it('a refresh of people is repeated after a run that was killed before any effect, when its lease has ended', async () => {
  await crashBeforeEachEffect(async (crashing, where) => {
    const world = await createWorld();
    await expectSuccessOrCrash(people(world, world.portsOf(crashing)));
    world.advance(20 * MINUTE_MS);
    await people(world);
    expect(await row(world, 'people'), where).toMatchObject({ state: 'ended' });
  });
});

it('a task shows whether it runs, failed, ended or waits, and the command that helps', async () => {
  const world = await createWorld();
  const { connection, ports, platform } = world;
  expect(await row(world, 'sweep')).toEqual({
    state: 'waiting',
    next: 'groupsync reconcile --sweep',
    text: 'has not ended yet; waits for its next run',
  });
  const sweep = () =>
    runReconcile(
      connection,
      { task: 'sweep', everyMinutes },
      { ports: { ...ports, notifier: { targets: [] } } as never, found: new Map(), deadlineMs: Infinity },
    );
  await sweep();
  world.advance(3 * MINUTE_MS);
  expect(await row(world, 'sweep')).toEqual({ state: 'ended', next: null, text: 'ended 3 min ago' });
  world.advance(60 * MINUTE_MS);
  platform.failing = () => 400;
  await sweep().catch(() => {});
  const failed = await row(world, 'sweep');
  expect(failed).toMatchObject({ state: 'failed', next: 'groupsync reconcile --sweep' });
  expect(failed.text).toMatch(/^failed at 2\S+Z: .+; ended 63 min ago$/);
  platform.failing = () => undefined;
  world.advance(5 * MINUTE_MS);
  await underLease({ connection: connection.name, task: 'sweep' }, ports, async () => {
    const { text, ...running } = await row(world, 'sweep');
    expect(running).toEqual({ state: 'running', next: null });
    expect(text).toContain(`runs since ${new Date(START_MS + 68 * MINUTE_MS).toISOString().slice(0, 19)}Z`);
  });
  world.advance(56 * MINUTE_MS);
  expect(await row(world, 'sweep')).toMatchObject({ state: 'waiting', next: null });
  world.advance(3 * 60 * MINUTE_MS);
  expect(await row(world, 'sweep')).toMatchObject({
    state: 'waiting',
    next: 'groupsync reconcile --sweep',
  });
});

it('the last run of a task does not store what the platform answered', async () => {
  const world = await createWorld();
  world.platform.failing = () => 400;
  await people(world).catch(() => {});
  const { text } = await row(world, 'people');
  expect(text).toContain('failed at');
  expect(text).not.toMatch(/[{"]/);
});

const started = async (world: World, waits: number[], whileWaiting = async () => {}) => {
  const sleep = async (ms: number) => {
    waits.push(ms);
    world.advance(ms);
    await whileWaiting();
  };
  const { connection, ports } = world;
  const logger = { info() {}, warn() {}, error() {} } as never;
  const round = { connections: ports.connections, only: connection.name, logger, sleep };
  return eachConnection(round, (each) => runPeople(each, {}, ports));
};

it("an operator's run waits for another run for 30 s, and then says since when it works", async () => {
  const world = await createWorld();
  const waits: number[] = [];
  await underLease({ connection: world.connection.name, task: 'people' }, world.ports, async () => {
    const since = new Date(START_MS).toISOString();
    const skipped = `another run of people began at ${since} and has not ended`;
    expect(await started(world, waits)).toMatchObject({ reports: [{ skipped, since }] });
  });
  expect(waits.reduce((sum, ms) => sum + ms)).toBe(30_000);
});

it("an operator's run begins as soon as the other run ends, also if it is not due", async () => {
  const world = await createWorld();
  await people(world);
  const other = { connection: world.connection.name, task: 'people' } as const;
  let end = () => {};
  const running = underLease(other, world.ports, () => new Promise<void>((resolve) => (end = resolve)));
  const waits: number[] = [];
  const { reports } = await started(world, waits, async () => {
    end();
    await running;
  });
  expect(waits).toHaveLength(1);
  expect(reports).toMatchObject([{ read: expect.any(Number) }]);
});
