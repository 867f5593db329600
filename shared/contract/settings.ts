import type * as z from 'zod';
import { DirectorySource } from './directory-settings.ts';
import { CUSTOM_PREFIX, excludedBy, parseExclusion, USER_ATTRIBUTES } from './exclusion.ts';
import { MAX_GLOB_LENGTH } from './glob.ts';
import { MATCHABLE_EMPLOYEE_FIELDS, type MatchRule, parseMatchRule } from './match-rule.ts';
import { isNameTemplate } from './name-template.ts';
import {
  BaseUrl,
  list,
  numberThat,
  object,
  oneOf,
  textThat,
  trueOrFalse,
  wholeNumber,
} from './setting-forms.ts';

/*
 * Settings are stored as people write them: plain JSON, with match rules as text. So the output of `connections show`
 * is valid input.
 */

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
export type ConnectionSettings = Readonly<z.infer<typeof ConnectionSettings>>;

/** The connection's match rules in the order in which they are tried. */
export function matchRules(settings: Pick<ConnectionSettings, 'match'>): readonly MatchRule[] {
  return settings.match.map(parseMatchRule).filter((rule) => rule !== undefined);
}

const IN_EVERY_SOURCE: ReadonlySet<string> = new Set(['id', 'email', 'otherEmails', 'userName']);

/** Returns the attributes that match rules or exclusions name, without those that every source sends anyway. */
export const namedAttributes = (settings: Pick<ConnectionSettings, 'match' | 'people'>) => {
  const matched = matchRules(settings).map(({ memberAttribute }) => memberAttribute);
  return [...new Set([...matched, ...excludedBy(settings)])].filter((name) => !IN_EVERY_SOURCE.has(name));
};
