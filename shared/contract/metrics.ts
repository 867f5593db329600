/*
 * Every metric that the code emits and that alarms and the dashboard read: one list, so that neither side can name one
 * that the other does not know. Written in CloudWatch's embedded metric format (EMF), namespace `METRIC_NAMESPACE`.
 */

interface MetricDefinition {
  /** As CloudWatch spells it. */
  readonly unit: 'Count' | 'Milliseconds' | 'Seconds';
  /** `count`: happenings, read as a sum. `gauge`: a level at that moment, read as a maximum. `duration`: read as percentiles. */
  readonly form: 'count' | 'gauge' | 'duration';
  /** A second dimension set next to `[Prefix]`. Alarms use the set with the prefix alone; the dashboard searches this one. */
  readonly by: 'Connection' | 'Kind' | undefined;
}

/** `Prefix` is in every dimension set, because stages that share an account share the namespace. */
export const METRIC_DIMENSIONS = { prefix: 'Prefix', connection: 'Connection', kind: 'Kind' } as const;

const count = (by?: 'Connection' | 'Kind'): MetricDefinition => ({ unit: 'Count', form: 'count', by });
const level = (unit: 'Count' | 'Seconds'): MetricDefinition => ({ unit, form: 'gauge', by: 'Connection' });
const LATENCY: MetricDefinition = { unit: 'Milliseconds', form: 'duration', by: undefined };

export const METRICS = {
  // ingest
  /** Directory events that were folded into desired state. */
  EventsReceived: count('Connection'),
  /** Events that were understood and do not concern groups or members: acknowledged and not stored. */
  EventsIgnored: count(),
  /** Events that ingest dead-lettered; Kind is the error code. */
  EventsRejected: count('Kind'),

  // scim
  /** Requests to the SCIM server; those without a valid token belong to no connection. */
  ScimRequests: count('Connection'),
  /** SCIM requests answered with a 4xx; Kind is the status. */
  ScimRefusals: count('Kind'),
  /** SCIM requests answered with a 5xx: providers try again and quarantine the app if it lasts. */
  ScimFailures: count(),
  /** SCIM requests whose token ends within 14 days. */
  ScimTokensEnding: count('Connection'),
  /** Members that SCIM requests named and that are no users: deleted, or never created. */
  ScimStaleMembers: count('Connection'),
  /** From a SCIM request to its answer. */
  ScimLatencyMs: LATENCY,

  // apply
  /**
   * From the oldest change that a write contains (its event time or, where only that is known, when the group
   * became dirty) to its confirmation by the platform.
   */
  ApplyLagMs: LATENCY,
  /** Confirmed writes to the platform; Kind is create, patch, put or delete. */
  PlatformWrites: count('Kind'),
  /** Writes that met another version than the stored one, and were planned again. */
  PlatformConflicts: count(),
  /**
   * Attempts at a group that failed, those stopped by a closed gate aside; Kind is retry (tried again later)
   * or failed (needs a person or a new change).
   */
  ApplyFailures: count('Kind'),

  // the requeue job, each minute: levels of the whole connection; usual values are not sent
  /** Completed runs of the requeue job: one per run, for all connections together. */
  PumpCompleted: count(),
  /** Groups whose desired state is not yet on the platform: the backlog. */
  DirtyGroups: level('Count'),
  /** How long the longest waiting dirty group has waited; 0 without one. */
  OldestDirtySeconds: level('Seconds'),
  /** Groups with held removals that no operator has approved or rejected. */
  HoldsWaiting: level('Count'),
  /** Members that cannot be resolved to a person yet. */
  PendingMembers: level('Count'),
  /** How long the gate has been closed by backoff or an unauthorised credential; 0 while open or paused. */
  GateClosedSeconds: level('Seconds'),
  /** 1 while the gate is closed for an unauthorised credential, else 0. */
  CredentialUnauthorized: level('Count'),
  /** Since the credential was last found good by the daily check; a day more is a missed or failed check. */
  CredentialUncheckedSeconds: level('Seconds'),
  /** Since the activity feed was last read to its end. */
  FeedCursorAgeSeconds: level('Seconds'),
  /** How long events or SCIM requests have been overdue (`sources.expectEvery`); 0 while they come, or none are expected. */
  SourceLateSeconds: level('Seconds'),
  /** How long a read of the directory has been overdue. */
  ReaderLateSeconds: level('Seconds'),
  /** 1 while the reader does not read a directory, because a right or too many groups are missing; else 0. */
  ReaderStopped: level('Count'),
  /** Groups of which the directory keeps listing fewer members than it counts. */
  ReaderShortGroups: level('Count'),

  // feed, sweep and people
  /** Activity events read from the feed, echoes of our own writes included. */
  FeedEventsRead: count(),
  /** Differences on the platform that we did not make; Kind is the kind of drift. */
  DriftFound: count('Kind'),
  /** Members of one group who keep access because the platform refuses to remove them; each try reports them. */
  AccessKept: level('Count'),
  /** Ids of no known employee in groups that groupsync manages; each sweep that finds some reports it. */
  UnknownUsers: level('Count'),
  /** Sweeps that came to their end, once per run however many connections there are. */
  SweepCompleted: count(),
  /**
   * Sweeps that found so many links missing that they re-created nothing, and groups that apply did not
   * re-create because too many answer 404.
   */
  SweepHalted: count(),
  /** Employees read by refreshes of the people index that came to their end. */
  PeopleRefreshed: count(),
} as const;

export type MetricName = keyof typeof METRICS;
