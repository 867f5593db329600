import * as z from 'zod';
import { type Answer, count, nullable, text } from './forms.ts';

/** How a platform group relates to the directory groups of the connection. */
export const PLATFORM_GROUP_STATES = ['managed', 'adoptable', 'unmanaged'] as const;

const PlatformGroupRow = z.object({
  platformId: text,
  name: nullable(text).describe('Null: the platform shows the group without a usable name.'),
  spokeId: nullable(text).describe('External id of the group.'),
  users: nullable(count),
  state: z
    .enum(PLATFORM_GROUP_STATES)
    .describe(
      'managed: a directory group of a connection owns it. adoptable: a directory group without a platform group has the same external id or name. unmanaged: neither.',
    ),
  owner: nullable(z.object({ connection: text, group: text, name: nullable(text) })).describe(
    'The directory group that owns it; null: none. The name is null for a group of another connection.',
  ),
  matches: z.array(z.object({ group: text, name: text, by: z.enum(['spokeId', 'name']) })),
  ambiguous: z
    .boolean()
    .describe('Adoptable, but several groups match, so an operator must choose the pair.'),
});
export type PlatformGroupRow = Answer<typeof PlatformGroupRow>;

/** Every group of the platform, adoptable ones first. */
export const PlatformGroupsReport = z.object({
  connection: text,
  groups: z.array(PlatformGroupRow),
  totals: z.record(z.enum(PLATFORM_GROUP_STATES), count),
});
export type PlatformGroupsReport = Answer<typeof PlatformGroupsReport>;

/** What an adoption would change. The counts are those of the first write, without the removals that the guard holds. */
export const AdoptionPreview = z.object({
  group: text,
  groupName: text,
  platformId: text,
  name: nullable(text).describe('Name of the platform group now.'),
  renamedTo: nullable(text).describe('The name after the adoption, if it differs.'),
  added: count,
  removed: count,
  held: count.describe('Removals that the guard would hold.'),
  problem: nullable(text).describe('Why the group cannot be adopted now; null: it can.'),
});
export type AdoptionPreview = Answer<typeof AdoptionPreview>;
