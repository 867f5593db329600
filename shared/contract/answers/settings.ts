import * as z from 'zod';
import { count, instant, nullable, text } from './forms.ts';
import { SettingRequestRow } from './status.ts';

const SettingDifference = z.object({ key: text, before: text, after: text }).describe('Values as JSON.');

const requested = z
  .array(text)
  .describe('Settings that do not change until another person confirms the change.');

export const ChangedSettings = z.object({
  changed: z.array(SettingDifference),
  requested,
  replanned: count.describe('Groups that are planned again.'),
});

export const AppliedSettings = z.object({
  applied: z.boolean().describe('False with --check, and if no connection differed.'),
  compared: count.describe('The connections that have a file.'),
  connections: z
    .array(
      z.object({
        name: text,
        changes: z.array(
          SettingDifference.extend({
            set: nullable(z.object({ by: text, at: instant })).describe(
              'Who set the value of the connection.',
            ),
          }),
        ),
        requested,
        waiting: z.array(SettingRequestRow).describe('Changes of the file that wait for a second person.'),
      }),
    )
    .describe('The connections that differ from their file.'),
});

export const ExportedSettings = z.object({
  folder: text,
  connections: count,
  written: z.array(text).describe('The files that did not exist or differed.'),
});
