import * as z from 'zod';
import { platformGroupId, platformUserId, versionToken } from '../../domain/ids.ts';

/**
 * Workforce Platform API, Group. All of it must be there but `spokeId`: a response without `users` read as an empty
 * list would empty the group at the next write. `users` may hold ids of nobody. `version` is opaque.
 */
export const Group = z.lazy(() =>
  z.object({
    id: z.string().min(1).transform(platformGroupId),
    name: z.string(),
    spokeId: z
      .string()
      .nullish()
      .transform((id) => id ?? null),
    users: z.array(z.string().transform(platformUserId)),
    version: z.string().min(1).transform(versionToken),
  }),
);
export type Group = z.infer<typeof Group>;

/** Of a listed group of another form, what still can be read. */
const OddGroup = z.lazy(() =>
  z.object({
    id: z.string().min(1).transform(platformGroupId),
    spokeId: z.string().nullable().catch(null),
  }),
);

/**
 * A list is read element by element: one odd group, which may be anybody's, must not hide all others. `undefined`
 * stands for what has no id to be known by; a list of nothing else is no list of groups.
 */
export const GroupList = z.lazy(() =>
  z
    .array(z.union([Group, OddGroup, z.unknown().transform(() => undefined)]))
    .refine((list) => list.length === 0 || list.some((group) => group !== undefined), {
      error: 'expected groups with ids, got a list of something else',
    }),
);
export type ListedGroup = Exclude<z.infer<typeof GroupList>[number], undefined>;

const filled = z.string().min(1);
const users = z.array(filled).readonly();

/** Body of a new group. `spokeId` is the group's id in our application. */
export const NewGroup = z.lazy(() => z.strictObject({ name: filled, spokeId: filled, users }));
export type NewGroup = z.infer<typeof NewGroup>;

/** Body of a replacement: always whole, since a PUT updates the fields that are missing too. */
export const GroupReplacement = z.lazy(() =>
  z.strictObject({ name: filled, spokeId: filled.nullable(), users, version: filled }),
);
export type GroupReplacement = z.infer<typeof GroupReplacement>;

/** Body of a change: the version it was computed from, and only what changes; at least one field. */
export const GroupChange = z.lazy(() =>
  z
    .strictObject({
      name: filled.optional(),
      spokeId: filled.optional(),
      users: users.optional(),
      version: filled,
    })
    .refine(
      (change) => [change.name, change.spokeId, change.users].some((field) => field !== undefined),
      'expected a field to change',
    ),
);
export type GroupChange = z.infer<typeof GroupChange>;
