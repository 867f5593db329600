import { fileURLToPath } from 'node:url';
import type { SendMessageBatchCommand } from '@aws-sdk/client-sqs';
import type { DirectoryKind } from '../../shared/contract/directory-settings.ts';
import { SCHEDULES } from '../../shared/contract/topology.ts';
import { resourcesOf, synthesise } from '../../test/infra/synthesised.ts';
import { callDollars, lambdaDollars, readPrices } from '../figures/cost.ts';
import { REQUEST_SECONDS } from './container.ts';
import type { ReaderResult, ReaderTask } from './reader-process.ts';
import { createRig } from './rig.ts';
import { askChild } from './run-in-child.ts';
import type { Counts } from './totals.ts';
import { type CompanySize, companyOf, createCountedVendor, VENDORS, type VendorRequest } from './vendors.ts';

/** The maximum memory of a run. It is also the heap limit of the process that reads. */
export const MOST_MEMORY_MB = 512;
const CHILD = fileURLToPath(new URL('reader-process.ts', import.meta.url));
const EVERY_MS = SCHEDULES.directoryMinutes * 60_000;
/** The maximum number of runs for one task. */
const MOST_RUNS = 50;

/** The number of runs that the reader needs for one task, and totals of these runs. */
export interface Reading {
  readonly runs: number;
  readonly counts: Counts;
  readonly read: number;
  readonly sent: number;
  /** Simulated time of all runs. */
  readonly seconds: number;
  readonly processorSeconds: number;
  readonly peakMb: number;
  readonly dollars: number;
}

/** Returns the memory and the time limit of the function `directory` in the template. */
export function limitsOfReader() {
  const { template } = synthesise({ directory: true });
  const functions = Object.values(resourcesOf(template, 'AWS::Lambda::Function'));
  const found = functions.find(({ Properties }) => Properties.FunctionName.endsWith('-directory'));
  if (found === undefined) throw new Error('the template has no function directory');
  const { Timeout, MemorySize } = found.Properties;
  return { seconds: Number(Timeout), memoryGb: Number(MemorySize) / 1_024 };
}

export type ReaderRig = Awaited<ReturnType<typeof createReaderRig>>;

/**
 * Creates groupsync in memory with a reader of a directory. Each run of the reader is a separate process, like a cold
 * start of the function. Directory, table and queue are in this process.
 * @param runSeconds the time after which a run does not start to read another group
 */
export async function createReaderRig(kind: DirectoryKind, size: CompanySize, runSeconds: number) {
  const directory = VENDORS[kind].setting;
  const rig = await createRig({
    coalesceSeconds: 5,
    people: 1,
    settings: { directory, nested: 'flatten', match: ['email=workEmail'] },
  });
  const company = companyOf(size, kind);
  const vendor = await createCountedVendor(kind, company, rig.totals);
  const { memoryGb } = limitsOfReader();
  const prices = readPrices();
  const { apiCallSeconds, scheduledSeconds } = prices.assumed;
  const answers = {
    ...rig.requests,
    directory: (request: VendorRequest) => vendor.request(request),
    send: (name: string, input: object) =>
      rig.sqs.send({ constructor: { name }, input } as unknown as SendMessageBatchCommand),
  };

  /** Runs one invocation of the function. The next invocation starts at the next scheduled time. */
  const runOnce = async (isFull: boolean): Promise<Reading & { readonly waiting: number }> => {
    const task: ReaderTask = {
      task: 'read',
      nowMs: rig.clock(),
      secret: vendor.secret,
      isFull,
      seconds: runSeconds,
      apiCallSeconds,
      requestSeconds: REQUEST_SECONDS,
    };
    rig.totals.take();
    const child = { file: CHILD, memoryMb: MOST_MEMORY_MB, title: 'a run of the reader', answers };
    const { report, seconds, ...used } = await askChild<ReaderResult>(child, task);
    // Each run reads the stored secret.
    rig.totals.add('secretsmanager GetSecretValue');
    const counts = rig.totals.take();
    const billedSeconds = Math.max(scheduledSeconds, seconds, used.processorSeconds);
    rig.advance(Math.max(1, Math.ceil((1_000 * seconds) / EVERY_MS)) * EVERY_MS);
    const dollars = callDollars(prices, counts) + lambdaDollars(prices, 1, billedSeconds, memoryGb);
    const { read, sent, waiting, failed } = report;
    if (failed > 0) throw new Error(`${failed} groups could not be read`);
    return { runs: 1, counts, read, sent, waiting, seconds, dollars, ...used };
  };

  return {
    ...rig,
    kind,
    company,
    close: vendor.close,
    async read({ isFull = false } = {}): Promise<Reading> {
      const all: Reading[] = [];
      for (let waiting = 1; waiting > 0; ) {
        if (all.length === MOST_RUNS) throw new Error(`${waiting} groups wait after ${MOST_RUNS} runs`);
        const one = await runOnce(isFull && all.length === 0);
        all.push(one);
        waiting = one.waiting;
      }
      return sumOfReadings(all);
    },
  };
}

export function sumOfReadings(all: readonly Reading[]): Reading {
  const sum = (of: (one: Reading) => number) => all.reduce((total, one) => total + of(one), 0);
  const names = new Set(all.flatMap(({ counts }) => Object.keys(counts)));
  return {
    runs: sum(({ runs }) => runs),
    counts: Object.fromEntries([...names].map((name) => [name, sum(({ counts }) => counts[name] ?? 0)])),
    read: sum(({ read }) => read),
    sent: sum(({ sent }) => sent),
    seconds: sum(({ seconds }) => seconds),
    processorSeconds: sum(({ processorSeconds }) => processorSeconds),
    peakMb: Math.max(...all.map(({ peakMb }) => peakMb)),
    dollars: sum(({ dollars }) => dollars),
  };
}
