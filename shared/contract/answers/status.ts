import * as z from 'zod';
import { SOURCES } from '../../domain/source.ts';
import { PROTECTED_SETTINGS } from '../weakening.ts';
import { type Answer, count, instant, ms, nullable, text } from './forms.ts';

/** The result of the last check of the credential, by the daily job or by `connect`. */
export const CredentialReport = z
  .object({
    goodAt: nullable(instant).describe('When the credential last passed the check; null: never.'),
    goodAgeMs: nullable(ms),
    failure: nullable(z.object({ at: instant, message: text })).describe(
      'The failed check since the last passed check; null: none.',
    ),
  })
  .describe('The result of the daily check, or of connect.');
export type CredentialReport = Answer<typeof CredentialReport>;

const Queue = nullable(count).describe('Messages, in flight and delayed ones included; null: no such queue.');

/** A change of a protected setting that waits for a second person. The values are JSON texts. */
export const SettingRequestRow = z.object({
  key: z.enum(PROTECTED_SETTINGS),
  before: text,
  after: text,
  by: text.describe('The person who requested the change. Another person must confirm it.'),
  at: instant,
});
export type SettingRequestRow = Answer<typeof SettingRequestRow>;

/** Calls of one endpoint of the platform since they began to fail. */
const FailingEndpoint = z.object({
  endpoint: text.describe('Method and path template.'),
  failed: count,
  total: count.describe('All calls since the first failed call.'),
  share: z.number().describe('Failed calls divided by all calls, from 0 to 1.'),
  since: instant,
  lastFailureAt: instant,
  reason: text.describe('Status of the last failure, or the class of its error.'),
});
export type FailingEndpoint = Answer<typeof FailingEndpoint>;

/** A source of changes: when it was last received, and how often it is expected. */
export const SourceReport = z.object({
  source: z.enum(SOURCES).describe('directory: the reader of the directory.'),
  receivedAt: nullable(instant).describe('The last receipt, up to a minute old; null: none yet.'),
  receivedAgeMs: nullable(ms),
  expectedEveryMs: nullable(ms).describe('Null: no receipt is expected.'),
  late: z.boolean().describe('The next receipt has been overdue for over ten minutes.'),
});
export type SourceReport = Answer<typeof SourceReport>;

export const StatusReport = z.object({
  connection: text,
  gate: z.object({
    state: z.enum(['open', 'backoff', 'unauthorized', 'paused']),
    until: nullable(instant),
    reason: nullable(text),
    contact: nullable(text).describe(
      'If the platform refuses the credential: which person to contact, by the id on the platform; null if not known.',
    ),
  }),
  failingCalls: z.array(FailingEndpoint).describe('Endpoints whose calls fail now; empty if none fails.'),
  observing: z.boolean().describe('The connection only plans, and writes nothing.'),
  drift: text.describe('What groupsync does with external changes: restore, report or adopt.'),
  credential: CredentialReport,
  groups: z.record(text, count).describe('Number of groups by state.'),
  pendingMembers: count,
  /** Groups with changes that are not on the platform yet. */
  backlog: count,
  oldestUnappliedMs: nullable(ms),
  holds: count,
  settingRequests: count.describe('Changes of settings that wait for a second person.'),
  feed: z.object({ cursorAgeMs: nullable(ms) }),
  sources: z
    .array(SourceReport)
    .describe('Sources from which a change was received, or from which one is expected.'),
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

export const UpgradeReport = z.object({
  deployed: nullable(text).describe('Version of the stack; null if the stack does not say it.'),
  installed: text,
  direction: z.enum(['upgrade', 'downgrade', 'same', 'unknown']),
  storedForms: z.array(text).describe('Changes of stored data by the versions after the deployed one.'),
  settingsAdded: z.array(text),
  settingsRemoved: z.array(text),
  canReadData: nullable(z.boolean()).describe('Whether the installed version can read the stored data.'),
  canRollBack: nullable(z.boolean()).describe(
    'Whether the deployed version can read the data after an upgrade.',
  ),
});
export type UpgradeReport = Answer<typeof UpgradeReport>;
