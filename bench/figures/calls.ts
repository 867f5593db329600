import { countAll } from '../budget.ts';
import { type Figure, table } from '../figure.ts';
import { type Counts, sumOf } from '../memory/totals.ts';

const requests = (counts: Counts): number =>
  sumOf(counts, 'dynamodb ') -
  (counts['dynamodb read units'] ?? 0) -
  (counts['dynamodb write units'] ?? 0) -
  (counts['dynamodb writes refused'] ?? 0);

export const callsFigure: Figure = {
  name: 'calls',
  title: 'Calls per scenario',
  async run() {
    const rows = Object.entries(await countAll()).map(([name, counts]) => [
      name,
      requests(counts),
      counts['dynamodb read units'] ?? 0,
      counts['dynamodb write units'] ?? 0,
      counts['sqs SendMessageBatch'] ?? 0,
      sumOf(counts, 'platform'),
    ]);
    return [
      'The production stores, queue and clients run with services in memory. So the counts are exact, and equal on every machine.',
      '`npm run bench -- --check` fails if a count is higher than in `bench/budget.json`. The units are the billed units of DynamoDB,',
      'including the index. Receives and deletes of the event source mappings are not counted.',
      '',
      table(['', 'DynamoDB requests', 'read units', 'write units', 'SQS sends', 'platform calls'], rows),
    ].join('\n');
  },
};
