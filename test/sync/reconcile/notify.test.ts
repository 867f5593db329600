import { expect, it } from 'vitest';
import { connectionName } from '../../../shared/domain/ids.ts';
import type { Finding, Notice } from '../../../shared/domain/notice.ts';
import { STAMP_ZERO } from '../../../shared/domain/stamp.ts';
import { runReconcile } from '../../../shared/runtime/run-reconcile.ts';
import { createNoticeStore } from '../../../shared/store/connection-states.ts';
import type { NoticeSubject, Notifier } from '../../../shared/sync/ports/notices.ts';
import { notify, notifyOfHour, notifyOfStage, notifyOfSweep } from '../../../shared/sync/reconcile/notify.ts';
import { MemoryTable } from '../../../simulate/table.ts';
import { CONNECTION, createWorld, START_MS } from './support/world.ts';

const QUARTER_MS = 15 * 60_000;
const HELD: readonly Finding[] = [{ subject: 'hold', count: 2, names: ['Engineering'] }];
const NONE_HELD: readonly Finding[] = [{ subject: 'hold', count: 0 }];
const BEGAN = 'prod default: groups held until an operator decides: 2';
const OVER = 'prod default: over: groups held until an operator decides';

function recordingTargets(failing: (target: string) => boolean = () => false) {
  const delivered: Notice[] = [];
  const clock = { ms: START_MS };
  const table = new MemoryTable();
  const targets = ['webhook', 'arn:aws:sns:eu-west-1:1:t'];
  const abouts: (NoticeSubject | undefined)[] = [];
  const send: Notifier['send'] = async (notice, about) => {
    delivered.push(notice);
    abouts.push(about);
    return new Map(targets.filter(failing).map((target) => [target, 'answered 500']));
  };
  const notifier = { prefix: 'prod', targets, send };
  return {
    delivered,
    abouts,
    clock,
    ports: { notices: createNoticeStore(table), notifier, clock: () => clock.ms },
  };
}

it('a finding causes one notification, for any number of workers and checks', async () => {
  const { delivered, abouts, clock, ports } = recordingTargets();
  for (let minute = 0; minute < 30; minute += 1) {
    await Promise.all([1, 2, 3].map(() => notify(HELD, ports, CONNECTION)));
    clock.ms += 60_000;
  }
  expect(delivered).toHaveLength(1);
  await notify(NONE_HELD, ports, CONNECTION);
  expect(delivered.map(([title]) => title)).toEqual([BEGAN, OVER]);
  expect(abouts.map((one) => [one?.subject, one?.endedMs])).toEqual([
    ['hold', undefined],
    ['hold', clock.ms],
  ]);
});

/** Sends the first notification, and stops before groupsync records the outcome. */
async function sendUnrecorded({ ports }: ReturnType<typeof recordingTargets>, found = HELD): Promise<void> {
  let writes = 0;
  const write: typeof ports.notices.write = async (...given) => {
    writes += 1;
    if (writes === 2) throw new Error('died');
    return ports.notices.write(...given);
  };
  const dying = { ...ports, notices: { ...ports.notices, write } };
  await expect(notify(found, dying, CONNECTION)).rejects.toThrow('died');
}

/** Runs the notification job four times, a quarter of an hour apart. */
async function lookForAnHour(
  { ports, clock }: ReturnType<typeof recordingTargets>,
  found: readonly Finding[],
) {
  for (let quarter = 0; quarter < 4; quarter += 1) {
    await notify(found, ports, CONNECTION);
    clock.ms += QUARTER_MS;
  }
}

it.each([
  ['the beginning of a finding is notified again', HELD, [BEGAN, BEGAN]],
  ['the end of a finding is notified', NONE_HELD, [BEGAN, OVER]],
])('%s if the worker stopped before it recorded the first outcome', async (_, found, titles) => {
  const world = recordingTargets();
  await sendUnrecorded(world);
  await lookForAnHour(world, found);
  expect(world.delivered.map(([title]) => title)).toEqual(titles);
});

it('a recurring finding is notified even if the outcome of its end notification was not recorded', async () => {
  const world = recordingTargets();
  await notify(HELD, world.ports, CONNECTION);
  world.clock.ms += QUARTER_MS;
  await sendUnrecorded(world, NONE_HELD);
  await lookForAnHour(world, HELD);
  expect(world.delivered.map(([title]) => title)).toEqual([BEGAN, OVER, BEGAN]);
});

it('the failure of a target is stored, and a notification that no target accepted is repeated', async () => {
  const isDown = { webhook: true, all: false };
  const { delivered, clock, ports } = recordingTargets(
    (target) => isDown.all || (target === 'webhook' && isDown.webhook),
  );
  await notify(HELD, ports, CONNECTION);
  const failure = { atMs: START_MS, message: 'webhook: answered 500' };
  expect((await ports.notices.read(CONNECTION)).lastFailure).toEqual(failure);
  clock.ms += QUARTER_MS;
  await notify(HELD, ports, CONNECTION);
  expect(delivered).toHaveLength(1);
  isDown.all = true;
  await notify([{ subject: 'gate', count: 1 }], ports, CONNECTION);
  Object.assign(isDown, { all: false, webhook: false });
  clock.ms += QUARTER_MS;
  await notify([{ subject: 'gate', count: 1 }], ports, CONNECTION);
  expect(delivered).toHaveLength(3);
  expect((await ports.notices.read(CONNECTION)).lastFailure).toBeUndefined();
});

it('groups that the list lacks are notified only if the sweep has stopped because of them', async () => {
  const { delivered, ports } = recordingTargets();
  const sweepWith = (halted: boolean) =>
    notifyOfSweep(CONNECTION, { halted, report: { missing: 3 } as never }, ports as never);
  await sweepWith(false);
  expect(delivered).toEqual([]);
  await sweepWith(true);
  expect(delivered).toHaveLength(1);
});

it('notify calls no store without a notification target', async () => {
  const { ports } = recordingTargets();
  const untouched = new Proxy({} as never, { get: () => expect.fail('was asked') });
  const withoutTargets = { ...ports, notifier: { ...ports.notifier, targets: [] }, notices: untouched };
  const asking = { ...withoutTargets, drift: untouched, tokens: untouched, deadLetterCount: untouched };
  await notify(HELD, withoutTargets, CONNECTION);
  await notifyOfHour(CONNECTION, asking);
  await notifyOfStage({ found: new Map(), isWhole: true }, asking);
});

it('the requeue job notifies of holds of a connection, and returns the problems that the stage reports', async () => {
  const world = await createWorld();
  const { delivered, ports } = recordingTargets();
  const { gates } = world.ports;
  const name = { value: 'Engineering', stamp: STAMP_ZERO };
  const removals = { sets: [{ decision: { kind: 'waiting' } }] };
  await world.link('a', { dirtySince: START_MS, name, removals });
  const closed = {
    state: 'backoff',
    closings: 1,
    sinceMs: START_MS - 31 * 60_000,
    untilMs: START_MS + 1,
  } as const;
  await gates.write(CONNECTION, await gates.read(CONNECTION), closed);
  const all = { ...world.ports, ...ports } as never;
  const found = new Map();
  await runReconcile(
    world.connection,
    { task: 'pump' },
    { ports: all, found, deadlineMs: START_MS + 60_000 },
  );
  expect(delivered).toEqual([
    [
      'prod default: groups held until an operator decides: 1',
      '"Engineering"',
      'Since 2026-11-20 10:00 UTC.',
      'npx groupsync --prefix prod --connection default holds',
    ],
  ]);
  expect([...found.keys()]).toEqual([CONNECTION]);
});

it('one notification reports the same problem of many connections, and names the longest problem first', async () => {
  const { delivered, clock, ports } = recordingTargets();
  const all = { ...ports, drift: {} as never, tokens: {} as never, deadLetterCount: async () => 0 };
  const blocked = (minutes: number): readonly Finding[] => [
    { subject: 'gate', count: 1, sinceMs: START_MS - minutes * 60_000 },
  ];
  const found = new Map([
    [connectionName('fine'), [{ subject: 'gate', count: 0 } as const]],
    [connectionName('short'), blocked(20)],
    [connectionName('long'), blocked(30)],
  ]);
  await notifyOfStage({ found, isWhole: true }, all);
  clock.ms += QUARTER_MS;
  for (let more = 0; more < 40; more += 1) found.set(connectionName(`more${more}`), blocked(1));
  await notifyOfStage({ found, isWhole: true }, all);
  expect(delivered).toEqual([
    [
      'prod long: writes to the platform are blocked; connections: 2',
      '"long", "short"',
      'Since 2026-11-20 09:30 UTC.',
      'npx groupsync --prefix prod --connection long doctor',
    ],
  ]);
  await notifyOfStage({ found: new Map(), isWhole: false }, all);
  expect(delivered).toHaveLength(1);
  clock.ms += 24 * 4 * QUARTER_MS;
  await notifyOfStage({ found, isWhole: true }, all);
  await notifyOfStage({ found: new Map(), isWhole: true }, all);
  clock.ms += QUARTER_MS;
  await notifyOfStage({ found: new Map(), isWhole: true }, all);
  expect(delivered.slice(1).map(([title]) => title)).toEqual([
    'prod long: writes to the platform are blocked; connections: 42',
    'prod: over: writes to the platform are blocked',
  ]);
});

it('the hourly check notifies of reported differences, expiring tokens and dead-lettered messages', async () => {
  const { delivered, ports } = recordingTargets();
  const record = { settledBy: 'report', settledAtMs: START_MS - 1_000 };
  const since = async function* () {
    yield [record, { ...record, settledBy: 'restore' }] as never;
  };
  const token = { prefix: 'p', connection: CONNECTION, hash: '', createdMs: 1 };
  const ends = (days: number) => ({ ...token, expiresMs: START_MS + days * 86_400_000 });
  const list = async () => [token, ends(13), ends(15), ends(-1), { ...ends(1), revokedMs: 1 }];
  const all = { ...ports, drift: { since }, tokens: { list }, deadLetterCount: async () => 3 };
  await notifyOfHour(CONNECTION, all);
  await notifyOfStage({ found: new Map(), isWhole: true }, all);
  expect(delivered.map(([title]) => title)).toEqual([
    'prod default: differences on the platform, within the hour, that were only reported: 1',
    'prod default: SCIM tokens that end within 14 days: 1',
    'prod: dead-lettered messages that wait for an operator: 3',
  ]);
});
