import { expect, it } from 'vitest';
import { createChain } from '../../bench/memory/chain.ts';

const [MEMBERS, PEOPLE] = [100, 500];

it('during an import that exceeds the limits of the table, each lone change of another company arrives within 5 s', async () => {
  const chain = createChain();
  const { clock, directory } = chain;
  const runFor = (seconds: number) => chain.time.run(clock() + 1_000 * seconds);
  const small = await chain.connect({ name: 'small', people: 50 });
  const large = await chain.connect({ name: 'large', people: PEOPLE });
  chain.begin('people');
  await runFor(60);
  const names = Array.from({ length: 8 }, (_, n) => `d${n}`);
  for (const name of names) chain.send('small', [directory.snapshot(name, [1])]);
  await runFor(120);
  // One worker of ingest uses up to 3,200 write units a second.
  chain.limitTable({ read: 12_000, write: 1_500 });
  const membersOf = (n: number) => Array.from({ length: MEMBERS }, (_, at) => (n * MEMBERS + at) % PEOPLE);
  for (let n = 0; n < 50; n += 1) chain.send('large', [directory.snapshot(`d${n}`, membersOf(n))]);
  const sizeOf = (name: string) =>
    [...small.groups.values()].find((one) => one.spokeId === name)?.users.length;
  const sizesInTime: unknown[] = [];
  for (const name of names) {
    await runFor(1);
    chain.send('small', [directory.added(name, 2)]);
    chain.time.at(clock() + 5_000, () => sizesInTime.push(sizeOf(name)));
  }
  await runFor(30);
  expect(sizesInTime).toEqual(names.map(() => 2));
  expect(chain.totals.take()['dynamodb throttled']).toBeGreaterThan(0);
  expect(large.groups.size).toBe(50);
}, 240_000);
