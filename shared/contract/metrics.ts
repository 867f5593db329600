/*
 * All metrics, written in CloudWatch's embedded metric format (EMF), in the namespace `METRIC_NAMESPACE`. Only an alarm
 * is a reason for a metric: AWS bills each metric for each hour in which it has a value. The logs contain all other
 * numbers.
 */

/** The only dimension, because all stages of an AWS account use the same namespace. */
export const METRIC_DIMENSION = 'Prefix';

/** Each metric counts completed runs of a scheduled job: one per run, for all connections together. */
export const METRICS = ['PumpCompleted', 'SweepCompleted', 'PeopleRefreshed'] as const;
export type MetricName = (typeof METRICS)[number];
