import * as z from 'zod';

const Probability = z.number().min(0).max(1);

const LagSeconds = z.strictObject({
  users: z.number().min(0),
  groups: z.number().min(0),
  members: z.number().min(0),
  log: z.number().min(0),
  /** The lag of delta queries (lists of changes). */
  delta: z.number().min(0),
  /** The lag of the member counts in lists. */
  counts: z.number().min(0),
  /** The lag of dynamic groups, whose members follow from a rule. This lag is added to the lag of the endpoint. */
  dynamicMembers: z.number().min(0),
});
export type LagKind = keyof z.infer<typeof LagSeconds>;

/** The settings for lag, failures, paging and other behaviour. `POST /_simulator/settings` changes these settings. */
export const Settings = z.strictObject({
  /**
   * With `random`, a page has from one item up to the requested number. With `full`, all pages except the last are
   * full.
   */
  pageSizes: z.enum(['random', 'full']),
  /** With `random`, each listing has its own order. With `byId`, items are always sorted by id. */
  pageOrder: z.enum(['random', 'byId']),
  /** The probability that a page begins with the last item of the previous page. */
  repeatedItems: Probability,
  /** The probability that a page is empty and another page follows. */
  emptyPages: Probability,
  unknownFields: z.boolean(),
  /** The probability that an answer shows a group without the count of its members. */
  absentCounts: Probability,
  /** Whether the count of a Google group includes the groups among its members. */
  countsGroups: z.boolean(),
  /** The probability that a list of changes repeats changes of an earlier list. */
  repeatedChanges: Probability,
  /** The probability that a group's list of changes never shows the removal of a member who was deleted. */
  unreportedDeletions: Probability,
  /** If false, lists of members leave out service principals. */
  listsServicePrincipals: z.boolean(),
  /** The probability that an indirect member is missing from a listing with indirect members. */
  missingDerivedMembers: Probability,
  /** The probability that a request fails with a quota error or a 5xx. */
  failures: Probability,
  /** The limit of requests per minute: per user for Google, per operation for Okta. null means no limit. */
  queriesPerMinute: z.int().positive().nullable(),
  pageTokenLifetimeSeconds: z.number().positive(),
  /** The lifetime of a token for later changes. */
  deltaTokenLifetimeSeconds: z.number().positive(),
  accessTokenLifetimeSeconds: z.number().positive(),
  /** The maximum lags. Each request and each log entry has a random lag up to the maximum. */
  lagSeconds: LagSeconds,
  /** The probability that the log never shows a change. */
  lostLogEntries: Probability,
  /**
   * Whether access tokens are bound to a key of the client (DPoP, RFC 9449). With `token`, only the token endpoint asks
   * for a nonce. With `everywhere`, the API also asks for a nonce.
   */
  dpop: z.enum(['off', 'token', 'everywhere']),
  /** The identifier of groups and members in the log of group changes. */
  loggedIdentifier: z.enum(['email', 'id']),
});
export type Settings = z.infer<typeof Settings>;

export const PartialSettings = Settings.partial().extend({ lagSeconds: LagSeconds.partial().optional() });
export type PartialSettings = z.infer<typeof PartialSettings>;

/** Settings that make reading at least as difficult as with the real service. */
export const REALISTIC_SETTINGS: Settings = {
  pageSizes: 'random',
  pageOrder: 'random',
  repeatedItems: 0.1,
  emptyPages: 0.02,
  unknownFields: true,
  absentCounts: 0.05,
  countsGroups: false,
  repeatedChanges: 0.2,
  unreportedDeletions: 0.5,
  listsServicePrincipals: false,
  missingDerivedMembers: 0.1,
  failures: 0.01,
  queriesPerMinute: 2_400,
  pageTokenLifetimeSeconds: 3 * 86_400,
  deltaTokenLifetimeSeconds: 7 * 86_400,
  accessTokenLifetimeSeconds: 3_600,
  lagSeconds: { users: 30, groups: 30, members: 60, log: 180, delta: 300, counts: 120, dynamicMembers: 0 },
  lostLogEntries: 0.02,
  dpop: 'everywhere',
  loggedIdentifier: 'email',
};

/** Settings without lag and failures, for first experiments, and for tests that enable one difficulty at a time. */
export const CALM_SETTINGS: Settings = {
  ...REALISTIC_SETTINGS,
  pageSizes: 'full',
  pageOrder: 'byId',
  repeatedItems: 0,
  emptyPages: 0,
  unknownFields: false,
  absentCounts: 0,
  repeatedChanges: 0,
  unreportedDeletions: 0,
  listsServicePrincipals: true,
  missingDerivedMembers: 0,
  failures: 0,
  lagSeconds: { users: 0, groups: 0, members: 0, log: 0, delta: 0, counts: 0, dynamicMembers: 0 },
  lostLogEntries: 0,
  dpop: 'off',
};

export function changedSettings(settings: Settings, changed: PartialSettings): Settings {
  const given = Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== undefined));
  return Settings.parse({
    ...settings,
    ...given,
    lagSeconds: { ...settings.lagSeconds, ...changed.lagSeconds },
  });
}
