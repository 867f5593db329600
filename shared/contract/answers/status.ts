import * as z from 'zod';
import { SOURCES } from '../../domain/source.ts';
import { TASKS } from '../../domain/task.ts';
import { PROTECTED_SETTINGS } from '../weakening.ts';
import { BlockRow } from './block.ts';
import { type Answer, count, instant, ms, nullable, text } from './forms.ts';

/** The result of the last check of the credential, by the daily job or by `connect`. */
export const CredentialReport = z
  .object({
    goodAt: nullable(instant).describe('When the credential last passed the check; null if never.'),
    goodAgeMs: nullable(ms),
    failure: nullable(z.object({ at: instant, message: text })).describe(
      'The check that failed after the last passed check; null if none failed.',
    ),
  })
  .describe('The result of the latest check, which the daily job or connect made.');
export type CredentialReport = Answer<typeof CredentialReport>;

const Queue = nullable(count).describe(
  'The number of messages, including messages in flight and delayed messages; null if the queue does not exist.',
);

/** A change of a protected setting, or the end of a block, that waits for a second person. The values are JSON texts. */
export const SettingRequestRow = z.object({
  key: z
    .enum([...PROTECTED_SETTINGS, 'unblock', 'scim_token'])
    .describe('A setting, unblock for the end of a block, or scim_token for a new SCIM token or secret.'),
  before: text,
  after: text,
  by: text.describe('The person who requested the change. Another person must confirm it.'),
  at: instant,
});
export type SettingRequestRow = Answer<typeof SettingRequestRow>;

const FailingEndpoint = z.object({
  endpoint: text.describe('Method and path template.'),
  failed: count,
  total: count.describe('The number of calls since the first failed call.'),
  share: z.number().describe('Failed calls divided by all calls, from 0 to 1.'),
  since: instant,
  lastFailureAt: instant,
  reason: text.describe('The HTTP status of the last failure, or the class of its error.'),
});
export type FailingEndpoint = Answer<typeof FailingEndpoint>;

const ReaderStop = z.object({ since: instant, reason: text });

export const SourceReport = z.object({
  source: z.enum(SOURCES).describe('directory: the reader of the directory.'),
  receivedAt: nullable(instant).describe(
    'The last receipt, up to a minute too early; null if there was none.',
  ),
  receivedAgeMs: nullable(ms),
  expectedEveryMs: nullable(ms).describe('Null if no receipt is expected.'),
  late: z.boolean().describe('Whether the next receipt has been overdue for more than ten minutes.'),
  stopped: nullable(ReaderStop).describe(
    'Why the reader has stopped: it lacks a right, or too many groups are missing. Null for other sources.',
  ),
  shortGroups: count.describe('Groups that the reader has not read completely for some time. 0 for others.'),
  flips: z
    .array(text)
    .describe('Groups whose list changed back three times within an hour, with the times of both answers.'),
});
export type SourceReport = Answer<typeof SourceReport>;

export const TaskReport = z.object({
  task: z.enum(TASKS),
  state: z
    .enum(['running', 'ended', 'failed', 'waiting'])
    .describe('waiting: a run is due and has not begun. failed: the last run failed.'),
  since: nullable(instant).describe('The start of the present run.'),
  endedAgeMs: nullable(ms).describe('The age of the last end without a failure.'),
  failure: nullable(z.object({ at: instant, message: text })).describe('The last failure since that end.'),
  next: nullable(text).describe('The command that runs a task that failed or is late.'),
});
export type TaskReport = Answer<typeof TaskReport>;

export const StatusReport = z.object({
  connection: text,
  gate: z.object({
    state: z
      .enum(['open', 'backoff', 'unauthorized', 'paused', 'invalid_settings'])
      .describe('invalid_settings: no function works for this connection.'),
    until: nullable(instant),
    reason: nullable(text),
    contact: nullable(text).describe(
      'If the platform refuses the credential: the platform id of the person to contact; null if unknown.',
    ),
  }),
  failingCalls: z.array(FailingEndpoint).describe('The endpoints whose calls fail now.'),
  observing: z.boolean().describe('Whether the connection only observes: it plans and writes nothing.'),
  mode: text.describe('The mode of the connection: authoritative, additive or report.'),
  credential: CredentialReport,
  groups: z.record(text, count).describe('Number of groups by state.'),
  pendingMembers: count,
  excludedMembers: count.describe(
    'Memberships that people.exclude leaves out. No other count includes them.',
  ),
  backlog: count,
  oldestUnappliedMs: nullable(ms),
  holds: count,
  settingRequests: count.describe('Settings, ends of blocks, and SCIM tokens that need a second person.'),
  blocked: z.array(BlockRow).describe('The people that operators have blocked.'),
  tasks: z.array(TaskReport).describe('The last run of each task of the connection.'),
  sources: z.array(SourceReport).describe('The sources from which changes have arrived or are expected.'),
  openMoves: nullable(text).describe('The unfinished moves of groups to another source, as a sentence.'),
  keptMembers: z
    .object({
      total: count,
      groups: z.array(z.object({ id: text, name: nullable(text), since: instant })),
    })
    .describe('SCIM groups that kept all members, because a PUT named none. At most 20.'),
  queues: z.object({ events: Queue, eventsDlq: Queue, apply: Queue, applyDlq: Queue }),
});
export type StatusReport = Answer<typeof StatusReport>;

export const ConnectionRow = z.object({
  name: text,
  company: text,
  baseUrl: text,
  gate: text,
  since: nullable(instant),
  reason: nullable(text),
  observing: z.boolean(),
});
export type ConnectionRow = Answer<typeof ConnectionRow>;
