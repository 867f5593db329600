import * as z from 'zod';
import { PendingCause } from '../../domain/group-state.ts';
import { AdoptedPair } from './connect.ts';
import { type Answer, count, nullable, text } from './forms.ts';

const LineError = z.object({ line: count, message: text });
export type LineError = Answer<typeof LineError>;

/** The result of reading a file, line by line. */
export const EventsReport = z.object({
  events: count,
  messages: count,
  errors: z.array(LineError).describe('The first thousand errors.'),
  errorCount: count,
});
export type EventsReport = Answer<typeof EventsReport>;

/** The changes of an import, compared with the stored state of the directory. */
const ImportComparison = z.object({
  added: count,
  removed: count,
  unmatched: count.describe('Added members without an employee: no match rule finds one.'),
  pending: z
    .array(z.object({ cause: PendingCause, count }))
    .optional()
    .describe('Added members who cannot be written yet, by cause.'),
  superseded: count.optional().describe('Differences without effect: the directory reported a later state.'),
  changedSince: z
    .array(text)
    .optional()
    .describe('Groups of the file that the directory has changed since the time of the file.'),
  newGroups: z
    .array(z.object({ group: text, groupName: text }))
    .optional()
    .describe('Groups that the directory has not named before.'),
  otherIds: z
    .array(z.object({ member: text, known: text }))
    .optional()
    .describe('New members whose employee already is a known member under another id.'),
  changes: z.array(
    z.object({
      kind: z.enum(['added', 'removed', 'unmatched']),
      group: text,
      groupName: text.describe('The name in the file.'),
      member: text,
      email: nullable(text).describe(
        'The address in the file; null also for a member that the file does not contain.',
      ),
    }),
  ),
  held: z.array(text).describe('Groups whose removals the guard would hold.'),
  renamed: z.array(
    z.object({ group: text, before: text, groupName: text.describe('The name in the file.') }),
  ),
  clashes: nullable(z.array(AdoptedPair)).describe(
    'Unmanaged groups on the platform that new groups of the file would duplicate; null: the platform could not be read.',
  ),
});
export type ImportComparison = Answer<typeof ImportComparison>;

export const ImportReport = EventsReport.extend({
  comparison: ImportComparison.optional().describe('Present if a deployment was available.'),
  rows: count,
  groups: count,
  ignoredColumns: z.array(text).optional().describe("Columns of the file's header that are not read."),
  otherGroups: count
    .optional()
    .describe('Rows of other groups than the one that --group names; they are left out.'),
  noPeople: count.optional().describe('Rows about a group within a group, or a device; they are left out.'),
  kind: z
    .enum(['add', 'remove'])
    .optional()
    .describe('A list of people to add or to remove, not of all members.'),
  columns: text
    .optional()
    .describe('A value for --columns, if the headings are unusual and their meaning is certain.'),
  delimiter: text.optional().describe('The separator with which the first line is certainly a header.'),
  skipLines: count.optional().describe('The number of lines before the header, if one is certain.'),
  /** False if nothing was sent: a dry run, errors, or an operator who answered no. */
  sent: z.boolean(),
  unsent: count
    .optional()
    .describe('Messages that were not sent because of Ctrl-C. The same import can safely be repeated.'),
});
export type ImportReport = Answer<typeof ImportReport>;
