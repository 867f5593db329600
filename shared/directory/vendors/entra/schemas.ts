import * as z from 'zod';

/*
 * The properties of Graph v1.0 that the reader uses. Without a value, a property is null, or absent in a list of
 * changes.
 */

const filled = z.string().min(1);
const nullable = z.string().nullish();

/** Resource type group. Every group has a name ("group resource type": displayName is required). */
export const Group = z.object({
  id: filled,
  displayName: filled,
});

export const GroupVisibility = Group.extend({ visibility: nullable });

/**
 * Resource type user. All properties except `id` are null if the application lacks the right to read users ("Limited
 * information returned for inaccessible member objects").
 */
export const User = z.looseObject({
  id: filled,
  mail: nullable,
  userPrincipalName: nullable,
  accountEnabled: z.boolean().nullish(),
});

export const NestedGroup = z.object({ id: filled });

const Removed = z.object({ reason: z.string().nullish() }).optional();

/** A changed member of a group in a list of changes. Each removal has the reason `deleted`. */
const ChangedMember = z.object({
  id: filled,
  '@odata.type': z.string().optional(),
  '@removed': Removed,
});

/**
 * An object in a list of changes. A removed object can be restored if the reason is `changed`, but not if the reason is
 * `deleted`.
 */
export const Change = z.object({
  id: filled,
  /** Present only if the name has changed. */
  displayName: nullable,
  '@removed': Removed,
  'members@delta': z.array(ChangedMember).optional(),
});

/**
 * Returns the schema of one page of a list. `@odata.context` is required. Otherwise the JSON of a proxy could count as
 * an empty list.
 */
export const listOf = <Item extends z.ZodType>(item: Item) =>
  z.object({
    '@odata.context': filled,
    '@odata.count': z.number().int().nonnegative().optional(),
    '@odata.nextLink': filled.optional(),
    '@odata.deltaLink': filled.optional(),
    error: z.undefined().optional(),
    value: z.array(item),
  });

export const ClientSecret = z.object({ clientSecret: filled });
