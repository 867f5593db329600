import * as z from 'zod';
import { roleId } from '../domain/ids.ts';
import { Check } from './answers/connect.ts';

const Failure = z.object({
  kind: z.enum([
    'unauthorized',
    'forbidden',
    'not_found',
    'rejected',
    'throttled',
    'unavailable',
    'unanswered',
    'unreached',
  ]),
  message: z.string(),
  status: z.number().optional(),
  retryAfterMs: z.number().optional(),
});

/** The reply of `reconcile` to a question about the platform. The question decides the form of `answer`. */
export const PlatformReply = z.union([
  z.object({ failure: Failure }),
  z.object({ answer: z.unknown(), failure: z.undefined().optional() }),
]);
export type PlatformReply = z.infer<typeof PlatformReply>;

export const ListPart = z.object({
  items: z.array(z.unknown()),
  /** The position of the next part; absent in the last part. */
  next: z.number().optional(),
  /** The digest of the whole list. Two different lists have different digests. */
  digest: z.string(),
});
export type ListPart = z.infer<typeof ListPart>;

/** A group of the list. For a malformed group, only the id and the spokeId are known. */
export const SentGroup = z.looseObject({
  id: z.string(),
  users: z.array(z.string()).optional(),
  version: z.union([z.string(), z.number()]).optional(),
});

/** An employee. `values` has the values of the fields by their names. */
export const SentEmployee = z.object({
  role: z.string().transform(roleId),
  userId: z.string().exactOptional(),
  state: z.string().exactOptional(),
  endDate: z.string().exactOptional(),
  values: z.record(z.string(), z.string().nullable()),
});

export const CredentialChecks = z.object({ checks: z.array(Check) });
export type CredentialChecks = z.infer<typeof CredentialChecks>;
