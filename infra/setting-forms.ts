import * as z from 'zod';
import { ConsoleSignIn } from '../shared/contract/console.ts';

/*
 * The forms of settings. During a deployment, AWS refuses policies and environment variables that are too long. So the
 * settings limit each list. With all lists at their limits, AWS accepts the deployment (test/infra/limits.test.ts).
 */

/** A setting is text in `-c name=value`, and JSON in cdk.json. Both forms give the same value. */
export const number = z.union([z.number(), z.string().regex(/^\d+$/).transform(Number)], {
  error: 'expected a whole number',
});
export const flag = z.union([z.boolean(), z.enum(['true', 'false']).transform((text) => text === 'true')], {
  error: 'expected true or false',
});
export const minutes = (most: number) => number.pipe(z.int().min(1).max(most));

const splitList = (text: string) => text.split(',').flatMap((item) => item.trim() || []);
const list = z.union([z.array(z.string()), z.string().transform(splitList)], {
  error: 'expected a list, or a text with commas',
});
const MOST_CHARACTERS = 3_000;

/** A list without repetitions. */
export const listOf = (item: z.ZodType<string, string>, most: number, mostCharacters = MOST_CHARACTERS) =>
  list
    .transform((items) => [...new Set(items)])
    .pipe(
      z
        .array(item)
        .max(most)
        .refine((items) => items.join().length <= mostCharacters, tooLong(mostCharacters)),
    )
    .default([]);

const tooLong = (most: number): string => `expected at most ${most} characters in all`;

const splitTags = (text: string) =>
  Object.fromEntries(
    splitList(text).map((pair) => {
      const split = pair.indexOf('=');
      return [pair.slice(0, split < 0 ? pair.length : split), split < 0 ? '' : pair.slice(split + 1)];
    }),
  );

/** The characters that every AWS service accepts in tags (IAM, "Rules for tagging"). */
const TAG_TEXT = '[\\p{L}\\p{Z}\\p{N}_.:/=+@-]';
const TAG_KEY = new RegExp(`^(?!aws:|groupsync:)${TAG_TEXT}{1,128}$`, 'iu');
/** CloudFormation refuses an empty value, although AWS allows it. */
const TAG_VALUE = new RegExp(`^${TAG_TEXT}{1,256}$`, 'u');

/** AWS allows 50 tags per resource. CloudFormation and groupsync add tags of their own. */
const MOST_TAGS = 40;

/** Tags of all resources: an object, or a text such as `team=hr,cost-center=42`. */
export const Tags = z
  .union([z.record(z.string(), z.string()), z.string().transform(splitTags)], {
    error: 'expected an object of tags, or a text such as team=hr,cost-center=42',
  })
  .pipe(
    z.record(
      z
        .string()
        .regex(TAG_KEY, 'expected a key of 1 to 128 characters that AWS accepts, not aws:… or groupsync:…'),
      z.string().regex(TAG_VALUE, 'expected a value of 1 to 256 characters that AWS accepts'),
    ),
  )
  .refine((tags) => Object.keys(tags).length <= MOST_TAGS, `expected at most ${MOST_TAGS} tags`)
  .default({});

export const POLICY_ARN = /^arn:aws[a-z-]*:iam::(?:\d{12}|aws):policy\/[\w+=,.@/-]+$/;

const CONNECTION_NAME = z.string().regex(/^[a-z0-9-]{1,32}$/, 'expected the name of a connection');
export const Connections = listOf(CONNECTION_NAME, 50);

/** The full ARN of a role or user. A wildcard or a whole account would let more principals grant access to groups. */
const PRINCIPAL_ARN = /^arn:aws[a-z-]*:iam::\d{12}:(?:role|user)\/[\w+=,.@/-]+$/;
/** A queue policy may have 50 principals and 8,192 characters. The policy contains each producer twice. */
export const Producers = listOf(
  z.string().regex(PRINCIPAL_ARN, 'expected the ARN of one IAM role or user'),
  45,
);

/** SQS lets ten queues use one dead-letter queue. The common events queue is one of these ten queues. */
export const MOST_SOURCES = 9;
const SourceName = z
  .string()
  .regex(
    /^(?!(?:dlq|directory)$)[a-z0-9][a-z0-9-]{0,19}$/,
    'expected 1 to 20 of a-z, 0-9 and -, not beginning with -, not dlq and not directory',
  );
/** The policy of operators may have 6,144 characters, and contains the names of all sources. */
const MOST_OF_NAMES = 90;
const withoutHyphens = (sources: object) => Object.keys(sources).map((name) => name.replaceAll('-', ''));

export const Sources = z
  .record(SourceName, z.strictObject({ connection: CONNECTION_NAME, producers: Producers }))
  .refine(
    (sources) => Object.keys(sources).length <= MOST_SOURCES,
    `expected at most ${MOST_SOURCES} sources`,
  )
  .refine(
    (sources) => Object.keys(sources).join('').length <= MOST_OF_NAMES,
    `expected names of at most ${MOST_OF_NAMES} characters together`,
  )
  .refine(
    (sources) => new Set(withoutHyphens(sources)).size === Object.keys(sources).length,
    'expected names that also differ without hyphens, because names of stack outputs have no hyphens',
  )
  .default({});

export const KEY_ARN =
  /^arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key\/(?:mrk-[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;
export const TOPIC_ARN = /^arn:aws[a-z-]*:sns:[a-z0-9-]+:\d{12}:[\w-]+$/;

/** The ARN of an AWS identity as AWS STS returns it, or a pattern of such ARNs, with at most one `{person}`. */
const IDENTITY =
  /^arn:aws[a-z-]*:(?:sts::\d{12}:assumed-role|iam::\d{12}:user)\/(?:(?!.*\{person\}.*\{person\})(?:[\w+=,.@/*-]|\{person\})+)$/;
const MOST_OF_PERSONS = 1_500;

export const Persons = z
  .record(
    z
      .string()
      .regex(IDENTITY, 'expected the ARN of a user or of a session of a role, with at most one {person}'),
    z.string().min(1).max(200),
  )
  .refine(
    (persons) => JSON.stringify(persons).length <= MOST_OF_PERSONS,
    `${tooLong(MOST_OF_PERSONS)}: use patterns with {person}`,
  )
  .default({});

const MOST_OF_CONSOLE = 2_000;

export const DeployedConsole = ConsoleSignIn.refine(
  (signIn) => JSON.stringify(JSON.stringify(signIn)).length <= MOST_OF_CONSOLE,
  `${tooLong(MOST_OF_CONSOLE)}: name several connections in one rule`,
).refine(({ scopes }) => scopes.includes('openid'), {
  path: ['scopes'],
  error: 'expected openid, because the provider sends no id token without it',
});
