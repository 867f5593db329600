import * as z from 'zod';
import { BlockRow } from './block.ts';
import { type Answer, count, instant, ms, nullable, text, Version } from './forms.ts';
import { Change, Waiting } from './groups.ts';

const EntryActor = z.object({
  kind: z.enum(['directory', 'operator', 'scim', 'groupsync', 'platform']),
  id: text.describe('An ARN, local:<login name>, a SCIM token prefix, or an id of directory or platform.'),
  name: nullable(text),
  arn: nullable(text),
});

const Caused = {
  cause: text.describe('The event, the external change that the write undoes, or the state of the person.'),
  event: nullable(z.object({ id: text, at: nullable(instant) })).describe(
    'The event of the cause, for deliveries --event, with its time; null if the cause is no event.',
  ),
  actor: EntryActor,
  approved: nullable(z.object({ by: text, reason: text })).describe('The approval of a held removal.'),
};

const ExplainedEvent = z.object({
  /** `member`, `group.upserted`, `group.deleted`, `group.snapshot`, `group.name` or `user.deleted`. */
  register: text,
  summary: text,
  id: nullable(text),
  source: nullable(text),
  time: nullable(text),
  actor: nullable(EntryActor).describe('The author of the change; null if the event names no author.'),
});
export type ExplainedEvent = Answer<typeof ExplainedEvent>;

const ExplainedRule = z.object({
  rule: text,
  value: nullable(text),
  found: z.array(z.object({ id: text, state: text })),
});
export type ExplainedRule = Answer<typeof ExplainedRule>;

export const Explanation = z.object({
  group: text,
  member: text,
  present: z.boolean().describe('Whether the platform group, as last written or read, contains the member.'),
  because: text,
  wanted: z.boolean().describe('Whether the directory has the member in the group.'),
  events: z.array(ExplainedEvent),
  match: z.object({
    rules: z.array(ExplainedRule),
    bound: nullable(text),
    person: nullable(z.object({ id: text, userId: nullable(text), state: text })),
    user: nullable(text),
    rehire: nullable(text).describe(
      'The ACTIVE employee that the member matches, if the member is bound to another person, who has left: groupsync rebind MEMBER EMPLOYEE. Otherwise null.',
    ),
  }),
  decision: z.object({ outcome: text, detail: text }),
  blocked: nullable(BlockRow).describe('The block of the person; null if the person is not blocked.'),
  waiting: nullable(Waiting).describe('Why the group is not written yet; null if it does not wait.'),
  write: nullable(
    z.object({
      at: instant,
      action: text,
      reason: text,
      ...Caused,
      versionBefore: Version,
      versionAfter: Version,
      outcome: text,
    }),
  ),
});
export type Explanation = Answer<typeof Explanation>;

/** One log entry: a write, an operator's action, or an external change on the platform. */
export const LogEntry = z.object({
  id: text,
  at: instant,
  connection: text,
  actor: EntryActor,
  action: text.describe('A write, the name of a command, or drift_<kind>.'),
  group: nullable(text),
  groupName: nullable(text),
  member: nullable(text),
  memberName: nullable(text),
  reason: nullable(text).describe('The reason as the operator wrote it.'),
  before: nullable(text).describe(
    'The earlier value, if the entry has one change. The field changes has all.',
  ),
  after: nullable(text),
  changes: z.array(Change.extend(Caused)),
  changeCount: count,
  versionBefore: Version,
  versionAfter: Version,
  cause: text,
  outcome: text,
  waitedMs: nullable(ms).describe('For a write: the time that the group had waited.'),
});
export type LogEntry = Answer<typeof LogEntry>;

export const PersonReport = z.object({
  member: text,
  members: z.array(text).describe('The member, and all other members that are bound to the same employee.'),
  name: nullable(text),
  bound: nullable(text).describe('The employee that the member is bound to.'),
  person: Explanation.shape.match.shape.person,
  attributes: z
    .record(text, z.object({ value: text, at: instant }))
    .describe(
      'The attributes from the directory, each with the time of its event. An erased value is empty.',
    ),
  values: z
    .record(text, text)
    .describe('The stored values of the employee, in the form that match rules compare.'),
  scim: nullable(z.looseObject({})).describe('The SCIM resource of the identity provider, unchanged.'),
  groups: z.array(
    z.object({
      group: text,
      name: nullable(text),
      member: text.describe('The member id through which the group has the person.'),
      wanted: Explanation.shape.wanted,
      present: Explanation.shape.present,
      outcome: text,
      because: text,
      event: nullable(ExplainedEvent).describe('The latest event about the membership.'),
      write: Explanation.shape.write,
    }),
  ),
  moreGroups: count.describe('The number of groups that are left out of this list.'),
  blocked: Explanation.shape.blocked,
  actions: z.array(LogEntry).describe('Actions of operators about the person: block, rebind, forget.'),
});
export type PersonReport = Answer<typeof PersonReport>;

export const AuditReport = z.object({
  chains: count.describe(
    'The number of audits that were read: one for each group, and one for the connection.',
  ),
  entries: count,
  named: count.describe('The number of entries whose hash a later entry or the group itself contains.'),
  broken: z
    .array(z.object({ group: nullable(text), at: instant, problem: z.enum(['changed', 'missing']) }))
    .describe('The first changed or removed entry of each audit.'),
  next: nullable(text).describe('If the command was stopped: the group at which --from goes on.'),
});
export type AuditReport = Answer<typeof AuditReport>;
