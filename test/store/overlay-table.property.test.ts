import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createOverlayTable } from '../../shared/store/overlay-table.ts';
import {
  all,
  any,
  equal,
  exists,
  greater,
  less,
  missing,
  notEqual,
  type Table,
} from '../../shared/store/table.ts';
import { MemoryTable } from '../../simulate/table.ts';
import { PATIENCE_MS, runs } from '../support/engine/runs.ts';

const key = fc.record({ pk: fc.constantFrom('p', 'q'), sk: fc.constantFrom('A#1', 'A#2', 'B#1') });
const value = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom('a', 'b', '\uffff'));
const leaf = fc.oneof(
  fc.constantFrom(exists('n'), missing('n'), missing('pk')),
  value.map((one) => equal('n', one)),
  value.map((one) => notEqual('n', one)),
  value.map((one) => less('n', one)),
  value.map((one) => greater('n', one)),
);
const condition = fc.option(
  fc.oneof(
    leaf,
    fc.tuple(leaf, leaf).map(([a, b]) => all(a, b)),
    fc.tuple(leaf, leaf).map(([a, b]) => any(a, b)),
  ),
  { nil: undefined },
);
const operation = fc.oneof(
  fc.record({ do: fc.constant('put' as const), key, value, condition }),
  fc.record({ do: fc.constant('update' as const), key, value, condition }),
  fc.record({ do: fc.constant('delete' as const), key, condition }),
);
type Operation = typeof operation extends fc.Arbitrary<infer One> ? One : never;

function perform(table: Table, one: Operation): Promise<unknown> {
  if (one.do === 'delete') return table.delete(one.key, one.condition);
  if (one.do === 'put') return table.put({ ...one.key, n: one.value }, one.condition);
  const change = {
    set: { n: one.value },
    setIfMissing: { first: one.value },
    add: { count: 1 },
    remove: ['gone'],
  };
  return table.update(one.key, change, one.condition);
}

async function everything(table: Table) {
  const found = [];
  for (const partition of ['p', 'q']) {
    for (const prefix of ['A#', 'B#']) {
      for await (const page of table.query({ partition, prefix })) found.push(...page);
    }
    for await (const page of table.query({ partition, newestFirst: true })) found.push(...page);
  }
  const keys = ['p', 'q'].flatMap((pk) => ['A#1', 'A#2', 'B#1'].map((sk) => ({ pk, sk })));
  const many = [...(await table.getMany(keys))].sort((a, b) =>
    `${a.pk}${a.sk}` < `${b.pk}${b.sk}` ? -1 : 1,
  );
  return JSON.parse(
    JSON.stringify([found, many], (_, item) =>
      item !== null && typeof item === 'object' && !Array.isArray(item)
        ? Object.fromEntries(Object.entries(item).sort())
        : item,
    ),
  );
}

describe('an overlay', () => {
  it(
    'shows what the table itself would show after the same writes, and leaves the table as it was',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(operation), fc.array(operation), async (before, after) => {
          const [real, below] = [new MemoryTable(), new MemoryTable()];
          for (const one of before) for (const table of [real, below]) await perform(table, one);
          const untouched = JSON.stringify([...below.items]);
          const overlay = createOverlayTable(below);
          for (const one of after) {
            const expected = JSON.stringify(await perform(real, one));
            expect(JSON.stringify(await perform(overlay, one)).length).toBe(expected.length);
          }
          expect(await everything(overlay)).toEqual(await everything(real));
          expect(JSON.stringify([...below.items])).toBe(untouched);
        }),
        runs(),
      );
    },
    PATIENCE_MS,
  );
});
