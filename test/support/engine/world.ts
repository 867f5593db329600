import { readApplyMessage } from '../../../shared/contract/invocation.ts';
import { MESSAGE_ATTRIBUTES } from '../../../shared/contract/names.ts';
import { ConnectionSettings } from '../../../shared/contract/settings.ts';
import { connectionName, type GroupRef, roleId } from '../../../shared/domain/ids.ts';
import { createDeadLetterQueue } from '../../../shared/queues/dead-letter-queue.ts';
import { createConnectionStore } from '../../../shared/store/connection-store.ts';
import type { Table } from '../../../shared/store/table.ts';
import type { Connection } from '../../../shared/sync/ports/connections.ts';
import type { RejectedMessage } from '../../../shared/sync/ports/queues.ts';
import { type AwsFault, portsOver as enginePorts, tableOf } from '../../../simulate/engine.ts';
import { createQueues, type Queues, queueUrl } from '../../../simulate/queues.ts';
import type { Random } from '../../../simulate/random.ts';
import type { PersonSpec as Employee } from '../../../simulate/simulation-run.ts';
import { MemoryTable } from '../../../simulate/table.ts';
import type { Worker } from '../../../simulate/worker.ts';
import { type CallFault, type PlatformOptions, TestPlatform } from './platform.ts';

export const CONNECTION = connectionName('default');
export const COMPANY = 'company';
/** The start of every simulated world: 2026-11-20T10:00:00Z. */
export const START_MS = Date.UTC(2026, 10, 20, 10);
export const CREATE_SETTLE_MS = 600_000;
export const [MINUTE_MS, HOUR_MS, DAY_MS] = [60_000, 3_600_000, 86_400_000] as const;

export interface Faults {
  table(): AwsFault;
  platform(call: string): CallFault;
  queue(): boolean;
}

export const NO_FAULTS: Faults = { table: () => 'none', platform: () => 'none', queue: () => true };

/** Makes the first call of this kind fail. The result returns whether there was such a call. */
export function failFirst(
  troubles: { platform: Faults['platform'] },
  kind: Parameters<Faults['platform']>[0],
  fault: ReturnType<Faults['platform']>,
): () => boolean {
  let isDone = false;
  troubles.platform = (call) => {
    if (call !== kind || isDone) return 'none';
    isDone = true;
    return fault;
  };
  return () => isDone;
}

export interface PersonSpec extends Employee {
  readonly email: string;
  readonly userId?: string;
}

export interface WorldOptions {
  readonly random: Random;
  /** The connection settings except `baseUrl`. If `guard` is not given, the guard is off. */
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly coalesceMs?: number;
  /** The probability that a queue repeats or delays a message. */
  readonly unruly?: number;
  readonly faults?: Faults;
  readonly platform?: Omit<PlatformOptions, 'nowMs' | 'company'>;
  readonly people?: readonly PersonSpec[];
  readonly observing?: boolean;
}

/** The engine's environment in memory: one table, the engine's queues, one platform and one clock. */
export type World = Awaited<ReturnType<typeof createWorld>>;

export type Ports = ReturnType<typeof portsOver>;

const FREE: Worker = { name: 'toolPorts', skewMs: 0, effect: async () => {}, isDead: () => false };

export async function createWorld(options: WorldOptions) {
  let now = START_MS;
  const nowMs = () => now;
  const { random, coalesceMs = 0, unruly = 0, faults = NO_FAULTS, people = [] } = options;
  const table = new MemoryTable();
  const queues = createQueues({ nowMs, random, unruly });
  const shared: Shared = {
    random,
    coalesceMs,
    nowMs,
    platform: new TestPlatform({ ...options.platform, nowMs, company: COMPANY }),
    queues,
    ids: { next: 0 },
  };
  const toolPorts = portsOver(table, { shared, worker: FREE, faults: NO_FAULTS });
  await toolPorts.connections.save(connectionOf(options));
  await toolPorts.hire(people);
  return {
    table,
    random,
    nowMs,
    /** The ports of an operator's tool. The scheduler does not delay their effects, and they have no faults. */
    toolPorts,
    connection: async () => (await toolPorts.connections.current(CONNECTION)) as Connection,
    platform: shared.platform,
    applyQueue: queues.of.apply,
    eventsQueue: queues.of.events,
    /** The messages that groupsync dead-lettered. A message that SQS itself moved has no error code. */
    get deadLetters() {
      return [...queues.of.applyDlq.messages, ...queues.of.eventsDlq.messages].flatMap(
        ({ attributes, body }) => {
          const code = attributes[MESSAGE_ATTRIBUTES.errorCode];
          const failedBefore = attributes[MESSAGE_ATTRIBUTES.failedBefore];
          return code === undefined ? [] : { code, group: readApplyMessage(body), failedBefore };
        },
      );
    },
    advance: (ms: number) => {
      const until = now + ms;
      // A late write takes effect at its own time, even if the clock advances beyond this time.
      for (;;) {
        now = Math.max(now, Math.min(until, shared.platform.latestMs));
        shared.platform.doOverdue();
        if (now === until) return;
      }
    },
    /** Returns the ports of one worker. The scheduler decides when each effect runs. */
    portsFor: (given?: Partial<Worker>) => {
      const worker = { ...FREE, ...given };
      const failing = tableOf(table, worker, (isRead) => (isRead ? 'none' : faults.table()));
      return portsOver(failing, { shared, worker, faults });
    },
  };
}

const connectionOf = ({ settings = {}, observing = false }: WorldOptions): Connection => ({
  name: CONNECTION,
  company: COMPANY,
  settings: ConnectionSettings.parse({ baseUrl: 'https://platform.test', guard: null, ...settings }),
  observing,
});

interface Shared {
  readonly random: Random;
  readonly coalesceMs: number;
  readonly nowMs: () => number;
  readonly platform: TestPlatform;
  readonly queues: Queues;
  readonly ids: { next: number };
}

interface Seat {
  readonly shared: Shared;
  readonly worker: Worker;
  readonly faults: Faults;
}

/** With this random number, each wait of the client exceeds its deadline, so the client never retries. */
const TRIES_ONCE = 1e9;

function portsOver(table: Table, { shared, worker, faults }: Seat) {
  const { platform, queues, ids } = shared;
  const clock = () => shared.nowMs() + worker.skewMs;
  const sqs = queues.client(async (operation, queue) => {
    await worker.effect(`${operation} ${queue}`);
    if (!faults.queue()) throw new Error('the queue is throttled');
  });
  const ports = enginePorts({
    table,
    clock,
    random: () => TRIES_ONCE,
    newId: () => {
      ids.next += 1;
      return `${clock().toString(16).padStart(12, '0')}${String(ids.next).padStart(6, '0')}`;
    },
    sleep: async () => {},
    coalesceMs: shared.coalesceMs,
    createSettleMs: CREATE_SETTLE_MS,
    inlineViewBytes: 30,
    source: 'apply',
    queueUrl,
    sqs,
    dispatcher: platform.dispatcherFor(worker, (call) => faults.platform(call)),
    secrets: platform.secrets,
  });
  const { people } = ports;
  const events = createDeadLetterQueue(sqs, { queueUrl: queueUrl('eventsDlq'), source: 'ingest', clock });
  return {
    ...ports,
    deadLetters: {
      send: async (deadLetters: readonly RejectedMessage[]) => [
        ...(await events.send(deadLetters.filter(({ group }) => group === undefined))),
        ...(await ports.deadLetters.send(deadLetters.filter(({ group }) => group !== undefined))),
      ],
    },
    random: () => shared.random.next(),
    connections: createConnectionStore(table, { clock, rememberMs: 0 }),
    /** Adds people to the people index. A refresh of people does the same. */
    async hire(specs: readonly PersonSpec[]) {
      for (const { role, email, state = 'ACTIVE', userId = `u-${role}` } of specs) {
        const [seen] = (await people.read(CONNECTION, [roleId(role)])).values();
        const values = new Map([['workEmail', email.toLowerCase()]]);
        const person = { role: roleId(role), userId, state, values, fanOutDue: false };
        await people.save(CONNECTION, person, seen);
      }
    },
  };
}

/** Removes all messages from the apply queue, and returns their groups. */
export function takeWoken({ applyQueue }: World): readonly GroupRef[] {
  const woken: GroupRef[] = [];
  for (;;) {
    const taken = applyQueue.receive(1_000);
    if (taken.length === 0) return woken;
    for (const { body, receipt = '' } of taken) {
      const ref = readApplyMessage(body);
      if (ref !== undefined) woken.push(ref);
      applyQueue.delete(receipt);
    }
  }
}

/** Removes all messages from the events queue, and returns them as one batch. */
export function takeEvents({ eventsQueue }: World) {
  const taken = eventsQueue.receive(1_000);
  for (const { receipt = '' } of taken) eventsQueue.delete(receipt);
  return taken.map(({ id, body, sentAtMs }) => ({ messageId: id, body, sentAtMs }));
}
