import * as z from 'zod';
import { connectionName, type GroupRef, groupId } from '../domain/ids.ts';
import { AskedDirectory } from './directory-question.ts';
import { PlatformQuestion } from './platform-question.ts';
import { DirectorySource } from './settings.ts';

const named = z
  .string()
  .regex(/^[a-z0-9-]{1,32}$/)
  .transform(connectionName);
const connection = named.optional();

/**
 * The payload that schedules and the command line send to `reconcile`. Without a connection, the task runs for all
 * connections.
 */
export const ReconcileInvocation = z.lazy(() =>
  z.object({
    task: z.enum(['pump', 'feed', 'sweep', 'health', 'notify']),
    connection,
    /** For `pump`: wake every dirty group, also those that are not due. */
    all: z.boolean().optional(),
    /** For `notify`: list the targets without sending. */
    silent: z.boolean().optional(),
  }),
);
export type ReconcileInvocation = z.infer<typeof ReconcileInvocation>;

/** The payload with which the command line sends an operator's decision to `reconcile`. */
export const DecideInvocation = z.lazy(() =>
  z.object({
    task: z.literal('decide'),
    /** The decision in JSON. It stays a text, because the proof is about this text. */
    decision: z.string().max(5_000_000),
    /** Headers of a signed request that proves who decides. On an emulator, they contain only the name of the user. */
    proof: z.record(z.string(), z.string()),
    /** The person who decides in the deployed console. Only the role of the console may name a person. */
    person: z.string().min(1).max(400).optional(),
  }),
);

export type DecideInvocation = z.infer<typeof DecideInvocation>;

/** The payload with which the command line asks `reconcile` about the platform. */
export const AskInvocation = z.lazy(() =>
  z.object({ task: z.literal('ask'), connection: named, question: PlatformQuestion }),
);

export const PeopleInvocation = z.lazy(() => z.object({ connection }));

/** The payload that the schedule and the command line send to `directory`. */
export const DirectoryInvocation = z.lazy(() =>
  z.object({
    connection,
    /** Read every group, also those that are not due. */
    full: z.boolean().optional(),
    /** Delete the groups that the directory does not find, even if they are many. */
    acceptDeletions: z.boolean().optional(),
    /** Test each step of reading, without reading the groups. */
    examine: z.boolean().optional(),
    /** Try this directory instead of the one in the settings, and return a preview of its groups. */
    preview: DirectorySource.optional(),
    /** Answer a question about a directory, and change nothing. */
    ask: AskedDirectory.optional(),
  }),
);

/** Body of a message on the apply queue. It contains only the group to check. */
const ApplyMessage = z.lazy(() =>
  z.object({ connection: named, group: z.string().min(1).transform(groupId) }),
);

/** @returns undefined if the body is no apply message */
export function readApplyMessage(body: string): GroupRef | undefined {
  try {
    return ApplyMessage.safeParse(JSON.parse(body)).data;
  } catch {
    return undefined;
  }
}

/**
 * The fields of a request of an HTTP API (payload format 2.0) that the console reads. API Gateway sends header names in
 * lower case, and cookies in a field of their own.
 */
export const HttpEvent = z.lazy(() =>
  z.object({
    rawPath: z.string().startsWith('/'),
    rawQueryString: z.string(),
    headers: z.record(z.string(), z.string().optional()).default({}),
    cookies: z.array(z.string()).default([]),
    requestContext: z.object({ http: z.object({ method: z.string() }) }),
    body: z.string().optional(),
    isBase64Encoded: z.boolean().default(false),
  }),
);
export type HttpEvent = z.infer<typeof HttpEvent>;
