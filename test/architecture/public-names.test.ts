import { beforeAll, expect, it } from 'vitest';
import { frozenNames, joined, type PublicNames, productNames, without } from './public-names/names.ts';

const frozen = frozenNames();
let product: PublicNames;
beforeAll(async () => {
  product = await productNames();
  // The first synthesis of a process loads the CDK, which is slow.
}, 300_000);

it('public-names.json contains exactly the public names of the code', () => {
  const lost =
    'The product has lost public names that scripts rely on. Give them back their names. If a removal is wanted, take the line out of test/architecture/public-names.json by hand and say so in CHANGELOG.md';
  expect(without(frozen, product), lost).toEqual([]);
  const added =
    'The product has public names that are not written down. Run `npm run names:add` and commit test/architecture/public-names.json; from then on they stay';
  expect(without(product, frozen), added).toEqual([]);
});

it('public names are collected from every kind of source', () => {
  const counts = Object.entries(product).map(([what, names]) => [what, names.length > 0]);
  expect(counts.filter(([, hasSome]) => !hasSome)).toEqual([]);
  expect(product['settings of a connection']).toContain('mode = "authoritative"');
  expect(product['/_simulator']).toContain('POST /_simulator/faults takes: retryAfter');
  expect(product['stack outputs']).toContain('EventsQueueUrl');
});

it('names:add only adds public names and never removes them', () => {
  const [before, now] = [
    { a: ['x'], b: ['y'] },
    { a: ['z'], c: ['w'] },
  ];
  expect(joined(before, now)).toEqual({ a: ['x', 'z'], b: ['y'], c: ['w'] });
  expect(without(before, now)).toEqual(['a: x', 'b: y']);
  expect(without(now, before)).toEqual(['a: z', 'c: w']);
});
