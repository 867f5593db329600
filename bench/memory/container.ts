import type { Dispatcher } from 'undici';
import { DEFAULT_COALESCE_SECONDS } from '../../shared/contract/topology.ts';
import { type EnginePorts, portsOver } from '../../simulate/engine.ts';
import { type Queues, queueUrl } from '../../simulate/queues.ts';
import type { MemoryTable } from '../../simulate/table.ts';
import type { Time } from '../../simulate/time.ts';
import { readPrices } from '../figures/cost.ts';
import type { FunctionName, Limits } from './functions.ts';
import type { createCountedPlatform } from './platform.ts';
import { TOKEN } from './rig.ts';
import { type Throughput, tableWithin } from './throughput.ts';
import type { Totals } from './totals.ts';

/** The assumed duration of one request to AWS, which is a high estimate. */
export const REQUEST_SECONDS = 0.01;

/**
 * Processor time of one request, and of one entry of a batch, on a whole processor: the duration of a SCIM request with
 * 20,000 members, divided by its calls or members (`npm run bench -- scim`). A container works on one request at a time.
 */
const PROCESSOR_MS = { request: 0.3, entry: 0.07 };
/** The memory with which a function has a whole processor (Lambda developer guide, "Configure function memory"). */
const PROCESSOR_GB = 1_769 / 1_024;
export const processorsOf = (memoryGb: number): number => memoryGb / PROCESSOR_GB;

/** A company with one connection. The connection, the company and the host of its platform have this name. */
export interface Company {
  readonly name: string;
  readonly people: number;
  /** The duration of one call of the platform. Default: `apiCallSeconds` in `prices.json`. */
  readonly callSeconds?: number;
  /** Whether the platform answers each call with 429. */
  readonly isLimited?: boolean;
}

export type Connected = Company & { readonly platform: ReturnType<typeof createCountedPlatform> };

export interface Container {
  readonly ports: EnginePorts;
  readonly kill: () => void;
}

interface Surroundings {
  readonly limits: Readonly<Record<FunctionName, Limits>>;
  readonly time: Time;
  readonly totals: Totals;
  readonly table: MemoryTable;
  readonly queues: Queues;
  readonly companies: ReadonlyMap<string, Connected>;
  readonly random: () => number;
  /** Returns the limits of the table; undefined: DynamoDB throttles no request. */
  readonly throughput: () => Throughput | undefined;
}

/** Returns a function that starts a container of a function. Its requests take simulated time. */
export function containers(around: Surroundings): (name: FunctionName) => Container {
  const { limits, time, totals, table, queues, companies, random, throughput } = around;
  const { apiCallSeconds } = readPrices().assumed;
  const clock = () => Math.floor(time.nowMs());
  let ids = 0;

  return (name) => {
    let isDead = false;
    let processorFreeMs = 0;
    const processors = processorsOf(limits[name].memoryGb);
    const effect = async (kind: string, seconds = REQUEST_SECONDS, entries = 0) => {
      // A killed invocation never continues.
      if (isDead) await new Promise(() => {});
      totals.add(kind);
      const requestMs = entries === 1 ? 0 : PROCESSOR_MS.request;
      const busyMs = (requestMs + entries * PROCESSOR_MS.entry) / processors;
      processorFreeMs = Math.max(processorFreeMs, time.nowMs()) + busyMs;
      await time.sleep(processorFreeMs - time.nowMs() + 1_000 * seconds);
      if (isDead) await new Promise(() => {});
    };
    const callsTo = ({ platform, callSeconds = apiCallSeconds }: Connected) => {
      const wait = (kind: string) => effect(kind, callSeconds);
      return platform.dispatcherFor({ name, skewMs: 0, isDead: () => isDead, effect: wait });
    };
    const dispatcher = {
      async request(sent: { readonly origin: string }) {
        const company = companies.get(new URL(sent.origin).hostname.split('.')[0] ?? '');
        if (company === undefined) throw new Error(`there is no platform ${sent.origin}`);
        if (company.isLimited !== true) return callsTo(company).request(sent as never);
        await effect('platform.refused', apiCallSeconds);
        return { statusCode: 429, headers: { 'retry-after': '60' }, body: [Buffer.from('{}')] };
      },
    } as unknown as Dispatcher;
    const ports = portsOver({
      table: tableWithin(table, {
        effect: (kind, entries) => effect(kind, REQUEST_SECONDS, entries),
        sleep: time.sleep,
        random,
        onThrottled: () => totals.add('dynamodb throttled'),
        throughput,
      }),
      sqs: queues.client((operation) => effect(`sqs ${operation}`)),
      queueUrl,
      dispatcher,
      secrets: {
        async read() {
          await effect('secretsmanager GetSecretValue');
          return { value: { token: TOKEN }, version: '1' };
        },
        write: async () => '1',
      },
      clock,
      random,
      newId: () => {
        ids += 1;
        return `${clock().toString(16).padStart(12, '0')}${String(ids).padStart(20, '0')}`;
      },
      sleep: time.sleep,
      coalesceMs: DEFAULT_COALESCE_SECONDS * 1_000,
      createSettleMs: 600_000,
      source: name === 'ingest' ? 'ingest' : 'apply',
    });
    return {
      ports,
      kill: () => {
        isDead = true;
      },
    };
  };
}
