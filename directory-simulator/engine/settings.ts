import * as z from 'zod';

const Probability = z.number().min(0).max(1);

const LagSeconds = z.strictObject({
  users: z.number().min(0),
  groups: z.number().min(0),
  members: z.number().min(0),
  log: z.number().min(0),
});
export type LagKind = keyof z.infer<typeof LagSeconds>;

/** How difficult the directory is; changed by `POST /_simulator/settings`. */
export const Settings = z.strictObject({
  /** `random`: a page has from one item up to what was asked for. `full`: all pages but the last are full. */
  pageSizes: z.enum(['random', 'full']),
  /** `random`: each listing has an order of its own. `byId`: always the order of the ids. */
  pageOrder: z.enum(['random', 'byId']),
  /** How often a page begins with the last item of the page before. */
  repeatedItems: Probability,
  /** How often a page is empty and not the last one. */
  emptyPages: Probability,
  /** Whether answers have fields that no document names. */
  unknownFields: z.boolean(),
  /** How often a group comes without the count of its members. */
  absentCounts: Probability,
  /** How often an indirect member is missing from a listing that asked for indirect members. */
  missingDerivedMembers: Probability,
  /** How often a request fails with a quota error or a 5xx. */
  failures: Probability,
  /** Per user; null means no limit. */
  queriesPerMinute: z.int().positive().nullable(),
  pageTokenLifetimeSeconds: z.number().positive(),
  accessTokenLifetimeSeconds: z.number().positive(),
  /** The longest that an answer is behind; each request draws its own lag, each log entry too. */
  lagSeconds: LagSeconds,
  /** How often a change never shows in the log. */
  lostLogEntries: Probability,
  /** How the log of group changes names groups and members. */
  loggedIdentifier: z.enum(['email', 'id']),
});
export type Settings = z.infer<typeof Settings>;

export const PartialSettings = Settings.partial().extend({ lagSeconds: LagSeconds.partial().optional() });
export type PartialSettings = z.infer<typeof PartialSettings>;

/** At least as difficult as the real service. */
export const REALISTIC_SETTINGS: Settings = {
  pageSizes: 'random',
  pageOrder: 'random',
  repeatedItems: 0.1,
  emptyPages: 0.02,
  unknownFields: true,
  absentCounts: 0.05,
  missingDerivedMembers: 0.1,
  failures: 0.01,
  queriesPerMinute: 2_400,
  pageTokenLifetimeSeconds: 3 * 86_400,
  accessTokenLifetimeSeconds: 3_600,
  lagSeconds: { users: 30, groups: 30, members: 60, log: 180 },
  lostLogEntries: 0.02,
  loggedIdentifier: 'email',
};

/** Nothing unexpected happens: for a first look, and for tests that switch on one difficulty at a time. */
export const CALM_SETTINGS: Settings = {
  ...REALISTIC_SETTINGS,
  pageSizes: 'full',
  pageOrder: 'byId',
  repeatedItems: 0,
  emptyPages: 0,
  unknownFields: false,
  absentCounts: 0,
  missingDerivedMembers: 0,
  failures: 0,
  lagSeconds: { users: 0, groups: 0, members: 0, log: 0 },
  lostLogEntries: 0,
};

export function changedSettings(settings: Settings, changed: PartialSettings): Settings {
  const given = Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== undefined));
  return Settings.parse({
    ...settings,
    ...given,
    lagSeconds: { ...settings.lagSeconds, ...changed.lagSeconds },
  });
}
