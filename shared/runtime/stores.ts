import { createClaimStore } from '../store/claim-store.ts';
import {
  createFeedStore,
  createGateStore,
  createHealthStore,
  createLeases,
  createNoticeStore,
  createTrendStore,
} from '../store/connection-states.ts';
import { createDeliveryStore } from '../store/delivery-store.ts';
import { createDesiredStore } from '../store/desired-store.ts';
import { createGroupIndex } from '../store/group-index.ts';
import { createGroupStore } from '../store/group-store.ts';
import { createGuardStore } from '../store/guard-store.ts';
import { createAuditLog, createDriftLog } from '../store/logs.ts';
import { createPeopleStore } from '../store/people-store.ts';
import { createSourceStore } from '../store/source-store.ts';
import type { Table } from '../store/table.ts';
import { createUserStore } from '../store/user-store.ts';

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
