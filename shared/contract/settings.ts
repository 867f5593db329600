import * as z from 'zod';
import { looksLikeAddress } from './address.ts';
import { ENTRA_CLOUDS } from './entra-clouds.ts';
import { CUSTOM_PREFIX, excludedBy, parseExclusion, USER_ATTRIBUTES } from './exclusion.ts';
import { MAX_GLOB_LENGTH } from './glob.ts';
import { MATCHABLE_EMPLOYEE_FIELDS, type MatchRule, parseMatchRule } from './match-rule.ts';
import { isNameTemplate } from './name-template.ts';
import { parsedUrl } from './url.ts';

/*
 * Settings are stored as people write them: plain JSON, with match rules as text. So the output of `connections show`
 * is valid input. Every schema has a text that describes the expected value. This text is a part of messages such as
 * "key: expected …, got …".
 */

const SHOWN_INPUT_LENGTH = 80;

const shown = (input: unknown): string => {
  if (input === undefined) return 'nothing';
  const text = JSON.stringify(input) ?? String(input);
  return text.length > SHOWN_INPUT_LENGTH ? `${text.slice(0, SHOWN_INPUT_LENGTH)}…` : text;
};

/** Removes the parts of a URL that may be secret: a password before the host, a token after the path. */
const withoutSecrets = (input: unknown): unknown =>
  typeof input === 'string' ? input.replace(/^.*@/s, '…@').replace(/[?#].*/s, '…') : input;

const expecting = (what: string, clean = (input: unknown) => input) => ({
  error: (issue: { readonly input?: unknown }) => `expected ${what}, got ${shown(clean(issue.input))}`,
});

/** Builds one schema without inner schemas, because a new worker builds all schemas at its start. */
const that = <Value>(what: string, holds: (input: unknown) => boolean, clean?: typeof withoutSecrets) =>
  z.custom<Value>(holds, expecting(what, clean));

export type SettingForm =
  | { readonly kind: 'choice'; readonly values: readonly string[] }
  | { readonly kind: 'number'; readonly least: number; readonly most: number; readonly isWhole: boolean }
  | { readonly kind: 'switch' };

const forms = new WeakMap<z.ZodType, SettingForm>();
export const formOf = (schema: z.ZodType): SettingForm | undefined => forms.get(schema);

function entered<Schema extends z.ZodType>(schema: Schema, form: SettingForm): Schema {
  forms.set(schema, form);
  return schema;
}

const oneOf = <const Values extends readonly string[]>(values: Values) =>
  entered(
    that<Values[number]>(values.map((value) => `"${value}"`).join(' or '), (input) =>
      values.some((value) => value === input),
    ),
    { kind: 'choice', values },
  );

const numberThat = (what: string, is: (input: unknown) => boolean, least: number, most: number) =>
  entered(
    that<number>(
      `${what} from ${least} to ${most}`,
      (input) => is(input) && Number(input) >= least && Number(input) <= most,
    ),
    { kind: 'number', least, most, isWhole: is === Number.isInteger },
  );
const wholeNumber = (least: number, most: number) =>
  numberThat('a whole number', Number.isInteger, least, most);

const trueOrFalse = entered(
  that<boolean>('true or false', (input) => typeof input === 'boolean'),
  { kind: 'switch' },
);

const textThat = (what: string, holds: (text: string) => boolean, clean?: typeof withoutSecrets) =>
  that<string>(what, (input) => typeof input === 'string' && holds(input), clean);

function list<Item extends z.ZodType>(what: string, item: Item, least = 0) {
  const expected = expecting(what);
  return z
    .array(item, expected)
    .check(z.minLength(least, expected), z.maxLength(1_000, expecting('at most 1000 entries')));
}

function object<Shape extends z.ZodRawShape>(what: string, shape: Shape) {
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `unknown ${(issue.keys as string[]).map((key) => `"${key}"`).join(', ')}`
        : `expected ${what}, got ${shown(issue.input)}`,
  });
}

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** groupsync sends secrets to this address, so the address must use https, or http on the same machine. */
function isBaseUrl(text: string): boolean {
  const url = parsedUrl(text);
  if (url === undefined) return false;
  const { protocol, hostname, username, password, search, hash } = url;
  if (username + password + search + hash !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname));
}

const BaseUrl = textThat(
  'an https URL (http only for this machine) without query, user or password',
  isBaseUrl,
  withoutSecrets,
).overwrite((text) => text.replace(/\/{1,100}$/, ''));

const Match = textThat(
  `a rule memberAttribute=employeeField with the field one of ${MATCHABLE_EMPLOYEE_FIELDS.join(', ')} or customFields.<title>`,
  (text) => parseMatchRule(text) !== undefined,
);

const Exclusion = textThat(
  `a condition attribute=value with the attribute one of ${USER_ATTRIBUTES.join(', ')} or ${CUSTOM_PREFIX}<name>`,
  (text) => parseExclusion(text) !== undefined,
);

const Glob = textThat(
  `a glob of 1 to ${MAX_GLOB_LENGTH} characters`,
  (text) => text.length > 0 && text.length <= MAX_GLOB_LENGTH,
);

const QueryParameter = textThat('the name of a query parameter', (text) => /^[\w.~-]{1,64}$/.test(text));

const Mode = oneOf(['authoritative', 'additive', 'report']);
/** docs/modes.md has the table of modes. */
export type Mode = z.infer<typeof Mode>;

const GroupPolicy = object('an object {match, mode}', { match: Glob, mode: Mode });

/** A name that the vendor defines. groupsync does not check its form. */
const vendorName = (what: string) => textThat(what, (text) => text.length > 0 && text.length <= 1_000);

const OF_EVERY_DIRECTORY = {
  /** Whether the reader sends events to correct a group of another source that has the same id as its own group. */
  corrects: trueOrFalse.optional(),
};
/** The address of another server with the same API, such as a simulator. */
const otherServer = BaseUrl.optional();

const GoogleSource = object('an object {kind, administrator, federation?, baseUrl?, corrects?}', {
  kind: z.literal('google'),
  /** The administrator on whose behalf the reader acts (domain-wide delegation). */
  administrator: textThat('the e-mail address of an administrator', looksLikeAddress),
  /** Sign-in with the role of the function; absent if the reader signs in with a stored key. */
  federation: object('an object {provider, serviceAccount}', {
    /** The full name of the provider in the workload identity pool: `//iam.googleapis.com/projects/…`. */
    provider: vendorName('the full name of a workload identity provider'),
    serviceAccount: vendorName('the address of a service account'),
  }).optional(),
  baseUrl: otherServer,
  ...OF_EVERY_DIRECTORY,
});

const EntraSource = object('an object {kind, tenant, clientId, cloud?, federation?, baseUrl?, corrects?}', {
  kind: z.literal('entra'),
  tenant: vendorName('the id or domain of a tenant'),
  clientId: vendorName('the client id of an application'),
  /** The cloud of the tenant. The hosts and the scope of the sign-in follow from it. */
  cloud: oneOf(ENTRA_CLOUDS).default('public'),
  /** Sign-in with the role of the function; absent if the reader signs in with a stored client secret. */
  federation: object('an object {audience}', {
    audience: vendorName('the audience of a federated credential'),
  }).optional(),
  baseUrl: otherServer,
  ...OF_EVERY_DIRECTORY,
});

const OktaSource = object('an object {kind, orgUrl, clientId?, keyArn?, corrects?}', {
  kind: z.literal('okta'),
  /** The URL of the organisation. The reader sends every request to this host. */
  orgUrl: BaseUrl,
  /** The client id of the reader's application; absent if the reader signs in with a stored API token. */
  clientId: vendorName('the client id of an application').optional(),
  /** The KMS key of the application; absent if the reader signs in with a stored private key or API token. */
  keyArn: vendorName('the ARN of a KMS key').optional(),
  ...OF_EVERY_DIRECTORY,
});

export const DIRECTORY_KINDS = ['google', 'entra', 'okta'] as const;
export type DirectoryKind = (typeof DIRECTORY_KINDS)[number];

/** A directory that groupsync reads through its API. */
export const DirectorySource = z.discriminatedUnion(
  'kind',
  [GoogleSource, EntraSource, OktaSource],
  expecting(`an object with the kind ${DIRECTORY_KINDS.join(', ')}, or null for none`),
);

/** A number of minutes, at most the minutes of thirty days, or null. */
const ExpectedEvery = wholeNumber(1, 43_200).nullable().default(null);

/**
 * The limits up to which removals within 75 minutes need no approval. `maxRemovedShare` does not apply to groups with
 * fewer than `minSize` members. The larger value of `deletedGroups` and `deletedGroupsShare` limits the deletions of
 * groups.
 */
const GuardLimits = object('an object of guard limits, or null for none', {
  minSize: wholeNumber(0, 1_000_000).default(5),
  maxRemovedShare: numberThat('a number', Number.isFinite, 0, 1).default(0.5),
  maxRemovedCount: wholeNumber(0, 1_000_000).default(100),
  perHourCount: wholeNumber(0, 1_000_000).default(500),
  deletedGroups: wholeNumber(0, 1_000_000).default(2),
  deletedGroupsShare: numberThat('a number', Number.isFinite, 0, 1).default(0.05),
});

/**
 * The settings of one connection, with their defaults. Only `baseUrl` has no default. Unknown keys are refused.
 * Otherwise a misspelt safety limit would have no effect, and the operator would not notice.
 */
export const ConnectionSettings = object('an object of connection settings', {
  baseUrl: BaseUrl,
  /** The employee field whose value is in the `users` of a platform group. */
  memberIdField: oneOf(['userId', 'id']).default('userId'),
  /** The match rules in order. The first rule that finds an employee counts. */
  match: list('a list of at least one match rule', Match, 1).default(['email=workEmail']),
  includeStates: list(
    'a list of at least one roleState',
    oneOf(['INIT', 'HIRED', 'ACCEPTED', 'ACTIVE', 'TERMINATED']),
    1,
  ).default(['ACTIVE']),
  people: object('an object {exclude}', {
    /** Members who meet one of these conditions are in no group. */
    exclude: list('a list of conditions attribute=value', Exclusion).default([]),
  }).prefault({}),
  mode: Mode.default('authoritative'),
  /** What happens to an authoritative platform group after the directory deleted the group. */
  onGroupDeleted: oneOf(['delete', 'release']).default('delete'),
  /** Whether the operator who caused a hold may not approve it, so that a second operator must. */
  fourEyes: trueOrFalse.default(false),
  /** Whether the audit records which operator reads data of people, in the console and with commands. */
  auditReads: trueOrFalse.default(false),
  /** The limits of the guard. The value null switches the guard off. */
  guard: GuardLimits.nullable().prefault({}),
  groups: object('an object {include, exclude, policies}', {
    include: list('a list of globs', Glob).default(['*']),
    exclude: list('a list of globs', Glob).default([]),
    policies: list('a list of {match, mode}', GroupPolicy).default([]),
  }).prefault({}),
  nameTemplate: textThat(
    'a template with {name} or {id}, and no braces but {name}, {id} and {connection}',
    isNameTemplate,
  ).default('{name}'),
  /** The names of the activity feed's query parameters, which the specification does not define. */
  activity: object('an object {startParam, endParam, sizeParam, pageSize}', {
    startParam: QueryParameter.default('startDate'),
    endParam: QueryParameter.default('endDate'),
    sizeParam: QueryParameter.default('limit'),
    pageSize: wholeNumber(1, 1_000).default(1_000),
  }).prefault({}),
  scim: object('an object {storeProfile, maxGroupNameLength}', {
    /** Store all attributes of users, not only those for matching. */
    storeProfile: trueOrFalse.default(false),
    /** The maximum length of a group's name on the platform. Okta and Entra ID allow the default. */
    maxGroupNameLength: wholeNumber(1, 1_024).default(256),
  }).prefault({}),
  /**
   * The policy for groups that are members of groups. With `flatten`, the members of the inner group are also members
   * of the outer group. With `ignore`, a reader leaves out inner groups, and a SCIM request with an inner group is
   * refused.
   */
  nested: oneOf(['flatten', 'ignore']).default('ignore'),
  /** The maximum number of calls to the platform that one worker makes at the same time. */
  concurrency: wholeNumber(1, 64).default(8),
  /** The time limit of one call to the platform, in milliseconds. */
  timeoutMs: wholeNumber(100, 60_000).default(10_000),
  /** The directory that groupsync reads; null if changes arrive only as events or by SCIM. */
  directory: DirectorySource.nullable().default(null),
  sources: object('an object {expectEvery}', {
    /**
     * The longest expected time between two receipts of each source, in minutes. With null for `events` or `scim`, no
     * receipt is expected. With null for `directory`, the schedule of the reader is the expected interval.
     */
    expectEvery: object('an object {events, scim, directory}, each a number of minutes or null', {
      events: ExpectedEvery,
      scim: ExpectedEvery,
      directory: ExpectedEvery,
    }).prefault({}),
  }).prefault({}),
});
export type DirectorySetting = NonNullable<z.infer<typeof ConnectionSettings>['directory']>;

/** Returns the address in a directory's settings, with its key; undefined for the vendor's own address. */
export const addressOfDirectory = (
  setting: DirectorySetting,
): { readonly key: string; readonly url: string | undefined } =>
  setting.kind === 'okta'
    ? { key: 'directory.orgUrl', url: setting.orgUrl }
    : { key: 'directory.baseUrl', url: setting.baseUrl };

export type DirectoryOf<Kind extends DirectoryKind> = Extract<DirectorySetting, { readonly kind: Kind }>;
export type ConnectionSettings = Readonly<z.infer<typeof ConnectionSettings>>;

/** The connection's match rules in the order in which they are tried. */
export function matchRules(settings: Pick<ConnectionSettings, 'match'>): readonly MatchRule[] {
  return settings.match.map(parseMatchRule).filter((rule) => rule !== undefined);
}

const IN_EVERY_SOURCE: ReadonlySet<string> = new Set(['id', 'email', 'otherEmails', 'userName']);

/** Returns the attributes that match rules or exclusions name, without those that every source sends anyway. */
export const namedAttributes = (
  settings: Pick<ConnectionSettings, 'match' | 'people'>,
): readonly string[] => {
  const matched = matchRules(settings).map(({ memberAttribute }) => memberAttribute);
  return [...new Set([...matched, ...excludedBy(settings)])].filter((name) => !IN_EVERY_SOURCE.has(name));
};
