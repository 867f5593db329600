import { expect, it } from 'vitest';
import { createMetrics } from '../../shared/runtime/wire.ts';

/** Source: Amazon CloudWatch user guide, "Specification: Embedded metric format". */
it('a metric counts one completed run, and has the prefix as its dimension', () => {
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  createMetrics({ prefix: 'stage', clock: () => 1_700, write }).count('PumpCompleted');
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    {
      _aws: {
        Timestamp: 1_700,
        CloudWatchMetrics: [
          {
            Namespace: 'groupsync',
            Dimensions: [['Prefix']],
            Metrics: [{ Name: 'PumpCompleted', Unit: 'Count' }],
          },
        ],
      },
      Prefix: 'stage',
      PumpCompleted: 1,
    },
  ]);
});
