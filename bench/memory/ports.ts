import type { SQSClient } from '@aws-sdk/client-sqs';
import type { Dispatcher } from 'undici';
import { createApplyQueue } from '../../shared/queues/apply-queue.ts';
import { createPlatforms } from '../../shared/runtime/platforms.ts';
import { createAuditLog } from '../../shared/store/audit-log.ts';
import { createClaimStore } from '../../shared/store/claim-store.ts';
import { createConnectionStore } from '../../shared/store/connection-store.ts';
import { createDesiredStore } from '../../shared/store/desired-store.ts';
import { createDriftLog } from '../../shared/store/drift-log.ts';
import { createGateStore } from '../../shared/store/gate-store.ts';
import { createGroupIndex } from '../../shared/store/group-index.ts';
import { createGroupStore } from '../../shared/store/group-store.ts';
import { createGuardStore } from '../../shared/store/guard-store.ts';
import { createHealthStore } from '../../shared/store/health-store.ts';
import { createPeopleStore } from '../../shared/store/people-store.ts';
import { createFeedStore, createLeases } from '../../shared/store/reconcile-store.ts';
import type { Table } from '../../shared/store/table.ts';
import { createUserStore } from '../../shared/store/user-store.ts';
import type { DeadLetterQueue } from '../../shared/sync/ports/queue.ts';

export interface PortsOptions {
  readonly table: Table;
  readonly sqs: SQSClient;
  readonly applyQueueUrl: string;
  readonly dispatcher: Dispatcher;
  readonly coalesceMs: number;
  readonly clock: () => number;
  readonly newId: () => string;
  /** Told of each read of the connection's secret. */
  readonly onSecretRead: () => void;
  readonly token?: string;
}

/** How long a connection is remembered, as shared/runtime/wire.ts has it. */
const CONNECTIONS_REMEMBERED_MS = 30_000;

/** What shared/runtime/wire-platform.ts joins, over clients, clock and ids of the bench's choice. */
export function benchPorts(options: PortsOptions) {
  const { table, clock, newId, coalesceMs } = options;
  const random = () => 0.5;
  const leases = createLeases(table);
  const deadLetters: DeadLetterQueue = {
    async bury(letters) {
      if (letters.length === 0) return [];
      throw new Error(`a bench dead-letters nothing: ${letters[0]?.code} ${letters[0]?.message}`);
    },
  };
  return {
    table,
    clock,
    random,
    newId,
    coalesceMs,
    deadLetters,
    leases,
    createSettleMs: 5_000,
    desired: createDesiredStore(table),
    users: createUserStore(table),
    connections: createConnectionStore(table, { clock, rememberMs: CONNECTIONS_REMEMBERED_MS }),
    applyQueue: createApplyQueue(options.sqs, { queueUrl: options.applyQueueUrl, coalesceMs, clock, newId }),
    groups: createGroupStore(table),
    people: createPeopleStore(table),
    claims: createClaimStore(table),
    guard: createGuardStore(table),
    gates: createGateStore(table),
    audit: createAuditLog(table),
    drift: createDriftLog(table),
    index: createGroupIndex(table),
    feed: createFeedStore(table),
    health: createHealthStore(table),
    platforms: createPlatforms({
      secrets: {
        read: async () => {
          options.onSecretRead();
          return { value: { token: options.token ?? 'bench' }, version: '1' };
        },
        write: async () => '1',
      },
      leases,
      dispatcher: options.dispatcher,
      clock,
      random,
      sleep: async () => {},
    }),
  };
}

export type BenchPorts = ReturnType<typeof benchPorts>;
