import type { DriftKind } from '../../domain/drift.ts';
import type { AuditLog } from '../ports/audit.ts';
import type { ClaimStore } from '../ports/claims.ts';
import type { Connection, Connections, CurrentConnections } from '../ports/connections.ts';
import type { UserStore } from '../ports/desired.ts';
import type { DriftLog } from '../ports/drift.ts';
import type { GateStore } from '../ports/gate.ts';
import type { GroupStore } from '../ports/groups.ts';
import type { GuardStore } from '../ports/holds.ts';
import type { GroupIndex } from '../ports/index.ts';
import type { PeopleStore } from '../ports/people.ts';
import type { Platform, Platforms } from '../ports/platform.ts';
import type { ApplyQueue, DeadLetterQueue } from '../ports/queue.ts';

export interface ApplyPorts {
  readonly groups: GroupStore;
  readonly users: UserStore;
  readonly people: PeopleStore;
  readonly claims: ClaimStore;
  readonly guard: GuardStore;
  readonly gates: GateStore;
  readonly index: Pick<GroupIndex, 'all'>;
  readonly audit: AuditLog;
  readonly drift: DriftLog;
  readonly connections: Connections & CurrentConnections;
  readonly platforms: Platforms;
  readonly applyQueue: ApplyQueue;
  readonly deadLetters: DeadLetterQueue;
  readonly clock: () => number;
  /** Ids of intents; they sort by time, so that audit entries of one instant keep their order. */
  readonly newId: () => string;
  /** A number from 0 up to 1, for jitter. */
  readonly random: () => number;
  /** How long the platform may take to show a group that it has created. */
  readonly createSettleMs: number;
}

/** One group's connection and platform, opened once per invocation. */
export interface Lane {
  readonly connection: Connection;
  readonly platform: Platform;
  readonly ports: ApplyPorts;
  /** Told of each difference by somebody else that was not known before. */
  readonly found: (kind: DriftKind) => void;
}
