import { actsOf } from './acts.ts';
import { between, type Random, weighted } from './random.ts';
import { type AwsAction, type Happening, HOUR_MS, type LambdaName, MINUTE_MS } from './simulation-run.ts';

/**
 * For each function, the effects before which it may crash. An effect is a read or a write of one kind of item, or a
 * call to another service.
 */
export const CRASH_POINTS: Readonly<Record<LambdaName, string>> = {
  ingest: `get CONNECTION, update M#, put IN#, put USER, update USER, put PART#, query PART#, getMany USER, query IN#,
    update GROUP, SendMessageBatch apply, SendMessageBatch eventsDlq, acknowledge events`,
  apply: `get CONNECTION, get GATE, put GATE, get GROUP, getMany GROUP, update GROUP, query index, query M#, update M#, put M#,
    getMany USER, update USER, getMany PERSON, query P#, put VIEW#, getMany VIEW#, delete VIEW#, put GUARD#, query GUARD#,
    delete GUARD#, put HELD#, getMany HELD#, put UNLINK#, query UNLINK#, put DRIFT#, update DRIFT#, getMany DRIFT#,
    update L#, query PU#, put A#, update LEASE#, secret.write, SendMessageBatch apply, acknowledge apply,
    platform.create, platform.patch, platform.put, platform.delete, platform.get, platform.list, platform.me`,
  people: `get CONNECTION, query index, getMany PERSON, put PERSON, update PERSON, put P#, delete P#, query P#, put PU#, query PU#, query M#,
    getMany USER, query IN#, update GROUP, update LEASE#, secret.write, platform.employees, SendMessageBatch apply`,
  pump: 'query index, get GATE, put GATE, update GROUP, update M#, platform.me, SendMessageBatch apply',
  feed: `update FEED, put FEED, getMany L#, getMany GROUP, update GROUP, getMany DRIFT#, update DRIFT#, put DRIFT#,
    update LEASE#, platform.activity, platform.get, SendMessageBatch apply`,
  sweep: `query index, platform.list, platform.get, getMany L#, getMany GROUP, update GROUP, query P#, query VIEW#,
    delete VIEW#, put DRIFT#, get FEED, update LEASE#, SendMessageBatch apply`,
  health: 'get HEALTH, put HEALTH, platform.me',
  scim: `get TOKEN, update GROUP, update M#, put M#, put IN#, put USER, update USER, put AT#, put HOLDER, delete HOLDER,
    SendMessageBatch apply`,
  directory: `update LEASE#, update READER, query READERPUSHED#, put READER, put READER#, delete READER#, query READER#, get GROUP, query M#,
    getMany USER, SendMessageBatch events, directory.token, directory.changes, directory.groups,
    directory.group, directory.members, directory.user`,
  operator: `get GROUP, update GROUP, get CONNECTION, update CONNECTION, put GATE, put A#, put ACT#, SendMessageBatch apply,
    ReceiveMessage eventsDlq, SendMessageBatch events, DeleteMessageBatch eventsDlq`,
};

export const crashPoints = (lambda: LambdaName): readonly string[] => CRASH_POINTS[lambda].split(/,\s+/);
/** Effects that occur in only one of ten runs. */
const SELDOM = new Set([
  ...['feed put DRIFT#', 'operator put GATE', 'pump update M#', 'sweep platform.get'],
  ...['operator SendMessageBatch events', 'operator DeleteMessageBatch eventsDlq'],
]);
const CRASH_WEIGHTS = {
  ingest: 5,
  apply: 12,
  people: 3,
  pump: 2,
  feed: 2,
  sweep: 2,
  health: 0.5,
  scim: 1,
  operator: 2,
};
const SPELLS = {
  throttled: 2,
  unheard: 2,
  echo: 1,
  queue_refuses: 1,
  slow_table: 1,
  skew: 2,
  twins: 2,
};

function drawCrashes(random: Random, connection: string, times: number, endMs: number): Happening[] {
  return Array.from({ length: times }, (): Happening => {
    const lambda = weighted(random, CRASH_WEIGHTS);
    const effect = random.pick(crashPoints(lambda));
    const drawn = between(random, 1, 4);
    const nth = SELDOM.has(`${lambda} ${effect}`) ? 1 : drawn;
    const atMs = between(random, 0, endMs - 2 * HOUR_MS);
    return actsOf(connection).aws(atMs, { kind: 'crash', lambda, effect, nth });
  });
}

/** The crashes of all functions except the reader. */
export const ALL_CRASHES = (Object.keys(CRASH_WEIGHTS) as (keyof typeof CRASH_WEIGHTS)[]).flatMap((lambda) =>
  crashPoints(lambda).map((effect) => ({ kind: 'crash', lambda, effect, nth: 1 }) as const),
);

export function drawAws(random: Random, connection: string, endMs: number): readonly Happening[] {
  const times = random.chance(0.75) ? between(random, 1, 6) : 0;
  const all = drawCrashes(random, connection, times, endMs);
  const strike = (action: AwsAction) =>
    all.push(actsOf(connection).aws(between(random, 0, endMs - 2 * HOUR_MS), action));
  for (let left = random.below(4); left > 0; left -= 1) {
    const forMs = between(random, 5, 300) * MINUTE_MS;
    const share = between(random, 2, 40) / 100;
    const kind = weighted(random, SPELLS);
    if (kind === 'slow_table') strike({ kind, forMs, msPerRequest: between(random, 6, 40) });
    else if (kind === 'skew') strike({ kind, forMs: forMs * 4, skewMs: 1_500 });
    else strike({ kind, forMs, share });
  }
  return all;
}
