import * as z from 'zod';
import {
  AdoptionPlan,
  AuditCheck,
  Change,
  Check,
  ConnectionRow,
  count,
  DriftRow,
  EventsReport,
  Explanation,
  GroupReport,
  GroupStatus,
  HeldGroupReport,
  HoldRow,
  ImportReport,
  LogEntry,
  MatchPreview,
  ms,
  nullable,
  PendingRow,
  PersonReport,
  ReplayReport,
  ShownLetter,
  StatusReport,
  Survey,
  SyncReport,
  text,
} from '../shared/contract/answers.ts';
import { ACT_SCHEMAS } from './act-schemas.ts';

/* What each command prints with `--json`, for scripts; a test holds the commands' real output against it. */

const Plan = z.object({
  group: text,
  action: z.enum(['create', 'patch', 'put', 'delete', 'release', 'none', 'hold']),
  changes: z.array(Change),
  held: z.array(text).describe('Users whose removal the guard stops.'),
  digest: text,
  note: nullable(text),
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

const Connect = z.object({
  connection: text,
  stored: z.boolean(),
  usable: z.boolean(),
  company: text.optional(),
  checks: z.array(Check),
  preview: nullable(MatchPreview),
  adoption: nullable(AdoptionPlan),
});

/** By the words of the command, as they are typed. */
export const OUTPUT_SCHEMAS = {
  ...ACT_SCHEMAS,
  status: StatusReport,
  'status GROUP': GroupStatus,
  groups: z.object({ groups: z.array(GroupReport) }),
  plan: z.object({ plans: z.array(Plan) }),
  sync: SyncReport,
  explain: Explanation,
  person: PersonReport,
  pending: z.object({ pending: z.array(PendingRow) }),
  drift: z.object({ drift: z.array(DriftRow) }),
  log: z.object({ entries: z.array(LogEntry) }),
  audit: z.object({ entries: z.array(LogEntry) }),
  'audit verify': AuditCheck,
  'holds show': HeldGroupReport,
  holds: z.object({ holds: z.array(HoldRow) }),
  reconcile: z.union([Reconcile, Skipped]),
  doctor: z.object({ checks: z.array(Check) }),
  'connections list': z.object({ connections: z.array(ConnectionRow) }),
  connect: Connect,
  'dlq list': Survey,
  'dlq show': ShownLetter,
  'dlq replay': ReplayReport,
  import: ImportReport,
  'events send': EventsReport,
  'events validate': EventsReport,
} as const satisfies Record<string, z.ZodType>;
