import { METRIC_DIMENSIONS, METRICS, type MetricName } from '../contract/metrics.ts';
import { METRIC_NAMESPACE } from '../contract/names.ts';

export interface Metrics {
  /** Emits one value of a metric. `by` is the value of its second dimension: Connection or Kind (see `METRICS`). */
  emit(name: MetricName, value: number, by?: string): void;
}

interface MetricsOptions {
  readonly prefix: string;
  readonly clock: () => number;
  readonly write: (line: string) => void;
}

/**
 * Writes metrics in CloudWatch's embedded metric format. Each value is one log line, and CloudWatch makes a metric of
 * it. Every metric has a dimension set that contains only the prefix, for alarms. A metric with a second dimension also
 * has a set of the prefix and that dimension, for the dashboard and for the alarm about refused SCIM requests. Source:
 * Amazon CloudWatch user guide, "Specification: Embedded metric format".
 */
export function createMetrics({ prefix, clock, write }: MetricsOptions): Metrics {
  return {
    emit(name, value, by) {
      const { unit, by: dimension } = METRICS[name];
      const second = dimension === undefined || by === undefined ? undefined : { [dimension]: by };
      write(
        JSON.stringify({
          _aws: {
            Timestamp: clock(),
            CloudWatchMetrics: [
              {
                Namespace: METRIC_NAMESPACE,
                Dimensions: [
                  [METRIC_DIMENSIONS.prefix],
                  ...(second === undefined ? [] : [[METRIC_DIMENSIONS.prefix, dimension]]),
                ],
                Metrics: [{ Name: name, Unit: unit }],
              },
            ],
          },
          [METRIC_DIMENSIONS.prefix]: prefix,
          ...second,
          [name]: value,
        }),
      );
    },
  };
}
