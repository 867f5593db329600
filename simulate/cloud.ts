import type { Dispatcher } from 'undici';
import type { LinkedGroup } from '../shared/domain/group-state.ts';
import { createDirectoryRecord } from './directory-record.ts';
import { createFakeSecretsManager } from './fake-secrets-manager.ts';
import { type Actor, type Container, createLambdas, type WrapPorts } from './lambdas.ts';
import type { ScimToken } from './messages.ts';
import { hasMoved, type OperatorDone } from './operators.ts';
import { createSimulatedPlatform, type SimulatedPlatform } from './platform/platform.ts';
import { createQueues } from './queues.ts';
import { seededRandom } from './random.ts';
import { createSource, type SimulatedSource } from './reader/source.ts';
import type { LogLine, RunLog } from './run-log.ts';
import { type ConnectionSpec, MINUTE_MS, type SimulationRun, START_MS } from './simulation-run.ts';
import { MemoryTable } from './table.ts';
import { createTime } from './time.ts';

export type Cloud = ReturnType<typeof createCloud>;

/** Creates the environment of the engine: one table, the queues, platforms, secrets and the clock. */
export function createCloud(
  run: SimulationRun,
  runLogOf: (nowMs: () => number) => RunLog,
  wrapPorts?: WrapPorts,
) {
  const random = seededRandom(run.seed);
  const time = createTime(START_MS);
  const { nowMs } = time;
  const runLog = runLogOf(nowMs);
  const pages = random.fork('pages');
  const table = new MemoryTable({
    indexLag: { ms: [0, 500, 5_000, 60_000][run.seed % 4] ?? 0, nowMs },
    // In some runs pages are small, so that even a short list has several pages.
    pageBytes: [4_000, 64_000, 1_048_576][run.seed % 3] as number,
    keysAtOnce: [7, 100][Math.floor(run.seed / 4) % 2] as number,
    isEmptyPage() {
      runLog.fired('table:next_page');
      return pages.chance(0.1);
    },
  });
  const queues = createQueues({ nowMs, random: random.fork('queues'), unruly: 0.05 });
  const platforms = new Map<string, SimulatedPlatform>();
  for (const { company, traits, people } of run.connections) {
    if (platforms.has(company)) continue;
    const own = { company, traits, people, random: random.fork(`platform ${company}`) };
    platforms.set(company, createSimulatedPlatform({ ...own, clock: nowMs, runLog, sleep: time.sleep }));
  }
  const sources = new Map<string, SimulatedSource>();
  for (const { name, source } of run.connections) {
    if (source === undefined) continue;
    const own = { seed: run.seed, nowMs, random: random.fork(`source ${name}`), runLog };
    sources.set(name, createSource({ ...source, ...own }));
  }
  const secretsManager = createFakeSecretsManager(nowMs, random.fork('vault'), runLog.fired);
  const lambdas = createLambdas({
    time,
    random: random.fork('lambdas'),
    runLog,
    table,
    queues,
    dispatcherOf: (worker) => {
      const request = (options: { readonly origin: string }) => {
        const platform = platforms.get(companyOf(options.origin));
        if (platform === undefined) throw Object.assign(new Error('no such host'), { code: 'ENOTFOUND' });
        return platform.dispatcherFor(worker).request(options as never);
      };
      // The client uses no other method of a dispatcher.
      return { request } as unknown as Dispatcher;
    },
    directoriesOf: (worker, own) => ({
      open: async ({ name }) => {
        const source = sources.get(name);
        if (source === undefined) throw new TypeError(`the connection ${name} reads no directory`);
        return source.open(worker, own);
      },
      examine: async () => [],
    }),
    secretsManager,
    coalesceMs: run.coalesceSeconds * 1_000,
    createSettleMs: 10 * MINUTE_MS,
    wrapPorts,
  });
  const actions: OperatorDone[] = [];
  let broken: { readonly error: unknown } | undefined;
  return {
    run,
    random: random.fork('life'),
    time,
    nowMs,
    runLog,
    table,
    under: <Form>(partition: string, prefix: string) => table.under(partition, prefix) as readonly Form[],
    queues,
    platforms: platforms as ReadonlyMap<string, SimulatedPlatform>,
    /** The simulated directories of the connections that have a reader, by connection. */
    sources: sources as ReadonlyMap<string, SimulatedSource>,
    secretsManager,
    lambdas,
    connections: new Map<string, ConnectionSpec>(),
    directory: createDirectoryRecord(new Set(sources.keys()), hasMoved(actions)),
    /** What people did, in the order of the answers. */
    actions,
    /** The token of the SCIM client of each connection. */
    scimTokens: new Map<string, ScimToken>(),
    lastMessageMs: new Map<string, number>(),
    cutOffMs: new Map<string, readonly number[]>(),
    /** The number of changes of people that happened in the HR systems. */
    companyActions: 0,
    /** The end of the period in which faults of the platform or of AWS may have effects. */
    troubledUntilMs: 0,
    /** Whether the run has ended. After its end, no new work may start. */
    isOver: false,
    /** Runs work concurrently. If the work throws an error, the next call of `pass` throws it. */
    start(work: Promise<unknown>) {
      work.catch((error: unknown) => {
        broken ??= { error };
      });
    },
    /**
     * Executes one invocation. If a simulated fault makes the invocation fail, logs the failure.
     * @returns whether the invocation completed
     */
    invoke: (actor: Actor, timeoutMs: number, run: (container: Container) => Promise<void>) =>
      lambdas.invoke(actor, timeoutMs, run).catch((error: unknown) => {
        if (isMistake(error)) throw error;
        runLog.log({ lane: LANES[actor] ?? 'reconcile', what: `${actor} failed`, detail: String(error) });
        return false;
      }),
    /** Advances the simulated time. @throws the first program error of the simulation or the engine */
    async pass(untilMs: number) {
      await time.run(untilMs);
      if (broken !== undefined) throw broken.error;
    },
  };
}

export const baseUrlOf = (company: string): string => `https://${company}.platform.test`;
const companyOf = (origin: string): string => origin.replace(/^https:\/\//, '').split('.')[0] ?? '';

export const platformOf = (cloud: Cloud, connection: string): SimulatedPlatform | undefined => {
  const spec =
    cloud.connections.get(connection) ?? cloud.run.connections.find(({ name }) => name === connection);
  return spec && cloud.platforms.get(spec.company);
};

/** Returns the stored item of a directory group. */
export const groupItem = ({ table }: Pick<Cloud, 'table'>, connection: string, group: string) =>
  group === '' ? undefined : table.items.get(`G#${connection}#${group} GROUP`);

/** Returns the link to a platform group from the item of a directory group. */
export const linkIn = (item: Readonly<Record<string, unknown>> | undefined) =>
  item?.['link'] as Pick<LinkedGroup, 'id' | 'version'> | undefined;

const LANES: Partial<Record<Actor, LogLine['lane']>> = {
  ...{ ingest: 'ingest', apply: 'apply', operator: 'operator', checker: 'check' },
};

/** Returns whether an error is a program error of the engine or of the simulation. */
const isMistake = (error: unknown): boolean =>
  error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError;
