import { ConnectionSettings } from '../../../shared/contract/settings.ts';
import { connectionName, roleId } from '../../../shared/domain/ids.ts';
import { createAuditLog } from '../../../shared/store/audit-log.ts';
import { createClaimStore } from '../../../shared/store/claim-store.ts';
import { createConnectionStore } from '../../../shared/store/connection-store.ts';
import { createDesiredStore } from '../../../shared/store/desired-store.ts';
import { createDriftLog } from '../../../shared/store/drift-log.ts';
import { createGateStore } from '../../../shared/store/gate-store.ts';
import { createGroupIndex } from '../../../shared/store/group-index.ts';
import { createGroupStore } from '../../../shared/store/group-store.ts';
import { createGuardStore } from '../../../shared/store/guard-store.ts';
import { createPeopleStore } from '../../../shared/store/people-store.ts';
import type { Table } from '../../../shared/store/table.ts';
import { createUserStore } from '../../../shared/store/user-store.ts';
import type { Connection } from '../../../shared/sync/ports/connections.ts';
import type { DeadLetter } from '../../../shared/sync/ports/queue.ts';
import { MemoryTable } from '../memory-table.ts';
import { gatedTable, type TableFault } from './gated-table.ts';
import { FakePlatform, type PlatformFault, type PlatformOptions } from './platform.ts';
import { FakeApplyQueue, FakeEventsQueue } from './queues.ts';
import type { Random } from './random.ts';
import type { Worker } from './scheduler.ts';

export const CONNECTION = connectionName('default');
export const COMPANY = 'company';
/** 2026-11-20T10:00:00Z: when every simulated world begins. */
export const START_MS = Date.UTC(2026, 10, 20, 10);
export const CREATE_SETTLE_MS = 600_000;

export interface Faults {
  table(): TableFault;
  platform(call: string): PlatformFault;
  /** Whether the apply queue takes a message. */
  queue(): boolean;
}

export const NO_FAULTS: Faults = { table: () => 'none', platform: () => 'none', queue: () => true };

export interface PersonSpec {
  readonly role: string;
  readonly email: string;
  readonly state?: string;
  readonly userId?: string;
}

export interface WorldOptions {
  readonly random: Random;
  /** Connection settings beside `baseUrl`; the guard is off unless they say otherwise. */
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly coalesceMs?: number;
  readonly faults?: Faults;
  readonly platform?: Omit<PlatformOptions, 'nowMs' | 'company'>;
  readonly people?: readonly PersonSpec[];
  readonly observing?: boolean;
}

/** Everything that the engine lives in, held in memory: one table, two queues, one platform, one clock. */
export interface World {
  readonly table: MemoryTable;
  readonly platform: FakePlatform;
  readonly applyQueue: FakeApplyQueue;
  readonly eventsQueue: FakeEventsQueue;
  readonly deadLetters: DeadLetter[];
  readonly random: Random;
  readonly nowMs: () => number;
  advance(ms: number): void;
  /** The ports of one worker, each effect of which waits its turn. */
  portsFor(worker: Worker): Ports;
  /** The ports of somebody who looks on: no turns, no faults. */
  readonly onlooker: Ports;
}

export type Ports = ReturnType<typeof portsOver>;

const FREE: Worker = { name: 'onlooker', skewMs: 0, effect: async () => {}, isDead: () => false };

export async function createWorld(options: WorldOptions): Promise<World> {
  let now = START_MS;
  const nowMs = () => now;
  const { random, coalesceMs = 0, faults = NO_FAULTS, people = [] } = options;
  const table = new MemoryTable();
  const shared: Shared = {
    random,
    coalesceMs,
    nowMs,
    platform: new FakePlatform({ ...options.platform, nowMs, company: COMPANY }),
    applyQueue: new FakeApplyQueue(coalesceMs, nowMs),
    deadLetters: [],
    ids: { next: 0 },
  };
  const onlooker = portsOver(table, { shared, worker: FREE, faults: NO_FAULTS });
  await onlooker.connections.save(connectionOf(options));
  await onlooker.hire(people);
  return {
    table,
    random,
    nowMs,
    onlooker,
    platform: shared.platform,
    applyQueue: shared.applyQueue,
    eventsQueue: new FakeEventsQueue(),
    deadLetters: shared.deadLetters,
    advance: (ms) => {
      const until = now + ms;
      // However long the jump, a late write is done in its own time.
      for (;;) {
        now = Math.max(now, Math.min(until, shared.platform.latestMs));
        shared.platform.doOverdue();
        if (now === until) return;
      }
    },
    portsFor: (worker) =>
      portsOver(
        gatedTable(table, worker, () => faults.table()),
        { shared, worker, faults },
      ),
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
  readonly platform: FakePlatform;
  readonly applyQueue: FakeApplyQueue;
  readonly deadLetters: DeadLetter[];
  readonly ids: { next: number };
}

interface Seat {
  readonly shared: Shared;
  readonly worker: Worker;
  readonly faults: Faults;
}

function portsOver(table: Table, { shared, worker, faults }: Seat) {
  const clock = () => shared.nowMs() + worker.skewMs;
  const people = createPeopleStore(table);
  return {
    table,
    clock,
    people,
    random: () => shared.random.next(),
    newId: () => {
      shared.ids.next += 1;
      return `i${String(shared.ids.next).padStart(6, '0')}`;
    },
    coalesceMs: shared.coalesceMs,
    createSettleMs: CREATE_SETTLE_MS,
    desired: createDesiredStore(table),
    users: createUserStore(table),
    connections: createConnectionStore(table, { clock, rememberMs: 0 }),
    groups: createGroupStore(table),
    claims: createClaimStore(table),
    guard: createGuardStore(table),
    gates: createGateStore(table),
    audit: createAuditLog(table),
    drift: createDriftLog(table),
    index: createGroupIndex(table),
    platforms: shared.platform.portFor(worker, (call) => faults.platform(call)),
    applyQueue: shared.applyQueue.portFor(worker, () => faults.queue()),
    deadLetters: {
      bury: async (letters: readonly DeadLetter[]) => {
        for (const letter of letters) {
          await worker.effect('bury');
          shared.deadLetters.push(letter);
        }
        return [];
      },
    },
    /** Fills the people index, as a refresh would do. */
    async hire(specs: readonly PersonSpec[]) {
      for (const { role, email, state = 'ACTIVE', userId = `u-${role}` } of specs) {
        const [seen] = (await people.read(CONNECTION, [roleId(role)])).values();
        await people.save(
          CONNECTION,
          {
            role: roleId(role),
            userId,
            state,
            values: new Map([['workEmail', email.toLowerCase()]]),
            unheard: false,
          },
          seen,
        );
      }
    },
  };
}
