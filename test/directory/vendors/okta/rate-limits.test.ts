import { expect, it } from 'vitest';
import { groupId } from '../../../../shared/domain/ids.ts';
import { NOW_MS } from '../../../directory-simulator/okta/fixture.ts';
import { allOf } from '../google/reader.ts';
import { openOkta } from './reader.ts';
import { openScripted, self } from './scripted.ts';

const SALES = groupId('00gsales');
const limit = (most: number, remaining: number, resetMs: number) => ({
  link: self,
  'x-rate-limit-limit': String(most),
  'x-rate-limit-remaining': String(remaining),
  'x-rate-limit-reset': String(resetMs / 1_000),
});

it('concurrent reads together use at most half of the limit in a minute', async () => {
  const { directory, requests } = await openOkta({ settings: { queriesPerMinute: 10 } });
  const reads = Array.from({ length: 4 }, async () => {
    for (let read = 0; read < 5; read += 1) await allOf(directory.membersOf(SALES, 'ignore'));
  });
  await Promise.all(reads);
  const lists = (await requests()).filter(({ path }) => path.endsWith('/users'));
  expect(lists).toHaveLength(20);
  expect(lists.filter(({ status }) => status === 429)).toHaveLength(0);
  const minutes = lists.map(({ at }) => at.slice(0, 16));
  for (const one of minutes) {
    expect(minutes.filter((minute) => minute === one).length).toBeLessThanOrEqual(5);
  }
});

const SOON = NOW_MS + 40_000;
const LATER = NOW_MS + 100_000;
const used = [limit(4, 3, SOON), limit(4, 2, SOON), limit(4, 3, LATER), limit(4, 2, LATER)];
const others = Array.from({ length: 30 }, (_, call) => limit(500, 200 - call, SOON));
it.each([
  ['waits for the end of the minute if the reader has already used half of the limit', used, [40_000]],
  ['is not slowed down by another program that uses more than half of the limit', others, []],
  [
    'waits for the end of the minute if only a tenth of the limit remains for all programs',
    [limit(500, 51, SOON), limit(500, 50, SOON), limit(500, 499, LATER)],
    [40_000],
  ],
  [
    'waits for at most 61 seconds, even if the clocks differ',
    [limit(500, 1, NOW_MS + 7_200_000), limit(500, 499, NOW_MS)],
    [61_000],
  ],
])('a call %s', async (_, answers, expected) => {
  const { directory, waits } = openScripted(answers.map((headers) => ({ headers })));
  for (const _call of answers) await allOf(directory.membersOf(SALES, 'ignore'));
  expect(waits).toEqual(expected);
});

it('each operation has a limit of its own', async () => {
  const { directory, waits } = openScripted([
    { headers: limit(500, 0, NOW_MS + 40_000) },
    { headers: limit(500, 499, NOW_MS + 40_000) },
  ]);
  await allOf(directory.membersOf(SALES, 'ignore'));
  await directory.tryUsers();
  expect(waits).toEqual([]);
});

it('the next call after a 429 waits until X-Rate-Limit-Reset', async () => {
  const { directory, clock } = openScripted([
    { status: 429, body: { errorCode: 'E0000047' }, headers: limit(500, 0, NOW_MS + 25_000) },
    { headers: limit(500, 499, NOW_MS + 85_000) },
  ]);
  expect(await allOf(directory.membersOf(SALES, 'ignore'))).toEqual([]);
  expect(clock.ms).toBe(NOW_MS + 26_000);
});

it('repeated answers with 429 give an error of the kind busy', async () => {
  const answer = { status: 429, body: { errorCode: 'E0000047' }, headers: limit(0, 0, NOW_MS) };
  const { directory } = openScripted(Array.from({ length: 10 }, () => answer));
  await expect(allOf(directory.membersOf(SALES, 'ignore'))).rejects.toMatchObject({ kind: 'busy' });
});
