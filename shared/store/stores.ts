import { createClaimStore } from './claim-store.ts';
import {
  createFeedStore,
  createGateStore,
  createHealthStore,
  createNoticeStore,
  createTrendStore,
} from './connection-states.ts';
import { createDeliveryStore } from './delivery-store.ts';
import { createDesiredStore } from './desired-store.ts';
import { createGroupIndex } from './group-index.ts';
import { createGroupStore } from './group-store.ts';
import { createGuardStore } from './guard-store.ts';
import { createLeases } from './leases.ts';
import { createAuditLog, createDriftLog } from './logs.ts';
import { createPeopleStore } from './people-store.ts';
import { createSourceStore } from './source-store.ts';
import type { Table } from './table.ts';
import { createUserStore } from './user-store.ts';

/**
 * The stores of commands and of the workers that call the platform. The store of connections is missing, because it
 * needs a clock.
 */
export const storesOver = (table: Table, inlineViewBytes?: number) => ({
  groups: createGroupStore(table, inlineViewBytes),
  users: createUserStore(table),
  people: createPeopleStore(table),
  claims: createClaimStore(table),
  guard: createGuardStore(table),
  gates: createGateStore(table),
  audit: createAuditLog(table),
  drift: createDriftLog(table),
  deliveries: createDeliveryStore(table),
  desired: createDesiredStore(table),
  index: createGroupIndex(table),
  feed: createFeedStore(table),
  health: createHealthStore(table),
  notices: createNoticeStore(table),
  trends: createTrendStore(table),
  leases: createLeases(table),
  sources: createSourceStore(table),
});
