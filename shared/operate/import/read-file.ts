import { addressForm } from '../../contract/address.ts';
import type { LineError } from '../../contract/answers/files.ts';
import { type KnownGroup, type KnownNames, withOneSpelling } from '../../directory/operate/import.ts';
import { mapConcurrently, READS_IN_FLIGHT } from '../../sync/tuning.ts';
import { createErrors } from '../events.ts';
import { plural } from '../names.ts';
import { ACTIVE, type ColumnValue, type StateRule } from './account-state.ts';
import type { HeaderOptions, Headings, Layout } from './columns.ts';
import { type FileKind, identify, OTHER_GROUP, type RefusedLine } from './identify.ts';
import type { RowSort } from './row-sort.ts';
import { type CsvRecord, isAddress, type ReadRow, type Row, readLayout, readRow } from './rows.ts';

export interface FileReading {
  readonly columns?: Headings | undefined;
  /** What the file lists: all members (the default), or members to add or to remove. */
  readonly kind?: FileKind | undefined;
  /** The group of every row, if the file has no column for the group. Otherwise only rows of this group are read. */
  readonly group?: KnownGroup | undefined;
  readonly directory: KnownNames;
  readonly stateRules?: readonly StateRule[] | undefined;
  readonly attributes?: readonly string[] | undefined;
  /** Throws an error about states of accounts that import does not know. */
  readonly refuseStates: (unknown: readonly UnknownState[]) => never;
}

interface CountedState extends ColumnValue {
  rows: number;
}

/** A value that import does not know. `line` is the first line with this value. */
export interface UnknownState extends CountedState {
  readonly line: number;
}

type NamedGroup = Pick<Row, 'name' | 'line'>;

export type ReadFile = Awaited<ReturnType<typeof readAll>>;

/** The number of rows whose groups and members are looked up together. */
const CHUNK = 100;

export async function readAll(
  records: AsyncIterable<CsvRecord>,
  rowSort: RowSort,
  reading: FileReading,
  today: string,
) {
  const { kind = 'snapshot', columns: headings, group: given, stateRules = [] } = reading;
  const collected = createCollected(rowSort, kind);
  const first = await readFirstRecord(records, {
    headings,
    stateRules: kind === 'remove' ? null : stateRules,
    hasGroup: given !== undefined,
    attributes: reading.attributes ?? [],
  });
  if ('message' in first) {
    // Without a layout, no further line can be read.
    collected.addError(first.line, first.message);
    return { ...collected.found(), ignoredColumns: [] };
  }
  const { layout, rest } = first;
  for await (const read of identifiedRows(rest, layout, reading, today)) collected.add(read);
  if (collected.unknown.size > 0 && collected.found().errorCount === 0)
    reading.refuseStates([...collected.unknown.values()]);
  const found = collected.found();
  const lack = found.errorCount > 0 ? undefined : lackOf(found, layout, given);
  if (lack !== undefined) collected.addError(lack.line, lack.message);
  return { ...collected.found(), ignoredColumns: layout.ignored };
}

export function takeRows(rows: readonly Row[], rowSort: RowSort): ReadFile {
  const collected = createCollected(rowSort, 'snapshot');
  for (const row of rows) collected.add({ ...row, isPerson: true, account: ACTIVE });
  return { ...collected.found(), ignoredColumns: [] };
}

type Collected = ReturnType<typeof createCollected>;

function createCollected(rowSort: RowSort, kind: FileKind) {
  const errors = createErrors();
  const refusals = createErrors();
  const groups = new Map<string, NamedGroup>();
  const switchedOff = new Map<string, CountedState>();
  const counts = { rows: 0, noPeople: 0, otherGroups: 0 };
  const unknown = new Map<string, UnknownState>();
  const spelled = oneSpelling();
  const count = ({ isPerson, account }: ReadRow) => {
    if (account.off !== undefined) countState(account.off, switchedOff, (state) => state);
    else counts[isPerson ? 'rows' : 'noPeople'] += 1;
  };
  const store = (row: ReadRow) => {
    const problem = noted(row, groups);
    if (problem === undefined) rowSort.add(row);
    else errors.add(row.line, problem);
  };
  const addRow = (row: ReadRow) => {
    count(row);
    // A row without a member only means something in a snapshot.
    if (row.member !== '' || kind === 'snapshot') store(row);
  };
  const refuse = ({ refused, kept }: RefusedLine) => {
    refusals.add(refused.line, refused.message);
    // Without these rows, a snapshot would remove the members.
    if (kind === 'snapshot') for (const row of kept) store(row);
  };
  const noteUnknown = ({ account, line }: ReadRow) => {
    for (const one of account.unknown) countState(one, unknown, (state) => ({ ...state, line }));
  };
  return {
    unknown,
    addError: errors.add,
    add(read: ReadRow | LineError | RefusedLine | typeof OTHER_GROUP): void {
      if (read === OTHER_GROUP) counts.otherGroups += 1;
      else if ('refused' in read) refuse(read);
      else if ('message' in read) errors.add(read.line, read.message);
      else if (read.account.unknown.length > 0) noteUnknown(read);
      else addRow(spelled(read));
    },
    found: () => {
      const { errors: refused, errorCount: refusedCount } = refusals.result();
      const off = [...switchedOff.values()];
      return { ...errors.result(), groups, ...counts, switchedOff: off, refused, refusedCount };
    },
  };
}

export const countedStates = (states: readonly CountedState[]): string =>
  states.map(({ column, value, rows }) => `${column} "${value}": ${plural(rows, 'row')}`).join(', ');

function countState<Counted extends CountedState>(
  { column, value }: ColumnValue,
  counted: Map<string, Counted>,
  create: (state: CountedState) => Counted,
): void {
  const key = JSON.stringify([column, value.toLowerCase()]);
  const known = counted.get(key) ?? create({ column, value, rows: 0 });
  known.rows += 1;
  counted.set(key, known);
}

const atTop = (message: string): LineError => ({ line: 1, message });

/** Returns why a file without invalid lines cannot be imported; undefined if it can be imported. */
function lackOf(
  { rows, noPeople, otherGroups, switchedOff, refused }: ReturnType<Collected['found']>,
  { hasHeader }: Layout,
  given: KnownGroup | undefined,
): LineError | undefined {
  if (rows > 0) return undefined;
  const [firstRefused] = refused;
  if (firstRefused !== undefined) return firstRefused;
  // A snapshot from such a file would remove all members of each of its groups.
  if (switchedOff.length > 0)
    return atTop(
      `expected rows of people, got only rows of accounts that are switched off (${countedStates(switchedOff)})`,
    );
  if (noPeople > 0)
    return atTop(`expected rows of people, got ${plural(noPeople, 'row')} about groups or devices only`);
  if (otherGroups > 0)
    return atTop(
      `expected rows of the group ${given?.name}, got ${plural(otherGroups, 'row')} of other groups`,
    );
  return atTop(`expected rows of members, got ${hasHeader ? 'only a header' : 'an empty file'}`);
}

/** Yields the rows in the order of the file, with the ids of their groups and members, or the errors of their lines. */
async function* identifiedRows(
  records: AsyncIterable<CsvRecord>,
  layout: Layout,
  { directory, group: given, kind = 'snapshot' }: FileReading,
  today: string,
): AsyncGenerator<ReadRow | LineError | RefusedLine | typeof OTHER_GROUP> {
  const spelling = withOneSpelling(directory, given);
  for await (const chunk of inChunks(records)) {
    yield* await mapConcurrently(READS_IN_FLIGHT, chunk, async (record) => {
      const row = readRow(record, layout, today);
      return 'message' in row ? row : identify(row, layout, { directory: spelling, given, kind });
    });
  }
}

/** Returns a function that replaces an address (used as a member id) by its first spelling in the file. */
function oneSpelling() {
  const first = new Map<string, string>();
  return (row: ReadRow): ReadRow => {
    const { member, email } = row;
    if (member !== email || !isAddress(member)) return row;
    const form = addressForm(member);
    const spelling = first.get(form) ?? member;
    first.set(form, spelling);
    return { ...row, member: spelling, email: spelling };
  };
}

/** Adds the group of a row. @returns an error if the row has another name for the group */
function noted(row: ReadRow, groups: Map<string, NamedGroup>): string | undefined {
  const known = groups.get(row.group) ?? row;
  if (known.name !== row.name)
    return `expected the same group name as in line ${known.line} for the same group id, got another name`;
  groups.set(row.group, known);
  return undefined;
}

async function readFirstRecord(records: AsyncIterable<CsvRecord>, options: HeaderOptions) {
  const all = records[Symbol.asyncIterator]();
  const { value: first, done } = await all.next();
  if (done === true) return { line: 1, message: 'expected rows of members, got an empty file' };
  const layout = readLayout(first, options);
  if ('message' in layout) return layout;
  const rest = (async function* () {
    if (!layout.hasHeader) yield first;
    yield* { [Symbol.asyncIterator]: () => all };
  })();
  return { layout, rest };
}

async function* inChunks(records: AsyncIterable<CsvRecord>): AsyncGenerator<readonly CsvRecord[]> {
  let chunk: CsvRecord[] = [];
  for await (const record of records) {
    chunk.push(record);
    if (chunk.length < CHUNK) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}
