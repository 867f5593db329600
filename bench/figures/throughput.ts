import { startRecording } from '../emulated/recorder.ts';
import { replay } from '../emulated/replay.ts';
import { type Services, startServices } from '../emulated/services.ts';
import { publish, work } from '../emulated/work.ts';
import { type Figure, PAIRED_RUNS, showSpread, spreadOf, table } from '../figure.ts';
import { type BenchEvent, createDirectory } from '../memory/directory.ts';

const EVENTS = 1_000;
const GROUPS = 20;
const PEOPLE = 200;

/** Starts the services with all people and groups, before the measured joins. */
async function prepared(): Promise<Services> {
  const services = await startServices({ people: PEOPLE });
  const directory = createDirectory(Date.now);
  const people = Array.from({ length: PEOPLE }, (_, n) => n);
  await publish(services, [
    directory.snapshot('all', people),
    ...Array.from({ length: GROUPS }, (_, n) => directory.snapshot(`d${n}`, [0])),
  ]);
  await work(services);
  return services;
}

const joins = (): readonly BenchEvent[] => {
  const directory = createDirectory(Date.now);
  return Array.from({ length: EVENTS }, (_, n) =>
    directory.added(`d${n % GROUPS}`, 1 + (Math.floor(n / GROUPS) % (PEOPLE - 1))),
  );
};

interface Timed {
  readonly ms: number;
  /** Processor time of this process, including the emulators. Other load on the machine hardly changes it. */
  readonly cpuMs: number;
}

interface Pair {
  readonly ours: Timed;
  readonly bare: Timed;
  readonly calls: Readonly<Record<string, number>>;
}

async function timed(run: () => Promise<void>): Promise<Timed> {
  globalThis.gc?.();
  const startedMs = performance.now();
  const startedCpu = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(startedCpu);
  return { ms: performance.now() - startedMs, cpuMs: (user + system) / 1_000 };
}

/** Runs ingest and apply once. Then repeats their recorded calls with a bare client, on services in the same state. */
async function pair(): Promise<Pair> {
  const first = await prepared();
  // The events are created here, because their time must be later than the time of the earlier events.
  const events = joins();
  await publish(first, events);
  const recording = startRecording();
  const ours = await timed(() => work(first));
  recording.stop();
  await first.close();

  const second = await prepared();
  await publish(second, events);
  const bare = await timed(() => replay(recording.calls, second));
  await second.close();
  const calls: Record<string, number> = {};
  for (const { to } of recording.calls) calls[to] = (calls[to] ?? 0) + 1;
  return { ours, bare, calls };
}

export const throughputFigure: Figure = {
  name: 'throughput',
  title: 'Throughput to the limit',
  async run() {
    await pair();
    const pairs: Pair[] = [];
    for (let run = 0; run < PAIRED_RUNS; run += 1) pairs.push(await pair());
    const perSecond = (ms: number) => (EVENTS / ms) * 1_000;
    const through = spreadOf(pairs.map(({ ours }) => perSecond(ours.ms)));
    const bareCalls = spreadOf(pairs.map(({ bare }) => perSecond(bare.ms)));
    const { dynamodb = 0, sqs = 0, platform = 0 } = pairs[0]?.calls ?? {};
    return [
      `${EVENTS} joins in ${GROUPS} groups, one message each, pass through ingest and apply with the emulators of the local stack, in this process.`,
      `Then a bare client repeats the recorded calls without groupsync, 32 at a time, with services in the same state: ${dynamodb} calls to`,
      `DynamoDB, ${sqs} to SQS, ${platform} to the platform. The rate of the bare calls is the limit. The goal is at least 0.8 of this limit.`,
      '',
      table(
        ['', 'events/s'],
        [
          ['through ingest and apply', showSpread(through, 0)],
          ['the bare calls', showSpread(bareCalls, 0)],
          ['ratio', showSpread(spreadOf(pairs.map(({ ours, bare }) => bare.ms / ours.ms)))],
          [
            'ratio by processor time',
            showSpread(spreadOf(pairs.map(({ ours, bare }) => bare.cpuMs / ours.cpuMs))),
          ],
        ],
      ),
    ].join('\n');
  },
};
