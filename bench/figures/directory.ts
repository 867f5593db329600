import { type Figure, table } from '../figure.ts';
import { type CompanySize, GOOGLE_CALLS } from '../memory/google.ts';
import {
  createReaderRig,
  limitsOfReader,
  MOST_MEMORY_MB,
  type ReaderRig,
  type Reading,
  sumOfReadings,
} from '../memory/reader-rig.ts';
import { seedCompany, settleGroups } from '../memory/seed-company.ts';
import { sumOf } from '../memory/totals.ts';

const SMALL: CompanySize = { users: 1_000, groups: 100, memberships: 10_000 };
const MIDDLE: CompanySize = { users: 10_000, groups: 1_000, memberships: 100_000 };
const LARGE: CompanySize = { users: 100_000, groups: 10_000, memberships: 1_000_000 };

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** The time at the end of a run in which the function finishes the groups that it has begun to read. */
const RESERVE_SECONDS = 120;
/** Queries per minute and user ("Directory API: Limits and quotas"). */
const LIMIT_PER_MINUTE = 2_400;
const MOST_QUIET_CALLS = 3;
const MOST_DOLLARS_OF_A_FULL_READ = 0.05;
const DAYS_PER_MONTH = 365.25 / 12;
const RUNS_PER_DAY = 288;
/** A full read of the small company takes about 7 seconds, so it needs more than one run of this length. */
const SHORT_RUN_SECONDS = 4;

type Readings = Readonly<Partial<Record<ReadingName, Reading>>>;

interface Measured {
  readonly size: CompanySize;
  readonly readings: Readings;
  readonly dollarsPerMonth: number;
}

const READINGS = {
  first: 'first read, sends every group',
  confirming: 'two reads that confirm each other',
  full: 'full read, no change',
  quiet: 'a quiet five minutes',
  listing: 'quiet run with the hourly group list',
  rolling: 'the daily read of every group',
} as const;
type ReadingName = keyof typeof READINGS;

/** Reads a company for the first time, and then as the schedule does for a day without changes. */
async function measure(size: CompanySize, runSeconds: number): Promise<Measured> {
  const rig = await createReaderRig(size, runSeconds);
  const first = note('first', await rig.read());
  await rig.ingestQueued();
  const confirmed = await measureSettled(rig, size);
  await rig.close();
  return { ...confirmed, size, readings: { first, ...confirmed.readings } };
}

/** Measures a company whose groups were copied into the table, because ingest of all of them would take too long. */
async function measureSeeded(size: CompanySize, runSeconds: number): Promise<Measured> {
  const rig = await createReaderRig(size, runSeconds);
  await seedCompany(rig, rig.company);
  const confirmed = await measureSettled(rig, size);
  await rig.close();
  return { ...confirmed, size };
}

/** Measures the reads that confirm a company, then a full read and the reads of a day without changes. */
async function measureSettled(rig: ReaderRig, { groups }: CompanySize) {
  rig.advance(15 * MINUTE_MS);
  const confirming = note('confirming', await readTwice(rig));
  await settleGroups(rig);
  const full = note('full', await rig.read({ isFull: true }));
  const quiet = note('quiet', await rig.read());
  rig.advance(HOUR_MS);
  const listing = note('listing', await rig.read());
  rig.advance(24 * HOUR_MS - (rig.clock() % HOUR_MS));
  const rolling = note('rolling', await rig.read());
  if (rolling.read < groups) throw new Error(`only ${rolling.read} of ${groups} groups were read in a day`);
  const idleRuns = RUNS_PER_DAY - rolling.runs;
  const listings = 23;
  const dollarsPerDay = rolling.dollars + listings * listing.dollars + (idleRuns - listings) * quiet.dollars;
  return {
    readings: { confirming, full, quiet, listing, rolling },
    dollarsPerMonth: dollarsPerDay * DAYS_PER_MONTH,
  };
}

/** Shows a row immediately, because a large company takes long. */
function note(name: ReadingName, reading: Reading): Reading {
  if (name !== 'first' && reading.sent > 0)
    throw new Error(`${reading.sent} groups were sent again without a change`);
  console.error(`${new Date().toISOString()} ${rowOf([name, reading]).join(' | ')}`);
  return reading;
}

/** Reads every group until two reads confirm each other. In a large company, the first groups are due again meanwhile. */
async function readTwice(rig: ReaderRig): Promise<Reading> {
  const first = await rig.read({ isFull: true });
  rig.advance(15 * MINUTE_MS);
  return sumOfReadings([first, await rig.read()]);
}

const callsOf = ({ counts }: Reading): number =>
  GOOGLE_CALLS.reduce((sum, name) => sum + (counts[`google ${name}`] ?? 0), 0);
const apiCallsOf = (reading: Reading): number => callsOf(reading) - (reading.counts['google token'] ?? 0);

/** Returns the goals that a company misses. */
function missedBy(readings: Readings): readonly string[] {
  const { full, quiet } = readings;
  if (full === undefined || quiet === undefined) throw new Error('expected a full read and a quiet run');
  const peakMb = Math.max(...Object.values(readings).map((reading) => reading.peakMb));
  const overLimit = Object.values(readings).reduce(
    (sum, { counts }) => sum + sumOf(counts, 'google over'),
    0,
  );
  const goals: readonly (readonly [isMissed: boolean, text: string])[] = [
    [peakMb > MOST_MEMORY_MB, `expected at most ${MOST_MEMORY_MB} MB, got ${peakMb.toFixed(0)}`],
    [
      apiCallsOf(quiet) > MOST_QUIET_CALLS,
      `expected at most ${MOST_QUIET_CALLS} API calls in a quiet run, got ${apiCallsOf(quiet)}`,
    ],
    [
      full.dollars > MOST_DOLLARS_OF_A_FULL_READ,
      `expected at most $${MOST_DOLLARS_OF_A_FULL_READ} for a full read, got $${full.dollars.toFixed(3)}`,
    ],
    [overLimit > 0, `expected no call over the limit, got ${overLimit}`],
  ];
  return goals.flatMap(([isMissed, text]) => (isMissed ? [text] : []));
}

const HEAD = [
  '',
  'runs',
  ...GOOGLE_CALLS,
  'minutes at the limit',
  'minutes',
  'processor s',
  'memory MB',
  'read units',
  'write units',
  'sent',
  'dollars',
];

function rowOf([name, reading]: [string, Reading]): readonly (string | number)[] {
  const { counts } = reading;
  return [
    READINGS[name as ReadingName],
    reading.runs,
    ...GOOGLE_CALLS.map((call) => counts[`google ${call}`] ?? 0),
    apiCallsOf(reading) / LIMIT_PER_MINUTE,
    reading.seconds / 60,
    reading.processorSeconds,
    reading.peakMb,
    counts['dynamodb read units'] ?? 0,
    counts['dynamodb write units'] ?? 0,
    reading.sent,
    `$${reading.dollars.toFixed(4)}`,
  ];
}

const shown = (size: CompanySize): string => {
  const [users, groups, memberships] = [size.users, size.groups, size.memberships].map((count) =>
    count.toLocaleString('en-GB'),
  );
  return `${users} users, ${groups} groups, ${memberships} memberships`;
};

function sectionOf(measured: Measured): string {
  const { size, readings, dollarsPerMonth } = measured;
  const rows = Object.entries(readings).map(rowOf);
  const month = `A month without changes: **$${dollarsPerMonth.toFixed(2)}**.`;
  return [`**${shown(size)}**`, '', table(HEAD, rows), '', month].join('\n');
}

/** Checks the goals at the small company. The runs are short, so that each read takes several. @returns missed goals */
export async function checkDirectory(): Promise<readonly string[]> {
  const rig = await createReaderRig(SMALL, SHORT_RUN_SECONDS);
  const first = await rig.read();
  await rig.ingestQueued();
  rig.advance(15 * MINUTE_MS);
  await settleGroups(rig);
  const full = await rig.read({ isFull: true });
  const quiet = await rig.read();
  await rig.close();
  const isResumed = first.runs > 1 && full.runs > 1;
  return [
    ...missedBy({ first, full, quiet }),
    ...(isResumed ? [] : [`expected several runs of ${SHORT_RUN_SECONDS} s for each read`]),
    ...(full.sent + quiet.sent === 0 ? [] : ['expected no event without a change']),
  ];
}

export const directoryFigure: Figure = {
  name: 'directory',
  title: 'Reading a directory',
  async run({ full }) {
    const limits = limitsOfReader();
    const runSeconds = limits.seconds - RESERVE_SECONDS;
    const parts: string[] = [];
    for (const size of full ? [LARGE] : [SMALL, MIDDLE]) {
      const measured = await (full ? measureSeeded : measure)(size, runSeconds);
      parts.push(sectionOf(measured), '');
      console.error(parts.slice(-2).join('\n'));
      const missed = missedBy(measured.readings);
      if (missed.length > 0) throw new Error(`${shown(size)}: ${missed.join('; ')}`);
    }
    return [
      "The reader against the project's Google simulator, with full pages and without lag and failures. Each run is a separate",
      `process with a heap limit of about ${MOST_MEMORY_MB} MB. Memory is the peak of the whole process, including the TypeScript loader. Each Google`,
      'call takes the `apiCallSeconds` of `prices.json`, and an AWS request takes a fixed time. Parallel calls overlap. `minutes` is this',
      "simulated time. `minutes at the limit` is the number of API calls divided by 2,400, Google's limit per minute and user. Dollars",
      `cover the AWS requests and the Lambda time with ${limits.memoryGb} GB of memory. Logs and traces are not included. 100,000 users: \`npm run bench -- directory --full\`.`,
      '',
      ...parts,
    ].join('\n');
  },
};
