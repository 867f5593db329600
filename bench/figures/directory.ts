import { DIRECTORY_KINDS, type DirectoryKind } from '../../shared/contract/directory-settings.ts';
import { type Figure, table } from '../figure.ts';
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
import { type CompanySize, callNamesOf, VENDORS } from '../memory/vendors.ts';
import { runAlone } from '../run-alone.ts';

const SMALL: CompanySize = { users: 1_000, groups: 100, memberships: 10_000 };
const MIDDLE: CompanySize = { users: 10_000, groups: 1_000, memberships: 100_000 };
const LARGE: CompanySize = { users: 100_000, groups: 10_000, memberships: 1_000_000 };

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** The time at the end of a run in which the function only completes the groups that it is reading. */
const RESERVE_SECONDS = 120;
const DAYS_PER_MONTH = 365.25 / 12;
const RUNS_PER_DAY = 288;
/** A full read of the small company takes about four seconds, so it needs several runs of this length. */
const SHORT_RUN_SECONDS = 2;

type Readings = Readonly<Partial<Record<ReadingName, Reading>>>;

interface Measured {
  readonly kind: DirectoryKind;
  readonly size: CompanySize;
  readonly readings: Readings;
  readonly dollarsPerMonth: number;
}

const READINGS = {
  first: 'first read, sends every group',
  confirming: 'two reads that confirm each other',
  full: 'full read, no change',
  quiet: 'a run without changes',
  listing: 'a run without changes that lists the groups',
  rolling: 'the daily read of every group',
} as const;
type ReadingName = keyof typeof READINGS;

interface Measuring {
  readonly kind: DirectoryKind;
  readonly size: CompanySize;
  /** The time after which a run does not start to read another group. */
  readonly runSeconds: number;
}

/** Measures the first read of a company, and the scheduled reads of one day without changes. */
async function measure({ kind, size, runSeconds }: Measuring): Promise<Measured> {
  const rig = await createReaderRig(kind, size, runSeconds);
  const first = note(rig, 'first', await rig.read());
  await rig.ingestQueued();
  const confirmed = await measureSettled(rig, size);
  await rig.close();
  return { ...confirmed, kind, size, readings: { first, ...confirmed.readings } };
}

/** Measures a company whose groups are copied into the table, because ingest of all groups would take too long. */
async function measureSeeded({ kind, size, runSeconds }: Measuring): Promise<Measured> {
  const rig = await createReaderRig(kind, size, runSeconds);
  await seedCompany(rig, rig.company);
  const confirmed = await measureSettled(rig, size);
  await rig.close();
  return { ...confirmed, kind, size };
}

/** Measures the two reads that confirm each other, a full read, and the reads of one day without changes. */
async function measureSettled(rig: ReaderRig, { groups }: CompanySize) {
  rig.advance(15 * MINUTE_MS);
  const confirming = note(rig, 'confirming', await readTwice(rig));
  await settleGroups(rig);
  const full = note(rig, 'full', await rig.read({ isFull: true }));
  const quiet = note(rig, 'quiet', await rig.read());
  rig.advance(HOUR_MS);
  const listing = note(rig, 'listing', await rig.read());
  rig.advance(24 * HOUR_MS - (rig.clock() % HOUR_MS));
  const rolling = note(rig, 'rolling', await rig.read());
  if (rolling.read < groups) throw new Error(`only ${rolling.read} of ${groups} groups were read in a day`);
  const idleRuns = RUNS_PER_DAY - rolling.runs;
  const listings = 23;
  const dollarsPerDay = rolling.dollars + listings * listing.dollars + (idleRuns - listings) * quiet.dollars;
  return {
    readings: { confirming, full, quiet, listing, rolling },
    dollarsPerMonth: dollarsPerDay * DAYS_PER_MONTH,
  };
}

/** Prints each row immediately, because the measurement of a large company takes a long time. */
function note({ kind }: ReaderRig, name: ReadingName, reading: Reading): Reading {
  if (name !== 'first' && reading.sent > 0)
    throw new Error(`${reading.sent} groups were sent again without a change`);
  console.error(`${new Date().toISOString()} ${kind} ${rowOf(kind, name, reading).join(' | ')}`);
  return reading;
}

/** Reads every group until two reads confirm each other. In a large company, some groups are read more often. */
async function readTwice(rig: ReaderRig): Promise<Reading> {
  const first = await rig.read({ isFull: true });
  rig.advance(15 * MINUTE_MS);
  return sumOfReadings([first, await rig.read()]);
}

const apiCallsOf = (kind: DirectoryKind, { counts }: Reading): number =>
  callNamesOf(kind).reduce(
    (sum, name) => sum + (name === 'token' ? 0 : (counts[`directory ${name}`] ?? 0)),
    0,
  );

/** Returns a sentence for each goal that the measurements of a company miss. */
function missedBy(kind: DirectoryKind, readings: Readings): readonly string[] {
  const { full, quiet } = readings;
  if (full === undefined || quiet === undefined) throw new Error('expected a full read and a quiet run');
  const { mostQuietCalls, mostDollars } = VENDORS[kind];
  const quietCalls = apiCallsOf(kind, quiet);
  const peakMb = Math.max(...Object.values(readings).map((reading) => reading.peakMb));
  const overLimit = Object.values(readings).reduce(
    (sum, { counts }) => sum + sumOf(counts, 'directory over'),
    0,
  );
  const goals: readonly (readonly [isMissed: boolean, text: string])[] = [
    [peakMb > MOST_MEMORY_MB, `expected at most ${MOST_MEMORY_MB} MB, got ${peakMb.toFixed(0)}`],
    [
      quietCalls > mostQuietCalls,
      `expected at most ${mostQuietCalls} API calls in a quiet run, got ${quietCalls}`,
    ],
    [
      full.dollars > mostDollars,
      `expected at most $${mostDollars} for a full read, got $${full.dollars.toFixed(3)}`,
    ],
    [overLimit > 0, `expected no call over the limit, got ${overLimit}`],
  ];
  return goals.flatMap(([isMissed, text]) => (isMissed ? [`${kind}: ${text}`] : []));
}

const headOf = (kind: DirectoryKind) => [
  '',
  'runs',
  ...callNamesOf(kind),
  'minutes at the limit',
  'minutes',
  'processor s',
  'memory MB',
  'read units',
  'write units',
  'sent',
  'dollars',
];

function rowOf(kind: DirectoryKind, name: ReadingName, reading: Reading): readonly (string | number)[] {
  const { counts } = reading;
  return [
    READINGS[name],
    reading.runs,
    ...callNamesOf(kind).map((call) => counts[`directory ${call}`] ?? 0),
    apiCallsOf(kind, reading) / VENDORS[kind].callsPerMinute,
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
  const { kind, size, readings, dollarsPerMonth } = measured;
  const named = Object.entries(readings) as readonly [ReadingName, Reading][];
  const rows = named.map(([name, reading]) => rowOf(kind, name, reading));
  const month = `A month without changes: **$${dollarsPerMonth.toFixed(2)}**.`;
  return [`**${kind}: ${shown(size)}**`, '', table(headOf(kind), rows), '', month].join('\n');
}

/** Checks the goals of each vendor with the small company. @returns a sentence for each missed goal */
export async function checkDirectory(): Promise<readonly string[]> {
  const missed: string[] = [];
  for (const kind of DIRECTORY_KINDS) missed.push(...(await checkVendor(kind)));
  return missed;
}

/** The runs are short, so that each read needs several runs. */
async function checkVendor(kind: DirectoryKind): Promise<readonly string[]> {
  const rig = await createReaderRig(kind, SMALL, SHORT_RUN_SECONDS);
  const first = await rig.read();
  await rig.ingestQueued();
  rig.advance(15 * MINUTE_MS);
  await settleGroups(rig);
  const full = await rig.read({ isFull: true });
  const quiet = await rig.read();
  await rig.close();
  const isResumed = first.runs > 1 && full.runs > 1;
  return [
    ...missedBy(kind, { first, full, quiet }),
    ...(isResumed ? [] : [`${kind}: expected several runs of ${SHORT_RUN_SECONDS} s for each read`]),
    ...(full.sent + quiet.sent === 0 ? [] : [`${kind}: expected no event without a change`]),
  ];
}

/** Measures one vendor in a separate process, because a large company fills the heap. */
async function measureVendorAlone(kind: DirectoryKind, full: boolean): Promise<string> {
  const { code, text } = await runAlone(['directory', '--part', kind, ...(full ? ['--full'] : [])]);
  if (code !== 0) throw new Error(`${kind} was not measured`);
  return text.slice(text.indexOf('**')).trim();
}

function kindOf(part: string): DirectoryKind {
  const kind = DIRECTORY_KINDS.find((one) => one === part);
  if (kind === undefined) throw new Error(`expected --part ${DIRECTORY_KINDS.join(', ')}, got ${part}`);
  return kind;
}

/** @returns one section for each size */
async function measureVendor(kind: DirectoryKind, full: boolean): Promise<readonly string[]> {
  const runSeconds = limitsOfReader().seconds - RESERVE_SECONDS;
  const sections: string[] = [];
  for (const size of full ? [LARGE] : [SMALL, MIDDLE]) {
    const measured = await (full ? measureSeeded : measure)({ kind, size, runSeconds });
    sections.push(sectionOf(measured), '');
    console.error(sections.slice(-2).join('\n'));
    const missed = missedBy(kind, measured.readings);
    if (missed.length > 0) throw new Error(`${shown(size)}: ${missed.join('; ')}`);
  }
  return sections;
}

export const directoryFigure: Figure = {
  name: 'directory',
  title: 'Reading a directory',
  async run({ full, part }) {
    if (part !== undefined) return (await measureVendor(kindOf(part), full)).join('\n');
    const limits = limitsOfReader();
    const parts: string[] = [];
    for (const kind of DIRECTORY_KINDS) parts.push(await measureVendorAlone(kind, full), '');
    return [
      "The reader reads the project's simulators, with full pages and without lag and failures. Each run is a separate",
      `process with a heap limit of about ${MOST_MEMORY_MB} MB. Memory is the peak of the whole process, including the TypeScript loader. Each`,
      'call to a directory takes the simulated time `apiCallSeconds` of `prices.json`, and each AWS request takes a fixed simulated time. Parallel',
      'calls overlap. `minutes` is the simulated time of the run. `minutes at the limit` is the number of API calls divided by the limit per minute:',
      '2,400 for Google, 16,000 for Entra ID, and 250 for Okta. For Okta, this is half of the limit that one client has for the members of groups.',
      `The dollars are the cost of the AWS requests and of the Lambda time with ${limits.memoryGb} GB of memory. Logs and traces are not included.`,
      '`npm run bench -- directory --full` measures 100,000 users instead.',
      '',
      ...parts,
    ].join('\n');
  },
};
