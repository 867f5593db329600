import { expect, it } from 'vitest';
import { METRICS, type MetricName } from '../../shared/contract/metrics.ts';
import { createMetrics } from '../../shared/runtime/metrics.ts';

function emitted(name: MetricName, value: number, by?: string) {
  const lines: string[] = [];
  const metrics = createMetrics({
    prefix: 'stage',
    clock: () => 1_700,
    write: (line) => void lines.push(line),
  });
  metrics.emit(name, value, by);
  expect(lines).toHaveLength(1);
  return JSON.parse(lines[0] ?? '');
}

/** Source: Amazon CloudWatch user guide, "Specification: Embedded metric format". */
it('a metric has its prefix as a dimension, and its kind as another dimension if it has a kind', () => {
  expect(emitted('PlatformWrites', 2, 'put')).toEqual({
    _aws: {
      Timestamp: 1_700,
      CloudWatchMetrics: [
        {
          Namespace: 'groupsync',
          Dimensions: [['Prefix'], ['Prefix', 'Kind']],
          Metrics: [{ Name: 'PlatformWrites', Unit: 'Count' }],
        },
      ],
    },
    Prefix: 'stage',
    Kind: 'put',
    PlatformWrites: 2,
  });
});

it('a metric with the dimension Connection names the connection', () => {
  expect(emitted('EventsReceived', 7, 'acme')).toMatchObject({ Connection: 'acme', EventsReceived: 7 });
});

it.each(Object.keys(METRICS) as MetricName[])('every dimension of %s has a value in the log line', (name) => {
  for (const by of [undefined, 'x']) {
    const line = emitted(name, 1, by);
    const [directive] = line._aws.CloudWatchMetrics;
    for (const dimension of directive.Dimensions.flat()) expect(line[dimension]).toEqual(expect.any(String));
    expect(directive.Metrics).toEqual([{ Name: name, Unit: METRICS[name].unit }]);
  }
});
