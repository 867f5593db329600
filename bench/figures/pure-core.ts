import { decodeMessage } from '../../shared/contract/decode.ts';
import type { DirectoryEvent } from '../../shared/domain/event.ts';
import { foldEvents } from '../../shared/domain/fold.ts';
import { memberId, type PlatformUserId, platformUserId } from '../../shared/domain/ids.ts';
import { type DraftInput, draftPlan } from '../../shared/plan/draft.ts';
import { type Figure, growthExponent, PAIRED_RUNS, showSpread, spreadOf, table } from '../figure.ts';
import { createDirectory } from '../memory/directory.ts';

const SIZES = [10, 1_000, 100_000] as const;
/** Numbers of messages with one event each. The numbers are small, because decoding keeps no state between messages. */
const DECODED_SIZES = [10, 100, 1_000] as const;
const NOW_MS = Date.UTC(2026, 0, 5, 8);
/** The maximum number of events or members in one measurement. Calls with a small size are repeated. */
const MEMBERS_PER_MEASUREMENT = 100_000;
const GROUPS = 100;

/** Returns the mean duration of a call, in microseconds. All calls together process about `members` members. */
function timeOf(size: number, call: () => unknown, members: number): number {
  const calls = Math.max(1, Math.round(members / size));
  const startedMs = performance.now();
  for (let n = 0; n < calls; n += 1) call();
  return ((performance.now() - startedMs) / calls) * 1_000;
}

const directory = createDirectory(() => NOW_MS);

const bodies = (size: number): readonly string[] =>
  Array.from({ length: size }, (_, n) => JSON.stringify(directory.added(`d${n % GROUPS}`, n)));

function decode(body: string): readonly DirectoryEvent[] {
  const { events } = decodeMessage({
    body,
    messageId: 'bench',
    sentAtMs: NOW_MS,
    receivedAtMs: NOW_MS,
    knowsConnection: () => true,
    connection: undefined,
    stamp: undefined,
  });
  return events;
}

/** Returns the input of a plan for a group in which one member in ten was replaced by another user. */
function planInput(size: number): DraftInput {
  const user = (n: number): PlatformUserId => platformUserId(`u${n}`);
  const range = Array.from({ length: size }, (_, n) => n);
  return {
    wanted: {
      name: 'Group',
      spokeId: 'd0',
      users: new Map(range.map((n) => [user(n + Math.ceil(size / 10)), memberId(`m${n}`)])),
    },
    current: { name: 'Group', spokeId: 'd0', users: new Map(range.map((n) => [user(n), true])) },
    mode: 'authoritative',
    onGroupDeleted: 'delete',
    whole: false,
    held: new Set(),
    whyNot: new Map(),
  };
}

const LARGEST = Math.max(...SIZES);

const batchesOf = <Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, n) => items.slice(n * size, (n + 1) * size));

/**
 * Returns snapshot events with this number of members in total. 100,000 members exceed the size of one message, so each
 * event has at most 10,000 members.
 */
const snapshotOf = (group: string, size: number): readonly DirectoryEvent[] =>
  batchesOf(
    Array.from({ length: size }, (_, n) => n),
    10_000,
  ).flatMap((members) => decode(JSON.stringify(directory.snapshot(group, [...members]))));

/**
 * Returns a function that calls `call` with the inputs one after the other, and then starts again with the first input.
 * So all sizes read the same amount of data. If one small input were repeated, the processor would read it from its
 * cache.
 */
function inTurn<Input>(inputs: readonly Input[], call: (input: Input) => unknown): () => unknown {
  let next = 0;
  return () => {
    const input = inputs[next % inputs.length] as Input;
    next += 1;
    return call(input);
  };
}

interface Work {
  readonly name: string;
  readonly sizes: readonly number[];
  readonly at: (size: number) => () => unknown;
}

const WORK: readonly Work[] = [
  {
    name: 'decode events',
    sizes: DECODED_SIZES,
    at: (size) => {
      const texts = bodies(size);
      return () => texts.map(decode);
    },
  },
  {
    name: 'fold events',
    sizes: SIZES,
    at: (size) => {
      return inTurn(batchesOf(bodies(LARGEST).flatMap(decode), size), foldEvents);
    },
  },
  {
    name: 'fold one snapshot',
    sizes: SIZES,
    at: (size) => {
      const snapshots = Array.from({ length: LARGEST / size }, (_, n) => snapshotOf(`d${n}`, size));
      return inTurn(snapshots, foldEvents);
    },
  },
  {
    name: 'plan a group',
    sizes: SIZES,
    at: (size) => {
      return inTurn(
        Array.from({ length: LARGEST / size }, () => planInput(size)),
        draftPlan,
      );
    },
  },
];

export const pureCoreFigure: Figure = {
  name: 'pure-core',
  title: 'The pure core is linear',
  async run() {
    const rows = WORK.map(({ name, sizes, at }) => {
      const members = Math.min(MEMBERS_PER_MEASUREMENT, 10 * Math.max(...sizes));
      const calls = sizes.map((size) => [size, at(size)] as const);
      for (const [size, call] of calls) timeOf(size, call, members);
      const runs = Array.from({ length: PAIRED_RUNS }, () =>
        calls.map(([size, call]) => [size, timeOf(size, call, members)] as const),
      );
      const exponent = spreadOf(runs.map(growthExponent));
      const perSecond = sizes.map((size, n) => {
        const { median } = spreadOf(runs.map((run) => (size / (run[n]?.[1] ?? Number.NaN)) * 1_000_000));
        return `${size.toLocaleString('en-GB')}: ${Math.round(median).toLocaleString('en-GB')}`;
      });
      return [name, ...perSecond, showSpread(exponent)];
    });
    return [
      'Each cell shows the size of the batch or group, and the events or members per second on one core. The exponent b comes from',
      'time = a·size^b over the three sizes: 1 is linear, 2 is quadratic. The limit is 1.1.',
      '',
      table(['', 'small', 'middle', 'large', 'exponent'], rows),
    ].join('\n');
  },
};
