/*
 * The list of all metrics. The code emits them, and alarms and the dashboard read them. They are written in
 * CloudWatch's embedded metric format (EMF), in the namespace `METRIC_NAMESPACE`.
 */

interface MetricDefinition {
  /** The unit, in CloudWatch's spelling. */
  readonly unit: 'Count' | 'Milliseconds' | 'Seconds';
  /** `count`: occurrences, read as a sum. `gauge`: a level, read as a maximum. `duration`: read as percentiles. */
  readonly form: 'count' | 'gauge' | 'duration';
  /** A second dimension set in addition to `[Prefix]`. Alarms use `[Prefix]`; the dashboard uses the second set. */
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
  /** Requests to the SCIM server. A request without a valid token is counted for no connection. */
  ScimRequests: count('Connection'),
  /** SCIM requests answered with a 4xx; Kind is the status. */
  ScimRefusals: count('Kind'),
  /** SCIM requests answered with a 5xx. Providers retry them, and quarantine the app if the errors last. */
  ScimFailures: count(),
  /** SCIM requests whose token expires within 14 days. */
  ScimTokensEnding: count('Connection'),
  /** Members in SCIM requests whose user was deleted or never created. */
  ScimStaleMembers: count('Connection'),
  /** Time from a SCIM request to its answer. */
  ScimLatencyMs: LATENCY,

  // apply
  /**
   * The time from the oldest change in a write to the platform's confirmation. It begins at the event time, or at the
   * time when the group became dirty if no event time is known.
   */
  ApplyLagMs: LATENCY,
  /** Confirmed writes to the platform; Kind is create, patch, put or delete. */
  PlatformWrites: count('Kind'),
  /** Writes that were planned again because the platform had another version than the stored one. */
  PlatformConflicts: count(),
  /**
   * Failed attempts to write a group, except attempts that a closed gate stopped. Kind is retry (tried again later) or
   * failed (needs an operator or a new change).
   */
  ApplyFailures: count('Kind'),

  // Levels of a connection, which the requeue job sends each minute. Normal values are not sent.
  /** Completed runs of the requeue job: one per run, for all connections together. */
  PumpCompleted: count(),
  /** Groups whose desired state is not yet on the platform: the backlog. */
  DirtyGroups: level('Count'),
  /** How long the oldest dirty group has waited; 0 without a dirty group. */
  OldestDirtySeconds: level('Seconds'),
  /** Groups with held removals that no operator has approved or rejected. */
  HoldsWaiting: level('Count'),
  /** Members that cannot be resolved to a person yet. */
  PendingMembers: level('Count'),
  /**
   * How long the gate has been closed by backoff or an unauthorised credential; 0 while the gate is open or an operator
   * paused the connection.
   */
  GateClosedSeconds: level('Seconds'),
  /** 1 while the gate is closed for an unauthorised credential, else 0. */
  CredentialUnauthorized: level('Count'),
  /** Time since the daily check last confirmed the credential. Over a day means a missed or failed check. */
  CredentialUncheckedSeconds: level('Seconds'),
  /** 1 if the person behind the credential has left or leaves within 30 days, else 0. */
  CredentialHolderLeaving: level('Count'),
  /** Time since the activity feed was last read to its end. */
  FeedCursorAgeSeconds: level('Seconds'),
  /** How long events or SCIM requests have been overdue (`sources.expectEvery`); 0 if none is overdue. */
  SourceLateSeconds: level('Seconds'),
  /** How long a read of the directory has been overdue. */
  ReaderLateSeconds: level('Seconds'),
  /** 1 while the reader has stopped, because it lacks a right or because too many groups are missing; else 0. */
  ReaderStopped: level('Count'),
  /** Groups for which the directory repeatedly lists fewer members than it counts. */
  ReaderShortGroups: level('Count'),

  // feed, sweep and people
  /** Activity events read from the feed, including the events of groupsync's own writes. */
  FeedEventsRead: count(),
  /** Differences on the platform that groupsync did not make; Kind is the kind of drift. */
  DriftFound: count('Kind'),
  /**
   * Members of one group who keep access because the platform refuses to remove them. Each attempt to remove them sends
   * the metric.
   */
  AccessKept: level('Count'),
  /**
   * Ids in groups that groupsync manages that belong to no known employee. Each sweep that finds some sends the metric.
   */
  UnknownUsers: level('Count'),
  /** Completed sweeps: one per run, for all connections together. */
  SweepCompleted: count(),
  /**
   * Sweeps that re-created nothing because too many links were missing. Also groups that apply did not re-create
   * because too many groups answer 404.
   */
  SweepHalted: count(),
  /** Employees read by completed refreshes of the people index. */
  PeopleRefreshed: count(),
} as const;

export type MetricName = keyof typeof METRICS;
