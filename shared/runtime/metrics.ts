import { METRIC_DIMENSIONS, METRICS, type MetricName } from '../contract/metrics.ts';
import { METRIC_NAMESPACE } from '../contract/names.ts';

export interface Metrics {
  /** Emits a count, a level or a duration. `by` is the connection or the kind, as defined in METRICS. */
  emit(name: MetricName, value: number, by?: string): void;
}

export interface MetricsOptions {
  readonly prefix: string;
  readonly clock: () => number;
  readonly write: (line: string) => void;
}

/**
 * Metrics in CloudWatch's embedded metric format. Each metric is a log line, from which CloudWatch Logs creates the
 * metric. Alarms use the dimension set that contains the prefix alone, which every metric has. The dashboard uses the
 * set of the prefix and the second dimension. A metric without a second dimension has only the first set. Source:
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
