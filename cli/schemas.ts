import { z } from 'zod';
import { DRIFT_KINDS } from '../shared/domain/drift.ts';
import { ACT_SCHEMAS } from './act-schemas.ts';
import { Change, Credential, count, instant, ms, nullable, text } from './schema-parts.ts';

/*
 * What each command prints with `--json`, for scripts. More fields may follow, none goes: docs/cli/schemas is generated
 * from here, and a test holds the commands' real output against it.
 */

const GroupState = z.enum(['in_sync', 'dirty', 'held', 'failed', 'paused', 'deleted', 'unnamed', 'excluded']);
const PendingCause = z.enum(['unknown', 'ambiguous', 'inactive', 'refused']);

const Group = z.object({
  connection: text,
  id: text.describe('Id of the group in the directory.'),
  name: nullable(text),
  platformId: nullable(text),
  version: nullable(text),
  state: GroupState,
  wanted: count.describe('Members present in the directory, pending ones included.'),
  applied: count.describe('Members confirmed on the platform.'),
  users: z.array(text).describe("Users in the platform's group as last written or read, sorted."),
  pending: z.array(z.object({ id: text, cause: PendingCause, sinceMs: ms })),
});

const Queue = nullable(count).describe('Messages, in flight and delayed ones included; null: no such queue.');

const Status = z.object({
  connection: text,
  gate: z.object({
    state: z.enum(['open', 'backoff', 'unauthorized', 'paused']),
    until: nullable(instant),
    reason: nullable(text),
  }),
  credential: Credential,
  groups: z.record(text, count).describe('Number of groups by state.'),
  pendingMembers: count,
  backlog: count,
  oldestUnappliedMs: nullable(ms),
  holds: count,
  feed: z.object({ cursorAgeMs: nullable(ms) }),
  queues: z.object({ events: Queue, eventsDlq: Queue, apply: Queue, applyDlq: Queue }),
});

const GroupStatus = Group.extend({
  link: nullable(z.object({ platformId: text, version: nullable(text), openWrite: nullable(text) })),
  lastError: nullable(z.object({ code: text, message: text, at: instant })),
  lastWriteAt: nullable(instant),
  dirtySince: nullable(instant),
  hold: nullable(z.object({ digest: text, removes: count, decision: text })),
});

const Plan = z.object({
  group: text,
  action: z.enum(['create', 'patch', 'put', 'delete', 'release', 'none', 'hold']),
  changes: z.array(Change),
  held: z.array(text).describe('Users whose removal the guard stops.'),
  digest: text,
  note: nullable(text),
});

const Explanation = z.object({
  group: text,
  member: text,
  present: z.boolean().describe("In the platform's group, as it was last written or read."),
  because: text,
  wanted: z.boolean().describe('The directory has them in the group.'),
  events: z.array(
    z.object({
      register: text,
      says: text,
      id: nullable(text),
      source: nullable(text),
      time: nullable(text),
    }),
  ),
  match: z.object({
    rules: z.array(
      z.object({
        rule: text,
        value: nullable(text),
        found: z.array(z.object({ id: text, state: text })),
      }),
    ),
    bound: nullable(text),
    person: nullable(z.object({ id: text, userId: nullable(text), state: text })),
    user: nullable(text),
  }),
  decision: z.object({ outcome: text, detail: text }),
  write: nullable(
    z.object({
      at: instant,
      action: text,
      reason: text,
      cause: text,
      versionBefore: nullable(text),
      versionAfter: nullable(text),
      outcome: text,
    }),
  ),
});

const Drift = z.object({
  id: text,
  group: text,
  kind: z.enum(DRIFT_KINDS),
  initiator: text,
  before: nullable(z.union([text, z.array(text)])),
  after: nullable(z.union([text, z.array(text)])),
  settledBy: nullable(text),
  detectedAt: instant,
  settledAt: nullable(instant),
});

const AuditEntry = z.object({
  at: instant,
  action: text,
  changes: z.array(Change),
  changeCount: count,
  versionBefore: nullable(text),
  versionAfter: nullable(text),
  cause: text,
  outcome: text,
});

const Hold = z.object({
  group: text,
  removes: count,
  keeps: z.int(),
  share: z.number(),
  digest: text,
  rule: text,
  decision: z.enum(['waiting', 'approved', 'rejected']),
  createdAt: instant,
  expiresAt: instant,
});

const Reconcile = z.object({
  connection: text,
  eventsRead: count,
  groupsTouched: count,
  echoes: count,
  drift: z.record(text, count),
  restored: count,
  reported: count,
  adopted: count,
  orphans: count,
  missing: count,
  reenqueued: count,
  cursor: nullable(text),
  durationMs: ms,
});

const Skipped = z.object({ connection: text, skipped: text }).describe('Another run is at it.');

const Check = z.object({ name: text, ok: z.boolean(), detail: text, fix: nullable(text) });
const LineErrors = {
  errors: z.array(z.object({ line: count, message: text })).describe('The first thousand.'),
  errorCount: count,
};
const Events = z.object({ events: count, messages: count, ...LineErrors });

const DlqList = z.object({
  queue: z.enum(['events', 'apply', 'all']),
  total: count.describe('Found, or in flight with another consumer.'),
  inFlightElsewhere: count,
  complete: z.boolean(),
  causes: z.array(z.object({ code: text, count, superseded: count, oldestMs: ms, newestMs: ms })),
  messages: z.array(
    z.object({
      id: text,
      queue: z.enum(['events', 'apply']),
      code: text,
      message: text,
      group: nullable(text),
      ageMs: ms,
      superseded: z.boolean(),
    }),
  ),
  selected: count,
});

const DlqShow = z.object({
  id: text,
  queue: z.enum(['events', 'apply']),
  code: text,
  message: text,
  failedAt: instant,
  connection: nullable(text),
  superseded: z.boolean(),
  problems: z.array(text).describe('Why ingest would refuse it now; empty where it would not.'),
  events: z.array(
    z.object({
      id: text,
      source: text,
      connection: text,
      time: nullable(text),
      kind: text,
      group: nullable(text),
      members: z.array(text),
    }),
  ),
  now: z.array(
    z.object({
      group: text,
      state: GroupState,
      wanted: count,
      platformId: nullable(text),
      version: nullable(text),
      users: count,
      lastError: nullable(text),
    }),
  ),
  body: text,
});

const Connect = z.object({
  connection: text,
  stored: z.boolean(),
  usable: z.boolean(),
  company: text.optional(),
  checks: z.array(Check),
  preview: nullable(
    z.object({
      members: count,
      matched: count,
      ambiguous: count,
      unmatched: count,
      byRule: z.array(z.object({ rule: text, matched: count })),
    }),
  ),
  adoption: nullable(
    z.object({
      existing: count,
      directory: count,
      bySpokeId: z.array(z.object({ group: text, name: text, platformId: text })),
      byName: z.array(z.object({ group: text, name: text, platformId: text })),
    }),
  ),
});

/** By the words of the command, as they are typed. */
export const OUTPUT_SCHEMAS = {
  ...ACT_SCHEMAS,
  status: Status,
  'status GROUP': GroupStatus,
  groups: z.object({ groups: z.array(Group) }),
  plan: z.object({ plans: z.array(Plan) }),
  sync: z.object({
    synced: z.array(
      z.object({ group: text, state: GroupState, version: nullable(text), lastError: nullable(text) }),
    ),
    stopped: nullable(text).describe('Why the rest was not waited for.'),
  }),
  explain: Explanation,
  pending: z.object({
    pending: z.array(z.object({ group: text, member: text, cause: PendingCause, sinceMs: ms })),
  }),
  drift: z.object({ drift: z.array(Drift) }),
  audit: z.object({ entries: z.array(AuditEntry) }),
  holds: z.object({ holds: z.array(Hold) }),
  reconcile: z.union([Reconcile, Skipped]),
  doctor: z.object({ checks: z.array(Check) }),
  'connections list': z.object({
    connections: z.array(
      z.object({
        name: text,
        company: text,
        baseUrl: text,
        gate: text,
        since: nullable(instant),
        reason: nullable(text),
        observing: z.boolean(),
      }),
    ),
  }),
  connect: Connect,
  'dlq list': DlqList,
  'dlq show': DlqShow,
  'dlq replay': z.object({ replayed: count, failed: count, remaining: count, cancelled: z.boolean() }),
  import: Events.extend({
    rows: count,
    groups: count,
    ignoredColumns: z.array(text).optional().describe("Columns of the file's header that are not read."),
    sent: z.boolean(),
  }),
  'events send': Events,
  'events validate': Events,
} as const satisfies Record<string, z.ZodType>;
