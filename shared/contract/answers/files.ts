import * as z from 'zod';
import { PendingCause } from '../../domain/group-state.ts';
import { AdoptedPair } from './connect.ts';
import { type Answer, count, nullable, text } from './forms.ts';
import { MissingPerson } from './groups.ts';

const LineError = z.object({ line: count, message: text });
export type LineError = Answer<typeof LineError>;

export const OtherSource = z.object({ group: text, source: z.enum(['directory', 'scim']) });
export type OtherSource = Answer<typeof OtherSource>;

const OtherSources = z
  .array(OtherSource)
  .optional()
  .describe('Groups of the directory reader or a SCIM client. The events have no effect there.');

export const EventsReport = z.object({
  events: count,
  messages: count,
  errors: z.array(LineError).describe('The first thousand errors.'),
  errorCount: count,
  otherSources: OtherSources,
});
export type EventsReport = Answer<typeof EventsReport>;

const ImportComparison = z.object({
  added: count,
  removed: count,
  unmatched: count.describe('Added members without an employee, because no match rule finds one.'),
  excluded: count.optional().describe('Members of the file that people.exclude leaves out.'),
  pending: z
    .array(z.object({ cause: PendingCause, count }))
    .optional()
    .describe('The numbers of added members that groupsync cannot add on the platform yet, by cause.'),
  superseded: count
    .optional()
    .describe('The number of differences without effect, because the directory has reported a later state.'),
  changedSince: z
    .array(text)
    .optional()
    .describe('Groups of the file that the directory changed after the time of the file.'),
  otherSources: OtherSources,
  newGroups: z
    .array(z.object({ group: text, groupName: text }))
    .optional()
    .describe('Groups that the directory has not named before.'),
  otherIds: z
    .array(z.object({ member: text, known: text }))
    .optional()
    .describe('New members whose employee already matches a known member with another id.'),
  changes: z.array(
    z.object({
      kind: z.enum(['added', 'removed', 'unmatched']),
      group: text,
      groupName: text.describe('The name in the file.'),
      member: text,
      email: nullable(text).describe('The address in the file; null if the file has none.'),
      pending: PendingCause.optional().describe('Why groupsync cannot add the member on the platform yet.'),
      overrides: z
        .object({ id: text, source: text, time: text, by: nullable(text) })
        .optional()
        .describe('With undo: the event after the given time whose effect ends, and its author.'),
    }),
  ),
  held: z.array(text).describe('Groups whose removals the guard would hold.'),
  ends: z
    .array(z.object({ group: text, decision: z.enum(['approved', 'rejected']), by: text }))
    .optional()
    .describe('Decisions about held removals that end, because the file adds a person again.'),
  renamed: z.array(
    z.object({ group: text, before: text, groupName: text.describe('The name in the file.') }),
  ),
  clashes: nullable(
    z.array(
      AdoptedPair.extend({
        managedBy: z
          .object({ group: text, connection: nullable(text) })
          .optional()
          .describe(
            'The directory group that manages the platform group, with its connection if it is another connection.',
          ),
      }),
    ),
  ).describe(
    'Platform groups that new groups of the file would duplicate; null if the platform could not be read.',
  ),
});
export type ImportComparison = Answer<typeof ImportComparison>;

export const ImportReport = EventsReport.extend({
  comparison: ImportComparison.optional().describe('Absent if the present members could not be read.'),
  importId: text
    .optional()
    .describe(
      'The id for import --undo. Absent if nothing was sent, or if the changes are not known, none, or over 100000.',
    ),
  rows: count.describe('The number of rows whose content is sent. Rows left out do not count.'),
  groups: count,
  ignoredColumns: z.array(text).optional().describe('Columns of the header that import does not use.'),
  otherGroups: count
    .optional()
    .describe('The number of rows left out because they are not about the group of the option --group.'),
  stays: z
    .array(z.object({ group: text, member: text }))
    .optional()
    .describe('With --undo: memberships that stay, because of another event, source or group.'),
  unresolved: z
    .array(MissingPerson)
    .optional()
    .describe('With undo: the people who are left out, each with the reason.'),
  noPeople: count
    .optional()
    .describe('The number of rows left out because they are about a nested group or a device.'),
  refused: z
    .array(LineError)
    .optional()
    .describe(
      'Lines left out because several members have the address. The memberships of these members stay. The first thousand.',
    ),
  refusedCount: count.optional(),
  switchedOff: z
    .array(z.object({ column: text, value: text, rows: count }))
    .optional()
    .describe('The rows left out because the account is switched off, by the value that shows this.'),
  kind: z
    .enum(['add', 'remove'])
    .optional()
    .describe('Present if the file lists only people to add, or only people to remove.'),
  /** Whether the events were sent. Nothing is sent in a dry run, after an error, or if the operator answers no. */
  sent: z.boolean(),
  unsent: count.optional().describe('Messages not sent because of Ctrl-C. It is safe to repeat the import.'),
});
export type ImportReport = Answer<typeof ImportReport>;
