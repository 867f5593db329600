import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { seededRandom } from '../../local/platform/seeded-random.ts';
import { DEFAULT_CONNECTION } from '../../shared/contract/names.ts';
import { type RawEvent, readDirectory } from '../support/reading.ts';
import { expectedGroups, platformGroups, reportedGroups } from './support/expected.ts';
import { plotMischief } from './support/mischief.ts';
import { startTestStack } from './support/stack.ts';
import { companyOf, jumbled, storyOf } from './support/story.ts';

/** Lives that the stack is put through, one after the other; GROUPSYNC_TEST_SEEDS asks for more, or names them. */
const DEFAULT_SEEDS = 'fault-3,fault-5';
const asked = process.env['GROUPSYNC_TEST_SEEDS'] ?? DEFAULT_SEEDS;
const SEEDS = /^\d+$/.test(asked)
  ? Array.from({ length: Number(asked) }, (_, n) => `fault-${n}`)
  : asked.split(',');

const PEOPLE = 40;
const GROUPS = 6;
const CHANGES = 120;
/** Parts that the story arrives in, and how much breaks before each. */
const PARTS = 8;
const ACTS = 3;
/** The gate closes for a second or two where the platform says that it is busy or down. */
const LONGEST_LULL_MS = 3_000;
/** What is still dirty then waits, most likely; to speak again of what only takes its time does no harm. */
const LONGEST_UNASKED_MS = 12_000;
const TIMEOUT_MS = 200_000;
/** Rounds of the feed and the sweep until they find nothing more that somebody else did. */
const MOST_ROUNDS = 8;

let stack: Awaited<ReturnType<typeof startTestStack>>;
beforeAll(async () => {
  stack = await startTestStack({ world: companyOf(PEOPLE), coalesceSeconds: 0 });
});
afterAll(() => stack.stop());

const told: RawEvent[] = [];

/** Answers that were lost, and statuses of refusals: what the engine met in all lives. */
const met = new Set<string>();

it.each(SEEDS)(
  'ends where the directory is after lost answers, refusals and other writers (seed %s)',
  async (seed) => {
    const random = seededRandom(seed);
    const story = storyOf({
      seed,
      groups: GROUPS,
      people: PEOPLE + 5,
      changes: CHANGES,
      endMs: Date.now(),
    });
    told.push(...story);
    const mischief = await plotMischief({
      random,
      control: stack.control,
      victims: stack.platformState,
      linked: async () => {
        const groups = await stack.parts.readGroups(DEFAULT_CONNECTION);
        return new Set(groups.flatMap(({ platformId }) => platformId ?? []));
      },
    });
    for (const part of partsOf(jumbled(story, seed))) {
      for (let acts = 0; acts < ACTS; acts += 1) await mischief.act();
      const { next } = await stack.requests();
      await stack.send(part.map((event) => JSON.stringify(event)));
      await untilWriting(next);
    }
    await mischief.end();

    const groups = await untilNobodyElseIsLeft();
    for (const { dropped, status } of (await stack.requests()).requests) {
      if (dropped !== undefined || status >= 400) met.add(dropped ?? String(status));
    }
    const expected = expectedGroups(readDirectory(told), companyOf(PEOPLE));
    expect(expected.length).toBeGreaterThan(0);
    expect(reportedGroups(groups)).toEqual(expected);
    const onPlatform = platformGroups(await stack.platformState());
    expect(onPlatform).toEqual(expected.map(({ pending: _, ...group }) => group));
    expect(await stack.deadLetters()).toEqual([]);
  },
  TIMEOUT_MS,
);

it.runIf(asked === DEFAULT_SEEDS)(
  'has met lost answers, a stale version, a busy platform and one that is down',
  () => {
    expect([...met]).toEqual(expect.arrayContaining(['before', 'after', '429', '503']));
    expect([...met].some((status) => ['400', '409', '412', '422'].includes(status))).toBe(true);
  },
);

function partsOf(events: readonly RawEvent[]): readonly (readonly RawEvent[])[] {
  const size = Math.ceil(events.length / PARTS);
  return Array.from({ length: PARTS }, (_, n) => events.slice(n * size, (n + 1) * size));
}

/** Until the engine is in the middle of something, so that what breaks next breaks that; it may be waiting instead. */
async function untilWriting(since: number): Promise<void> {
  const untilMs = Date.now() + LONGEST_LULL_MS;
  while (Date.now() < untilMs) {
    const { requests } = await stack.requests(since);
    if (requests.some(({ method }) => method !== 'GET')) return;
    await wait(20);
  }
}

/** What other writers left is found by the feed, and by comparing all versions, until both have nothing to add. */
async function untilNobodyElseIsLeft() {
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    if (!(await isAtRest())) continue;
    const groups = await stack.converge();
    const { next } = await stack.requests();
    await stack.invoke('reconcile', { task: 'feed' });
    await stack.invoke('reconcile', { task: 'sweep' });
    const isOver = await isAtRest();
    const { requests } = await stack.requests(next);
    if (isOver && requests.every(({ method }) => method === 'GET')) return groups;
  }
  throw new Error(`something was still written after ${MOST_ROUNDS} rounds of feed and sweep`);
}

/** Whom others undid again and again rests for an hour, until the directory has something newer to say: it is said. */
async function isAtRest(): Promise<boolean> {
  const hasEnded = await stack.converge(LONGEST_UNASKED_MS).then(
    () => true,
    () => false,
  );
  if (hasEnded) return true;
  const groups = await stack.parts.readGroups(DEFAULT_CONNECTION);
  const resting = groups.flatMap(({ state, id, name }) =>
    state === 'dirty' && name !== null ? [{ id, name }] : [],
  );
  const events = resting.map(
    (group, n): RawEvent => ({
      specversion: '1.0',
      id: `again-${Date.now()}-${n}`,
      source: 'test',
      type: 'directory.group.upserted',
      time: new Date().toISOString(),
      data: { group },
    }),
  );
  told.push(...events);
  await stack.send(events.map((event) => JSON.stringify(event)));
  return false;
}
