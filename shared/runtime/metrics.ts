import { METRIC_DIMENSION, type MetricName } from '../contract/metrics.ts';
import { METRIC_NAMESPACE } from '../contract/names.ts';

export interface Metrics {
  /** Counts a completed run. */
  count(name: MetricName): void;
}

interface MetricsOptions {
  readonly prefix: string;
  readonly clock: () => number;
  readonly write: (line: string) => void;
}

/**
 * Writes metrics in CloudWatch's embedded metric format. Each value is one log line, and CloudWatch makes a metric of
 * it. Source: Amazon CloudWatch user guide, "Specification: Embedded metric format".
 */
export const createMetrics = ({ prefix, clock, write }: MetricsOptions): Metrics => ({
  count(name) {
    const metric = {
      Namespace: METRIC_NAMESPACE,
      Dimensions: [[METRIC_DIMENSION]],
      Metrics: [{ Name: name, Unit: 'Count' }],
    };
    const directive = { Timestamp: clock(), CloudWatchMetrics: [metric] };
    write(JSON.stringify({ _aws: directive, [METRIC_DIMENSION]: prefix, [name]: 1 }));
  },
});
