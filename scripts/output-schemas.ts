import * as z from 'zod';
import { PLAN_ACTIONS } from '../cli/deploy/plan.ts';
import { BlockReport, UnblockReport } from '../shared/contract/answers/block.ts';
import { Check, Inspection, ProbeReport } from '../shared/contract/answers/connect.ts';
import { ReplayReport, ShownDeadLetter, Survey } from '../shared/contract/answers/dead-letters.ts';
import { DeliveryReport } from '../shared/contract/answers/deliveries.ts';
import {
  DirectoryComparison,
  DirectoryDisconnection,
  DirectoryGroupRow,
  DirectoryPreview,
  DirectoryReadReport,
  DirectoryStatus,
  TakeoverReport,
} from '../shared/contract/answers/directory.ts';
import { AuditReport, Explanation, LogEntry, PersonReport } from '../shared/contract/answers/explain.ts';
import { EventsReport, ImportReport } from '../shared/contract/answers/files.ts';
import { count, instant, nullable, text } from '../shared/contract/answers/forms.ts';
import {
  ExportReport,
  GroupMembers,
  GroupReport,
  GroupStatus,
  PastMembers,
  PendingRow,
  PersonAt,
  Plan,
  SyncReport,
} from '../shared/contract/answers/groups.ts';
import { HeldGroupReport, HoldRow } from '../shared/contract/answers/holds.ts';
import { AdoptionPreview, PlatformGroupsReport } from '../shared/contract/answers/platform-groups.ts';
import { PeopleReport, ReconcileReport } from '../shared/contract/answers/reconcile.ts';
import { AppliedSettings, ChangedSettings, ExportedSettings } from '../shared/contract/answers/settings.ts';
import {
  ConnectionRow,
  CredentialReport,
  SettingRequestRow,
  StatusReport,
  TaskReport,
} from '../shared/contract/answers/status.ts';
import { ROLES } from '../shared/contract/console.ts';
import { ProbeFinding } from '../shared/contract/contract-report.ts';

/* The JSON that each command prints with `--json`. A test compares it with the commands' real output. */

const Skipped = z
  .object({ connection: text, skipped: text, since: instant.optional() })
  .describe('Another run did not end within 30 s.');

const Connect = z.union([
  z.object({ connection: text, stored: z.boolean(), ...Inspection.shape }),
  z
    .object({
      connection: text,
      stored: z.boolean(),
      kind: text,
      observing: z
        .boolean()
        .describe(
          'Whether the connection only observes: it makes plans, and writes nothing until `groupsync resume`.',
        ),
      ...DirectoryPreview.shape,
    })
    .describe('The answer with --directory.'),
]);

const Decided = z.object({
  group: text,
  outcome: z
    .enum(['decided', 'no_hold', 'changed', 'all_or_none'])
    .describe('all_or_none: the directory deleted the group, so all removals must be decided together.'),
  digest: text.describe('Digest of the removals in the request.'),
});

const AdoptOutcome = z.enum(['adopted', 'not_in_directory', 'linked', 'owned', 'not_on_platform', 'busy']);
const Erased = z.record(text, count).describe('Number of erased items, by kind.');

const Token = z.object({
  prefix: text,
  client: nullable(text).describe('Id of the OAuth client of the secret; null for a bearer token.'),
  state: z.enum(['active', 'requested', 'expired', 'revoked']),
  createdAt: instant,
  expiresAt: nullable(instant),
  revokedAt: nullable(instant),
  lastUsedAt: nullable(instant).describe('Rounded to the hour.'),
});

const ClientSecret = z.object({
  clientId: text,
  clientSecret: text.describe('Shown only once.'),
  prefix: text.describe('Prefix of the secret, as in the list.'),
  connection: text,
  expiresAt: nullable(instant),
  previousEndAt: nullable(instant).describe('When earlier secrets expire; null if no secret will expire.'),
  tokenUrl: nullable(text).describe('The URL at which the client gets access tokens; null if unknown.'),
  url: nullable(text).describe('Base URL; null without a SCIM server, or if unknown.'),
});

const StackPlace = { stack: text, account: text, region: text };
const StackResource = { type: text.describe('CloudFormation type.'), resource: text };
const Deployment = z.object({
  ...StackPlace,
  changes: z.array(z.object({ action: z.enum(PLAN_ACTIONS), ...StackResource })),
  permissions: z
    .object({ added: count, removed: count })
    .describe('Lines in the comparison of IAM statements and policies.'),
  deployed: z.boolean(),
});
const Destruction = z.object({
  ...StackPlace,
  deleted: z.array(z.object(StackResource)),
  kept: z.array(z.object(StackResource)).describe('Resources that stay when the stack is deleted.'),
  destroyed: z.boolean(),
});

const LogReport = z.object({ entries: z.array(LogEntry), complete: z.boolean() });

export const OUTPUT_SCHEMAS = {
  'connections show': z.object({
    name: text,
    company: text,
    observing: z.boolean(),
    gate: z.object({ state: text, reason: nullable(text), since: nullable(instant) }),
    credential: CredentialReport,
    tasks: z.array(TaskReport),
    contract: nullable(z.object({ at: instant, findings: z.array(ProbeFinding) })).describe(
      'The findings of `probe`.',
    ),
    settings: z.record(text, z.unknown()).describe('Every setting, defaults included.'),
    requests: z.array(SettingRequestRow).describe('Changes that wait for a second person (four eyes).'),
  }),
  'connections confirm': z.object({
    outcome: z.enum(['confirmed', 'rejected', 'none']),
    requests: z.array(SettingRequestRow).describe('Requests that were confirmed or rejected.'),
    replanned: count.describe('Groups that are planned again.'),
  }),
  'connections set': ChangedSettings,
  'connections apply': AppliedSettings,
  'connections export': ExportedSettings,
  'connections remove': z.object({
    removed: text,
    secretRemoved: z.boolean(),
    erased: nullable(Erased).describe('Null without --erase.'),
  }),
  deploy: Deployment,
  destroy: Destruction,
  'notify list': z.object({ targets: z.array(text) }),
  'notify test': z.object({ notified: z.array(z.object({ target: text, failure: nullable(text) })) }),
  probe: z.object({ connection: text, ...ProbeReport.shape }),
  'people refresh': z.union([PeopleReport, Skipped]),
  'directory status': DirectoryStatus,
  'directory groups': z.union([
    z.object({ groups: z.array(DirectoryGroupRow) }),
    DirectoryComparison.describe('The answer with --compare.'),
  ]),
  'directory disconnect': DirectoryDisconnection,
  'directory takeover': TakeoverReport,
  'directory read': z.union([DirectoryReadReport, Skipped]),
  adopt: z.object({
    adoptions: z
      .array(z.object({ ...AdoptionPreview.shape, outcome: AdoptOutcome }))
      .describe('The preview of each adoption, and its outcome.'),
    created: nullable(text).describe('The group that will be created, with --create.'),
  }),
  'platform-groups': PlatformGroupsReport,
  release: z.object({ group: text, released: z.boolean() }),
  rebind: z.object({
    member: text,
    role: text,
    outcome: z.enum(['rebound', 'unknown_person']),
    groups: z.array(text),
  }),
  forget: z.object({
    member: text,
    forgotten: z.boolean(),
    attributes: z.array(text).describe('Names of the erased attributes.'),
    erased: Erased,
    others: z.array(text).describe('Other connections that still have data of the person.'),
  }),
  block: BlockReport,
  unblock: UnblockReport,
  restated: z.object({ restated: text.describe('The group, or the connection.'), groups: count }),
  pause: z.object({ paused: text.describe('The group, or the connection.'), reason: nullable(text) }),
  resume: z.object({
    resumed: text.describe('The group, or the connection.'),
    wasPaused: z.boolean(),
    backlog: nullable(count).describe('Groups that wait to be written; null if one group was resumed.'),
  }),
  'holds approve': Decided,
  'holds reject': Decided,
  'dlq edit': z.object({ id: text, sent: z.boolean() }),
  'dlq discard': z.object({ discarded: count, missing: count }),
  'scim token create': z.object({
    token: text.describe('Shown only once.'),
    prefix: text,
    connection: text,
    expiresAt: nullable(instant),
    url: nullable(text).describe('Base URL; null without a SCIM server, or if unknown.'),
  }),
  'console sessions list': z.object({
    sessions: z.array(
      z.object({ id: text, person: text, role: z.enum(ROLES), since: instant, expiresAt: instant }),
    ),
  }),
  'console sessions end': z.object({ ended: count.describe('Number of ended sessions.') }),
  'scim token list': z.object({ tokens: z.array(Token) }),
  'scim token revoke': z.object({ prefix: text, revoked: z.boolean() }),
  'scim client create': ClientSecret,
  'scim client list': z.object({
    clients: z.array(z.object({ clientId: text, secrets: z.array(Token) })),
  }),
  'scim client rotate': ClientSecret,
  'scim client revoke': z.object({ clientId: text, revoked: z.boolean() }),
  status: StatusReport,
  'status GROUP': GroupStatus,
  groups: z.object({ groups: z.array(GroupReport) }),
  plan: z.object({ plans: z.array(Plan) }),
  sync: SyncReport,
  explain: Explanation,
  members: z.union([GroupMembers, PastMembers]),
  person: z.union([PersonReport, PersonAt]),
  diff: PastMembers,
  export: ExportReport,
  pending: z.object({ pending: z.array(PendingRow) }),
  log: LogReport,
  deliveries: DeliveryReport,
  audit: AuditReport,
  evidence: z.object({
    folder: text,
    groups: count,
    manifest: text.describe('The SHA-256 of manifest.json.'),
  }),
  'evidence verify': z.object({
    madeBy: text,
    madeAt: instant,
    changed: z.array(z.object({ file: text, line: nullable(count) })),
    broken: AuditReport.shape.broken,
  }),
  'holds show': HeldGroupReport,
  holds: z.object({ holds: z.array(HoldRow) }),
  reconcile: z.union([ReconcileReport, Skipped]),
  doctor: z.object({ checks: z.array(Check) }),
  'connections list': z.object({ connections: z.array(ConnectionRow) }),
  connect: Connect,
  'dlq list': Survey,
  'dlq show': ShownDeadLetter,
  'dlq replay': ReplayReport,
  undo: ImportReport,
  import: ImportReport,
  'events send': EventsReport,
  'events validate': EventsReport,
} as const satisfies Record<string, z.ZodType>;
