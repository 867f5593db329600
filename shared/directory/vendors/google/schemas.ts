import * as z from 'zod';
import { ErrorCode } from '../error-code.ts';

/*
 * The fields of the Directory API v1 and the Reports API v1 that the reader uses. The API leaves out an empty list, and
 * leaves out `nextPageToken` on the last page.
 */

const filled = z.string().min(1);

export const Group = z.object({
  id: filled,
  email: filled,
  name: z.string().default(''),
  /** A 64-bit number as a JSON string. */
  directMembersCount: z.string().optional(),
});

export const Member = z.object({
  id: filled,
  /** `USER`, `GROUP` or `CUSTOMER`. */
  type: z.string(),
  /** Absent for `CUSTOMER`. */
  email: z.string().optional(),
  /** `ACTIVE`, `SUSPENDED`, `ARCHIVED` or another status; absent for members of other companies. */
  status: z.string().optional(),
});

export const User = z.object({
  id: filled,
  primaryEmail: filled,
  suspended: z.boolean().default(false),
  archived: z.boolean().default(false),
  name: z.object({ fullName: z.string().optional() }).optional(),
  externalIds: z
    .array(
      z.object({
        value: z.string().optional(),
        type: z.string().optional(),
        customType: z.string().optional(),
      }),
    )
    .default([]),
  organizations: z
    .array(
      z.object({
        primary: z.boolean().optional(),
        department: z.string().optional(),
        description: z.string().optional(),
      }),
    )
    .default([]),
  /** The fields of each custom schema. A field with several values is a list of objects with `value`. */
  customSchemas: z.record(z.string(), z.record(z.string(), z.unknown())).default({}),
});

const Parameter = z.object({ name: z.string(), value: z.string().optional() });

export const Activity = z.object({
  id: z.object({ time: z.iso.datetime({ offset: true }).transform((text) => Date.parse(text)) }),
  events: z
    .array(z.object({ name: z.string().optional(), parameters: z.array(Parameter).default([]) }))
    .default([]),
});

/**
 * Returns the schema of one page of a list. A page must contain the list or the expected `kind`. Otherwise `{}` or the
 * JSON of a proxy would be read as an empty list.
 */
export function listOf<Item extends z.ZodType>(kind: string, field: string, item: Item) {
  return z
    .object({
      kind: z.string().optional(),
      nextPageToken: z.string().optional(),
      error: z.undefined().optional(),
      [field]: z.array(item).optional(),
    })
    .refine((page) => page['kind'] === kind || page[field] !== undefined, {
      error: `expected the kind ${kind} or the list ${field}`,
    })
    .transform((page) => ({
      items: (page[field] ?? []) as readonly z.infer<Item>[],
      next: page['nextPageToken'] === '' ? undefined : (page['nextPageToken'] as string | undefined),
    }));
}

const code = ErrorCode.optional().catch(undefined);

export const ApiError = z.object({
  error: z.object({
    errors: z.array(z.object({ reason: code })).default([]),
    /** A status of the Google Cloud APIs, such as `PERMISSION_DENIED`. */
    status: code,
  }),
});

export const SignedJwt = z.object({ signedJwt: filled });
/** The answer that refuses a request for a token (RFC 6749, section 5.2). */
export const TokenRefusal = z.object({ error: ErrorCode });

/** The fields of a service account's key file that the sign-in needs. */
export const ServiceAccountKey = z.object({
  type: z.literal('service_account'),
  client_email: filled,
  private_key_id: filled,
  private_key: filled,
});
export type ServiceAccountKey = Readonly<z.infer<typeof ServiceAccountKey>>;
