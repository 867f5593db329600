import * as z from 'zod';
import { DEFAULT_PREFIX } from '../shared/contract/names.ts';
import { nearest } from '../shared/contract/nearest.ts';
import { DEFAULT_COALESCE_SECONDS, SCHEDULES } from '../shared/contract/topology.ts';
import { isInternalUrl } from '../shared/contract/url.ts';
import {
  Connections,
  DeployedConsole,
  flag,
  KEY_ARN,
  listOf,
  MOST_SOURCES,
  minutes,
  number,
  Persons,
  POLICY_ARN,
  Producers,
  Sources,
  Tags,
  TOPIC_ARN,
} from './setting-forms.ts';

/** Values that CloudWatch Logs accepts (API reference, PutRetentionPolicy). */
const LOG_RETENTION_DAYS = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
];

const EXPECTED_KEY = 'expected stage, or the ARN of a KMS key in this account and region';

/** Settings of one stage. `docs/settings.md`, explains each one. */
export const StageSettings = z
  .strictObject({
    /** Name of the stack, and first part of all other names. Never change the prefix of a deployed stage. */
    prefix: z
      .string()
      .regex(
        /^[a-z][a-z0-9-]{0,31}$/,
        'expected 1 to 32 of a-z, 0-9 and -, beginning with a letter from a to z',
      )
      .default(DEFAULT_PREFIX),
    region: z
      .string()
      .regex(/^[a-z]{2}(?:-[a-z]+)+-\d$/, 'expected a region such as eu-west-1')
      .optional(),
    /** ARN of the managed policy that every role gets as its permissions boundary. Some companies refuse other roles. */
    permissionsBoundary: z
      .string()
      .regex(POLICY_ARN, 'expected the ARN of a managed policy, arn:aws:iam::<account>:policy/<name>')
      .optional(),
    /** Qualifier of the account's CDK bootstrap. Default: the qualifier of the CDK app. */
    // AWS CDK, "Customize the bootstrap": the qualifier has at most ten characters.
    bootstrapQualifier: z
      .string()
      .regex(/^[a-z0-9]{1,10}$/, 'expected 1 to 10 of a-z and 0-9')
      .optional(),
    tags: Tags,
    /** Length of the coalescing window: changes of one group within a window become one write. */
    // The apply message of a change is delayed by at most one window. SQS can delay a message by at most 900 s.
    coalesceSeconds: number.pipe(z.int().min(0).max(300)).default(DEFAULT_COALESCE_SECONDS),
    /** Minutes between two runs of the job that retries waiting groups. */
    pumpMinutes: minutes(60).default(SCHEDULES.pumpMinutes),
    /** Minutes between two reads of the platform's activity feed. */
    feedMinutes: minutes(24 * 60).default(SCHEDULES.feedMinutes),
    /** Minutes between two comparisons of all groups with the platform. */
    sweepMinutes: minutes(24 * 60).default(SCHEDULES.sweepMinutes),
    /** Minutes between two reads of the employees. */
    peopleMinutes: minutes(24 * 60).default(SCHEDULES.peopleMinutes),
    directory: flag.default(false),
    /** Minutes between two runs of the function that reads directories. */
    directoryMinutes: minutes(60).default(SCHEDULES.directoryMinutes),
    /** Audiences for which the directory function may request a token about its role. */
    // A role that may request tokens for any audience could sign in at every service that trusts this account.
    directoryAudiences: listOf(
      z
        .string()
        .min(1)
        .max(1_000)
        .regex(/^[^*?]+$/, 'expected an audience without wildcards'),
      20,
    ),
    /** ARNs of the KMS keys with which the directory function may sign in to an Okta organisation. */
    directoryKeys: listOf(z.string().regex(KEY_ARN, 'expected the ARN of a key in KMS'), 40),
    /** Address that receives alarms. Without an address, subscribe a target to `alarmTopic`. */
    alarmEmail: z.email().optional(),
    dashboard: flag.default(false),
    /** Targets of notifications: `alarms`, `webhook`, or ARNs of SNS topics. */
    notify: listOf(
      z.union([z.enum(['alarms', 'webhook']), z.string().regex(TOPIC_ARN)], {
        error: 'expected alarms, webhook, or the ARN of a standard SNS topic',
      }),
      6,
      600,
    ).default(['alarms']),
    /** Connections with a viewer policy `<prefix>-viewer-<connection>-<region>`. */
    connectionViewers: Connections,
    /** Connections with an operator policy `<prefix>-operator-<connection>-<region>`. */
    connectionOperators: Connections,
    /** The person of each AWS identity or pattern of identities, so that four eyes compares people. */
    persons: Persons,
    /** ARNs of the roles and users that may send events. Default: IAM policies alone decide. */
    producers: Producers,
    /** Sources with a separate queue. Each source has one connection and its own producers. */
    sources: Sources,
    /** EventBridge event source of an Okta log stream. */
    oktaEventSource: z
      .string()
      .regex(/^aws\.partner\/okta\.com\/.+$/, 'expected aws.partner/okta.com/…, as EventBridge shows it')
      .optional(),
    /** ARN of an SNS topic to subscribe to. */
    snsTopicArn: z.string().regex(TOPIC_ARN, 'expected the ARN of a standard SNS topic').optional(),
    /** How people sign in to the console of the stage, which the internet can reach. Default: no console. */
    console: DeployedConsole.optional(),
    /** The address of the console, if it has a domain of its own. Default: the address of its HTTP API. */
    consoleUrl: z
      .string()
      .regex(/^https:\/\/[a-z0-9.-]+$/, 'expected an address such as https://console.example.com')
      .optional(),
    /** Whether the stage has the SCIM endpoint, which the internet can reach. */
    scim: flag.default(false),
    /** Requests per second that the SCIM endpoint admits. */
    // One identity provider sends up to 25 requests a second. The upper limits are the quotas of API Gateway in a
    // region.
    scimRequestsPerSecond: number.pipe(z.int().min(25).max(10_000)).default(100),
    scimBurst: number.pipe(z.int().min(25).max(5_000)).default(200),
    /** Executions that are reserved for the SCIM endpoint, and its maximum. `none` means no reservation. */
    // Without a reservation, requests from the internet could use all executions of the account.
    scimConcurrency: z.union([z.literal('none'), number.pipe(z.int().min(1).max(1_000))]).default(20),
    /** The only IP addresses and ranges that may send SCIM requests. Default: all. */
    scimAllowedIps: listOf(
      z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], {
        error: 'expected an IP address or a range such as 203.0.113.0/24',
      }),
      60,
      2_400,
    ),
    /** Copies the audit into a bucket that locks each entry for this number of days. Default: no copy. */
    // No principal can delete locked objects, so the maximum limits the effect of a typing error.
    auditExportDays: number.pipe(z.int().min(1).max(3_653)).optional(),
    /** ARN of the encryption key of an earlier stack. Default: a new key. */
    keyArn: z
      .string()
      .regex(
        KEY_ARN,
        'expected the ARN of a KMS key, arn:aws:kms:<region>:<account>:key/<id>, with its id as KMS shows it; an alias is not accepted',
      )
      .optional(),
    /** Key for the secrets of new connections. Default: the key of Secrets Manager. */
    // Secrets Manager's own key cannot be limited by a key policy.
    secretsKey: z
      .union([z.literal('stage'), z.string().regex(KEY_ARN, EXPECTED_KEY)], { error: EXPECTED_KEY })
      .optional(),
    /** Days for which logs are kept. */
    logRetentionDays: number
      .refine((days) => LOG_RETENTION_DAYS.includes(days), {
        error: `expected one of ${LOG_RETENTION_DAYS.join(', ')}`,
      })
      .default(30),
    logLevel: z.enum(['info', 'warn', 'error']).default('info'),
    /** Whether the table and its key are kept when the stack is deleted. */
    retainData: flag.default(true),
    /** Where your team reads the runbook; each alarm contains it. */
    // Each alarm description contains this URL, and may have at most 1,024 characters.
    runbookUrl: z.string().min(1).max(700).default('docs/runbook.md'),
  })
  .refine(({ sources, directory }) => !directory || Object.keys(sources).length < MOST_SOURCES, {
    path: ['sources'],
    error: `expected at most ${MOST_SOURCES - 1} sources, because the reader of directories also needs a queue`,
  })
  // With an emulator, the identity provider may be on this machine.
  .refine(({ console: signIn }) => signIn === undefined || isEmulated() || !isInternalUrl(signIn.issuer), {
    path: ['console', 'issuer'],
    error: 'expected a public address, got an address of a private network',
  });

export type Settings = z.infer<typeof StageSettings> & { readonly stage: string };

/**
 * @param context what cdk.json and `-c name=value` set. A name that is neither a setting nor a key of the CDK is refused.
 * @param ofAllStages settings of every stage. The settings of the stage and of the context override them.
 * @throws SettingsError with one line per fault, which contains the setting and the expected value
 */
export function readSettings(
  context: Readonly<Record<string, unknown>>,
  ofAllStages: Readonly<Record<string, unknown>> = {},
): Settings {
  const given = Object.entries(context).filter(
    ([name, value]) => value !== undefined && !IS_OF_CDK.test(name),
  );
  const { stage: name = 'production', stages: ofStages = {}, ...settings } = Object.fromEntries(given);
  refuseUnknown([...Object.keys(settings), ...Object.keys(ofAllStages)]);
  const stages = Stages.safeParse(ofStages);
  if (!stages.success) throw new SettingsError('stages', stages.error);
  const stage = StageName.safeParse(name);
  if (!stage.success) throw new SettingsError('stage', stage.error);
  const ofStage = Object.hasOwn(stages.data, stage.data) ? stages.data[stage.data] : undefined;
  if (ofStage === undefined && Object.keys(stages.data).length > 0) {
    const known = Object.keys(stages.data).join(', ');
    throw new SettingsError(`stage "${stage.data}": not in cdk.json, which has ${known}`);
  }
  refuseUnknown(Object.keys(ofStage ?? {}));
  const parsed = StageSettings.safeParse({ ...ofAllStages, ...ofStage, ...settings });
  if (!parsed.success) throw new SettingsError(`stage "${stage.data}"`, parsed.error);
  return { ...parsed.data, stage: stage.data };
}

const StageName = z.string().regex(/^[a-z][a-z0-9-]{0,31}$/, 'expected a name such as production');
const Stages = z.record(StageName, z.record(z.string(), z.unknown()));

/**
 * Context keys of the CDK itself: feature flags, values of the command line, look-up results and acknowledged notices.
 */
const IS_OF_CDK = /[:/@]|^acknowledged-issue-numbers$/;

/** Refuses unknown settings, because a misspelt setting would be ignored silently. */
function refuseUnknown(names: readonly string[]): void {
  const known = ['stage', 'stages', ...Object.keys(StageSettings.shape)];
  const faults = names
    .filter((name) => !known.includes(name))
    .map((name) => {
      const meant = nearest(name, known);
      const help = meant === undefined ? `known are ${known.join(', ')}` : `did you mean '${meant}'?`;
      return `unknown setting '${name}'; ${help}`;
    });
  if (faults.length > 0) throw new SettingsError(faults.join('\n'));
}

export const isEmulated = (): boolean => process.env['AWS_ENDPOINT_URL'] !== undefined;

/** Returns account and region of the stack. The CDK command line sets the variables from its credentials. */
export function environmentOf({ region = process.env['CDK_DEFAULT_REGION'] }: Pick<Settings, 'region'>) {
  const account = process.env['CDK_DEFAULT_ACCOUNT'];
  return { ...(account && { account }), ...(region && { region }) };
}

export class SettingsError extends Error {
  override readonly name = 'SettingsError';
  constructor(where: string, cause?: z.ZodError) {
    const faults = (cause?.issues ?? []).map((issue) => `  ${issue.path.join('.')}: ${messageOf(issue)}`);
    super([`The settings cannot be used. ${where}`, ...faults].join('\n'), { cause });
  }
}

const messageOf = (issue: z.core.$ZodIssue): string =>
  (issue.code === 'invalid_key' && issue.issues[0]?.message) || issue.message;
