import { createAuditLog } from '../store/audit-log.ts';
import { createClaimStore } from '../store/claim-store.ts';
import { createDesiredStore } from '../store/desired-store.ts';
import { createDriftLog } from '../store/drift-log.ts';
import { createGateStore, createHealthStore } from '../store/gate-store.ts';
import { createGroupIndex } from '../store/group-index.ts';
import { createGroupStore } from '../store/group-store.ts';
import { createGuardStore } from '../store/guard-store.ts';
import { createPeopleStore } from '../store/people-store.ts';
import { createFeedStore, createLeases } from '../store/reconcile-store.ts';
import type { Table } from '../store/table.ts';
import { createUserStore } from '../store/user-store.ts';

/** What the workers that talk to the platform keep in the table, save the connections, which need a clock. */
export const storesOver = (table: Table) => ({
  groups: createGroupStore(table),
  users: createUserStore(table),
  people: createPeopleStore(table),
  claims: createClaimStore(table),
  guard: createGuardStore(table),
  gates: createGateStore(table),
  audit: createAuditLog(table),
  drift: createDriftLog(table),
  desired: createDesiredStore(table),
  index: createGroupIndex(table),
  feed: createFeedStore(table),
  health: createHealthStore(table),
  leases: createLeases(table),
});
