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

/** The payload of schedules and commands for `reconcile`. Without a connection, the run is for all connections. */
export const ReconcileInvocation = z.lazy(() =>
  z.object({
    task: z.enum(['pump', 'feed', 'sweep', 'health', 'notify']),
    connection,
    /** For `pump`: wake every dirty group, even if the group is not due. */
    all: z.boolean().optional(),
    /** For `notify`: return the notification targets and send nothing. */
    silent: z.boolean().optional(),
  }),
);
export type ReconcileInvocation = z.infer<typeof ReconcileInvocation>;

/** The payload with an operator's decision that a command sends to `reconcile`. */
export const DecideInvocation = z.lazy(() =>
  z.object({
    task: z.literal('decide'),
    /** The decision as JSON text. It is not parsed here, because the proof signs the exact text. */
    decision: z.string().max(5_000_000),
    /** The headers of a signed request, which prove the operator's identity; with an emulator, the user's name. */
    proof: z.record(z.string(), z.string()),
    /** The person who decides in the deployed console. Only the role of the console may use this field. */
    person: z.string().min(1).max(400).optional(),
  }),
);

export type DecideInvocation = z.infer<typeof DecideInvocation>;

/** The payload with a question about the platform that a command sends to `reconcile`. */
export const AskInvocation = z.lazy(() =>
  z.object({ task: z.literal('ask'), connection: named, question: PlatformQuestion }),
);

export const PeopleInvocation = z.lazy(() => z.object({ connection }));

/** The payload that the schedule and commands send to the function `directory`. */
export const DirectoryInvocation = z.lazy(() =>
  z.object({
    connection,
    /** Read every group, even if the group is not due. */
    full: z.boolean().optional(),
    /** Delete the groups that the directory does not find, even if the number of groups looks wrong. */
    acceptDeletions: z.boolean().optional(),
    /** Test each step of reading, without reading the groups. */
    examine: z.boolean().optional(),
    /** Read this directory instead of the directory in the settings, and return a preview of its groups. */
    preview: DirectorySource.optional(),
    /** Answer a question about a directory, and change nothing. */
    ask: AskedDirectory.optional(),
  }),
);

/** The body of a message on the apply queue. It contains only the id of the group to check. */
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
 * The fields of an API Gateway HTTP API request (payload format 2.0) that the console reads. API Gateway sends header
 * names in lower case, and cookies in the field `cookies`.
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
