import * as z from 'zod';
import { type Answer, count, nullable, text } from './forms.ts';

export const PLATFORM_GROUP_STATES = ['managed', 'adoptable', 'unmanaged'] as const;

const PlatformGroupRow = z.object({
  platformId: text,
  name: nullable(text).describe('Null if the platform shows the group without a usable name.'),
  spokeId: nullable(text).describe('External id of the group.'),
  users: nullable(count),
  state: z
    .enum(PLATFORM_GROUP_STATES)
    .describe(
      'managed: a directory group of a connection owns the platform group. adoptable: a directory group without a platform group has the same external id or name. unmanaged: all other groups.',
    ),
  owner: nullable(z.object({ connection: text, group: text, name: nullable(text) })).describe(
    'The directory group that owns the platform group; null if there is no owner. The name is null for a group of another connection.',
  ),
  matches: z.array(z.object({ group: text, name: text, by: z.enum(['spokeId', 'name']) })),
  ambiguous: z
    .boolean()
    .describe('Whether several groups match, so that an operator must choose the directory group.'),
});
export type PlatformGroupRow = Answer<typeof PlatformGroupRow>;

export const PlatformGroupsReport = z.object({
  connection: text,
  groups: z.array(PlatformGroupRow),
  totals: z.record(z.enum(PLATFORM_GROUP_STATES), count),
});
export type PlatformGroupsReport = Answer<typeof PlatformGroupsReport>;

/** The changes by an adoption. The counts are for its first write, without removals that the guard holds. */
export const AdoptionPreview = z.object({
  group: text,
  groupName: text,
  platformId: text,
  name: nullable(text).describe('The present name of the platform group.'),
  renamedTo: nullable(text).describe('The name after the adoption, if it differs.'),
  added: count,
  removed: count,
  held: count.describe('Removals that would wait for a decision.'),
  digest: nullable(text).describe('The digest that approves exactly these removals; null if none waits.'),
  problem: nullable(text).describe('Why the group cannot be adopted now; null if it can.'),
});
export type AdoptionPreview = Answer<typeof AdoptionPreview>;
