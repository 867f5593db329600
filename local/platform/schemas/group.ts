import * as z from 'zod';

/** Specification, "Group". `users` may hold ids of nobody; `version` is opaque. */
export const Group = z
  .object({
    id: z.string(),
    spokeId: z.string().nullable(),
    name: z.string(),
    users: z.array(z.string()),
    version: z.string(),
  })
  .meta({ id: 'Group' });
export type Group = z.infer<typeof Group>;

const body = {
  name: z.string().max(1000),
  spokeId: z.string().max(1000).nullable(),
  users: z.array(z.string().min(1).max(1000)),
};

/** Body of POST /groups. Only the name is required (our choice). */
export const CreateGroup = z
  .object({ ...z.object(body).partial().shape, name: body.name.min(1) })
  .meta({ id: 'CreateGroup' });

/** Body of PUT and PATCH /groups/{groupId}; what a missing field means is the method's business. */
export const WriteGroup = z
  .object(body)
  .partial()
  .extend({ version: z.string().optional().describe('The version that this change was computed from.') })
  .meta({ id: 'WriteGroup' });
export type WriteGroup = z.infer<typeof WriteGroup>;
