import * as z from 'zod';

/** Specification, "Group". `users` can contain ids that belong to no employee. `version` is opaque. */
export const Group = z.object({
  id: z.string(),
  spokeId: z.string().nullable(),
  name: z.string(),
  users: z.array(z.string()),
  version: z.string(),
});
export type Group = z.infer<typeof Group>;

/** A group as returned. The setting `versionForm` decides the format of its version. */
export const ShownGroup = Group.extend({ version: z.union([z.string(), z.number()]) }).meta({ id: 'Group' });

const body = {
  name: z.string().max(1000),
  spokeId: z.string().max(1000).nullable(),
  users: z.array(z.string().max(1000)),
};

/** Body of POST /groups. The simulator requires only the name. */
export const CreateGroup = z
  .object({ ...z.object(body).partial().shape, name: body.name.min(1) })
  .meta({ id: 'CreateGroup' });

/** Body of PUT and PATCH /groups/{groupId}. A missing field becomes empty with PUT and keeps its value with PATCH. */
export const WriteGroup = z
  .object(body)
  .partial()
  .extend({
    version: z
      .union([z.string(), z.number()])
      .optional()
      .describe(
        'The version of the group before this change, in the same form as in the answer that showed the version.',
      ),
  })
  .meta({ id: 'WriteGroup' });
export type WriteGroup = z.infer<typeof WriteGroup>;
