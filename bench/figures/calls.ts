import { type Figure, table } from '../figure.ts';
import { type Counts, sumOf } from '../memory/totals.ts';
import { countCalls, SCENARIOS } from './scenarios.ts';

const requests = (counts: Counts): number =>
  sumOf(counts, 'dynamodb ') -
  (counts['dynamodb read units'] ?? 0) -
  (counts['dynamodb write units'] ?? 0) -
  (counts['dynamodb writes refused'] ?? 0);

export const callsFigure: Figure = {
  name: 'calls',
  title: 'Calls by what happens',
  async run() {
    const rows: (string | number)[][] = [];
    for (const scenario of SCENARIOS) {
      const counts = await countCalls(scenario);
      rows.push([
        scenario.name,
        requests(counts),
        counts['dynamodb read units'] ?? 0,
        counts['dynamodb write units'] ?? 0,
        counts['sqs SendMessageBatch'] ?? 0,
        sumOf(counts, 'platform '),
      ]);
    }
    return [
      'Counted with the real stores, queue and clients over in-memory services: exact, the same on every machine, and kept',
      'from growing by `npm run bench -- --check` against `bench/budget.json`. Units as DynamoDB bills them, index',
      'included; SQS without what the event source mappings receive and delete.',
      '',
      table(['', 'DynamoDB requests', 'read units', 'write units', 'SQS sends', 'platform calls'], rows),
    ].join('\n');
  },
};
