/*
 * Every metric that the code emits and that alarms and the dashboard read: one list, so that neither side can name one
 * that the other does not know. Written in CloudWatch's embedded metric format (EMF), namespace `METRIC_NAMESPACE`.
 */

/** Units as CloudWatch spells them. */
export type MetricUnit = 'Count' | 'Milliseconds' | 'Seconds';

export interface MetricDefinition {
  readonly unit: MetricUnit;
  /** `count`: happenings, read as a sum. `gauge`: a level at that moment, read as a maximum. `duration`: read as percentiles. */
  readonly form: 'count' | 'gauge' | 'duration';
  /** A second dimension set beside `[Prefix]`: alarms read the one by prefix alone, the dashboard searches the other. */
  readonly by?: 'Connection' | 'Kind';
  readonly meaning: string;
}

/** `Prefix` is in every dimension set, because stages that share an account share the namespace. */
export const METRIC_DIMENSIONS = { prefix: 'Prefix', connection: 'Connection', kind: 'Kind' } as const;

export const METRICS = {
  // ingest
  EventsReceived: {
    unit: 'Count',
    form: 'count',
    by: 'Connection',
    meaning: 'directory events that were folded into desired state',
  },
  EventsIgnored: {
    unit: 'Count',
    form: 'count',
    meaning: 'events outside directory.*, acknowledged and not stored',
  },
  EventsRejected: {
    unit: 'Count',
    form: 'count',
    by: 'Kind',
    meaning: 'events that ingest dead-lettered; Kind is the error code',
  },

  // scim
  ScimRequests: {
    unit: 'Count',
    form: 'count',
    by: 'Connection',
    meaning: 'requests to the SCIM server; those without a valid token belong to no connection',
  },
  ScimRefusals: {
    unit: 'Count',
    form: 'count',
    by: 'Kind',
    meaning: 'SCIM requests answered with a 4xx; Kind is the status',
  },
  ScimFailures: {
    unit: 'Count',
    form: 'count',
    meaning: 'SCIM requests answered with a 5xx: providers try again and quarantine the app if it lasts',
  },
  ScimLatencyMs: {
    unit: 'Milliseconds',
    form: 'duration',
    meaning: 'from a SCIM request to its answer',
  },

  // apply
  ApplyLagMs: {
    unit: 'Milliseconds',
    form: 'duration',
    meaning:
      'from the oldest change that a write contains (its event time or, where only that is known, when the group became dirty) to its confirmation by the platform',
  },
  PlatformWrites: {
    unit: 'Count',
    form: 'count',
    by: 'Kind',
    meaning: 'confirmed writes to the platform; Kind is create, patch, put or delete',
  },
  PlatformConflicts: {
    unit: 'Count',
    form: 'count',
    meaning: 'writes that met a version which was not ours, and were computed again',
  },
  ApplyFailures: {
    unit: 'Count',
    form: 'count',
    by: 'Kind',
    meaning:
      'attempts at a group that failed, those stopped by a closed gate aside; Kind is retry (tried again later) or failed (needs a person or a new change)',
  },

  // the pump, each minute: levels of the whole connection, so that they show even while nothing else runs
  PumpCompleted: {
    unit: 'Count',
    form: 'count',
    meaning: 'runs of the pump that came to their end, once per run however many connections there are',
  },
  DirtyGroups: {
    unit: 'Count',
    form: 'gauge',
    by: 'Connection',
    meaning: 'groups whose desired state is not yet on the platform: the backlog',
  },
  OldestDirtySeconds: {
    unit: 'Seconds',
    form: 'gauge',
    by: 'Connection',
    meaning: 'how long the longest waiting dirty group has waited; 0 without one',
  },
  HoldsWaiting: {
    unit: 'Count',
    form: 'gauge',
    by: 'Connection',
    meaning: 'groups with removals that the guard stopped and nobody has approved or rejected',
  },
  PendingMembers: {
    unit: 'Count',
    form: 'gauge',
    by: 'Connection',
    meaning: 'members that cannot be resolved to a person yet',
  },
  GateClosedSeconds: {
    unit: 'Seconds',
    form: 'gauge',
    by: 'Connection',
    meaning:
      'how long the gate has been closed by backoff or an unauthorised credential; 0 while open, or paused by a person',
  },
  CredentialUnauthorized: {
    unit: 'Count',
    form: 'gauge',
    by: 'Connection',
    meaning: '1 while the gate is closed for an unauthorised credential, else 0',
  },
  CredentialUncheckedSeconds: {
    unit: 'Seconds',
    form: 'gauge',
    by: 'Connection',
    meaning:
      'since the credential was last found good by the daily check; a day more is a missed or failed check',
  },
  FeedCursorAgeSeconds: {
    unit: 'Seconds',
    form: 'gauge',
    by: 'Connection',
    meaning: 'since the activity feed was last read to its end',
  },

  // feed, sweep and people
  FeedEventsRead: {
    unit: 'Count',
    form: 'count',
    meaning: 'activity events read from the feed, echoes of our own writes included',
  },
  DriftFound: {
    unit: 'Count',
    form: 'count',
    by: 'Kind',
    meaning: 'differences on the platform that we did not make; Kind is the kind of drift',
  },
  SweepCompleted: {
    unit: 'Count',
    form: 'count',
    meaning: 'sweeps that came to their end, once per run however many connections there are',
  },
  SweepHalted: {
    unit: 'Count',
    form: 'count',
    meaning:
      'sweeps that found so many links missing that they re-created nothing, and groups that apply did not re-create because too many answer 404',
  },
  PeopleRefreshed: {
    unit: 'Count',
    form: 'count',
    meaning: 'employees read by refreshes of the people index that came to their end',
  },
} as const satisfies Readonly<Record<string, MetricDefinition>>;

export type MetricName = keyof typeof METRICS;
