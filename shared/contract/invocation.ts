import * as z from 'zod';
import { connectionName, type GroupRef, groupId, memberId, platformGroupId, roleId } from '../domain/ids.ts';
import { DirectorySource } from './directory-settings.ts';
import { MATCHABLE_EMPLOYEE_FIELDS } from './match-rule.ts';

export const named = z
  .string()
  .regex(/^[a-z0-9-]{1,32}$/)
  .transform(connectionName);
const connection = named.optional();
/** The interval of the schedule that starts the run. Then a run skips connections whose last run is recent enough. */
const everyMinutes = z.number().positive().optional();
/** Add the form of each answer of the platform or the directory to the answer (`doctor --record`). */
const record = z.boolean().optional();

/** The payload of schedules and commands for `reconcile`. Without a connection, the run is for all connections. */
export const ReconcileInvocation = z.lazy(() =>
  z.object({
    task: z.enum(['pump', 'feed', 'sweep', 'health', 'notify']),
    connection,
    everyMinutes,
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
  z.object({ task: z.literal('ask'), connection: named, question: PlatformQuestion, record }),
);

export const PeopleInvocation = z.lazy(() => z.object({ connection, everyMinutes }));
export type PeopleInvocation = z.infer<typeof PeopleInvocation>;

/** The payload that the schedule and commands send to the function `directory`. */
export const DirectoryInvocation = z.lazy(() =>
  z.object({
    connection,
    full: z.boolean().optional(),
    /** Delete the groups that the directory does not find, even if the number of groups looks wrong. */
    acceptDeletions: z.boolean().optional(),
    /** Test each step of reading, without reading the groups. */
    examine: z.boolean().optional(),
    record,
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

/*
 * Only functions may read the credential of the platform. A command that needs data of the platform sends a question to
 * the function `reconcile`. The function uses the stored settings of the connection, and changes nothing on the
 * platform.
 */

const fields = z.lazy(() =>
  z.array(
    z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('field'), name: z.enum(MATCHABLE_EMPLOYEE_FIELDS) }),
      z.object({ kind: z.literal('customField'), title: z.string() }),
    ]),
  ),
);

/** The part of a list that begins at this position. */
const Part = z.lazy(() =>
  z.object({
    from: z.number().int().min(0),
  }),
);
export type Part = z.infer<typeof Part>;

export const PlatformQuestion = z.lazy(() =>
  z.union([
    z.object({ group: z.string().transform(platformGroupId) }),
    z.object({ groups: Part }),
    z.object({ employee: z.string().transform(roleId), fields }),
    z.object({ employees: Part, fields, states: z.array(z.string()) }),
    /** Check the credential, as the command `doctor` does. */
    z.object({ credential: z.literal('check') }),
  ]),
);
export type PlatformQuestion = z.infer<typeof PlatformQuestion>;

/*
 * If no key of the directory is stored, only the role of the deployed function `directory` can read it. A command of an
 * operator then sends a question to this function.
 */

const group = z.string().min(1).transform(groupId);
const position = z.number().int().min(0);

export const DirectoryQuestion = z.union([
  z.object({ groups: position }),
  z.object({ group }),
  /** Requests the members of these groups. In the first group, the list of members begins at `from`. */
  z.object({ membersOf: z.array(group).min(1), from: position }),
]);
export type DirectoryQuestion = z.infer<typeof DirectoryQuestion>;

const AskedDirectory = z.object({
  question: DirectoryQuestion,
  /** The directory to read instead of the directory in the settings. */
  setting: DirectorySource.optional(),
});

const Group = z.object({
  id: group,
  name: z.string(),
  address: z.string(),
  userCount: z.number().optional(),
});

const Member = z.union([
  z.object({
    kind: z.literal('user'),
    user: z.object({
      id: z.string().transform(memberId),
      attributes: z.record(z.string(), z.string()).transform((record) => new Map(Object.entries(record))),
      isActive: z.boolean(),
      isExternal: z.boolean().exactOptional(),
    }),
  }),
  z.object({ kind: z.literal('group'), id: group }),
  z.object({ kind: z.literal('everyone') }),
]);

const Failure = z.object({
  kind: z.enum(['denied', 'busy', 'unavailable', 'missing', 'invalid']),
  message: z.string(),
  reason: z.string().optional(),
});

const MembersOfGroup = z.object({
  group,
  members: z.array(Member),
  /** The position of the next member; absent if the list is complete. */
  next: position.optional(),
  failure: Failure.optional(),
});

/** The answer to a question. A list that is too long for one answer ends with the position of the next item. */
export const DirectoryReply = z.object({
  groups: z.array(Group).optional(),
  next: position.optional(),
  /** The members of one or more groups of the question, beginning with the first group. */
  members: z.array(MembersOfGroup).optional(),
  failure: Failure.optional(),
});
export type DirectoryReply = z.infer<typeof DirectoryReply>;

export const DirectoryReplies = z.object({ reports: z.tuple([DirectoryReply]) });
