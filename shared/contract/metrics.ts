/*
 * All metrics, written in CloudWatch's embedded metric format (EMF), in the namespace `METRIC_NAMESPACE`. Alarms and
 * the dashboard read them.
 */

interface MetricDefinition {
  /** The unit, in CloudWatch's spelling. */
  readonly unit: 'Count' | 'Milliseconds' | 'Seconds';
  /** The form decides the statistic: sum for `count`, maximum for `gauge` (a level), percentiles for `duration`. */
  readonly form: 'count' | 'gauge' | 'duration';
  /** A second dimension set. Alarms use the first set, `[Prefix]`. The dashboard uses the second set. */
  readonly by: 'Connection' | 'Kind' | undefined;
}

/** `Prefix` is in every dimension set, because all stages of an AWS account use the same namespace. */
export const METRIC_DIMENSIONS = { prefix: 'Prefix', connection: 'Connection', kind: 'Kind' } as const;

const count = (by?: 'Connection' | 'Kind'): MetricDefinition => ({ unit: 'Count', form: 'count', by });
const level = (unit: 'Count' | 'Seconds'): MetricDefinition => ({ unit, form: 'gauge', by: 'Connection' });
const LATENCY: MetricDefinition = { unit: 'Milliseconds', form: 'duration', by: undefined };

export const METRICS = {
  // ingest
  /** Directory events that ingest folded into the desired state. */
  EventsReceived: count('Connection'),
  /** Valid events that do not concern groups or members. Ingest does not store them. */
  EventsIgnored: count(),
  /** Events that ingest dead-lettered; Kind is the error code. */
  EventsRejected: count('Kind'),

  // scim
  /** Requests to the SCIM server. A request without a valid token counts for no connection. */
  ScimRequests: count('Connection'),
  /** SCIM requests answered with a 4xx; Kind is the status. */
  ScimRefusals: count('Kind'),
  /** SCIM requests answered with a 5xx. If they last, identity providers stop sending requests. */
  ScimFailures: count(),
  /** SCIM requests whose token expires within 14 days. */
  ScimTokensEnding: count('Connection'),
  /** Members in SCIM requests that name a deleted user, or a user that was never created. */
  ScimStaleMembers: count('Connection'),
  /** Time from a SCIM request to its answer. */
  ScimLatencyMs: LATENCY,

  // apply
  /**
   * The time from the oldest change in a write to the platform's confirmation. The time begins at the time of the
   * event. If no event time is known, it begins when the group became dirty.
   */
  ApplyLagMs: LATENCY,
  /** Confirmed writes to the platform; Kind is create, patch, put or delete. */
  PlatformWrites: count('Kind'),
  /** Writes that were planned again because the platform's version differed from the stored version. */
  PlatformConflicts: count(),
  /**
   * Failed attempts to write a group, except attempts that a closed gate stopped. Kind is retry (apply tries again
   * later) or failed (the group needs an operator or a new change).
   */
  ApplyFailures: count('Kind'),

  // Levels of a connection. The requeue job measures them each minute, and sends only the values that are not normal.
  /** Completed runs of the requeue job: one per run, for all connections together. */
  PumpCompleted: count(),
  /** Groups whose desired state is not yet on the platform: the backlog. */
  DirtyGroups: level('Count'),
  /** The time that the oldest dirty group has waited. */
  OldestDirtySeconds: level('Seconds'),
  /** Groups with held removals that no operator has approved or rejected. */
  HoldsWaiting: level('Count'),
  /** Pending members. */
  PendingMembers: level('Count'),
  /**
   * The time for which backoff or an unauthorised credential has kept the gate closed. A pause of the connection by an
   * operator does not count.
   */
  GateClosedSeconds: level('Seconds'),
  /** 1 while the gate is closed because of an unauthorised credential. */
  CredentialUnauthorized: level('Count'),
  /** The time since the last successful check of the credential, which runs daily. */
  CredentialUncheckedSeconds: level('Seconds'),
  /** 1 if the person who installed the app has left or leaves within 30 days. */
  CredentialHolderLeaving: level('Count'),
  /** Time since the activity feed was last read to its end. */
  FeedCursorAgeSeconds: level('Seconds'),
  /** The time for which events or SCIM requests have been overdue (`sources.expectEvery`). */
  SourceLateSeconds: level('Seconds'),
  /** The time for which a read of the directory has been overdue. */
  ReaderLateSeconds: level('Seconds'),
  /** 1 while the reader has stopped because it lacks a right or too many groups are missing. */
  ReaderStopped: level('Count'),
  /** Groups for which the directory repeatedly lists fewer members than it counts. */
  ReaderShortGroups: level('Count'),

  // Results of feed, sweep and the refresh of people.
  /** Activity events read from the feed, including the events of groupsync's own writes. */
  FeedEventsRead: count(),
  /** Differences on the platform that groupsync did not make; Kind is the kind of drift. */
  DriftFound: count('Kind'),
  /**
   * Members of one group who keep access because the platform refuses to remove them. Each failed attempt sends the
   * metric.
   */
  AccessKept: level('Count'),
  /** Ids in managed groups that belong to no known employee. Each sweep that finds such ids sends the metric. */
  UnknownUsers: level('Count'),
  /** Completed sweeps: one per run, for all connections together. */
  SweepCompleted: count(),
  /**
   * Sweeps that re-created no groups because too many platform groups were missing. Apply also sends the metric for a
   * group that it does not re-create because the platform answers 404 for too many groups.
   */
  SweepHalted: count(),
  /** Employees that completed refreshes of the people index have read. */
  PeopleRefreshed: count(),
} as const;

export type MetricName = keyof typeof METRICS;
