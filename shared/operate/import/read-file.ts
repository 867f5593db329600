import { addressForm } from '../../contract/address.ts';
import type { LineError } from '../../contract/answers/files.ts';
import { mapConcurrently } from '../../sync/async-collections.ts';
import { READS_IN_FLIGHT } from '../../sync/tuning.ts';
import { createErrors } from '../events.ts';
import { plural } from '../names.ts';
import type { Headings, Layout } from './columns.ts';
import type { Directory, NamedGroup } from './directory.ts';
import { type FileKind, identify, OTHER_GROUP } from './identify.ts';
import type { RowSort } from './row-sort.ts';
import {
  type CsvRecord,
  isAddress,
  isLayout,
  type LayoutOptions,
  type ReadRow,
  readLayout,
  readRow,
  type Unread,
} from './rows.ts';
import { weightOf } from './snapshots.ts';

export interface Reading {
  readonly columns?: Headings | undefined;
  readonly kind?: FileKind | undefined;
  readonly group?: NamedGroup | undefined;
  readonly directory: Directory;
}

/** A group of the file. `name` is the name in its first line. `weight` is the size of all its members in bytes. */
interface GroupSize {
  readonly name: string;
  readonly line: number;
  weight: number;
}

export type ReadFile = Awaited<ReturnType<typeof readAll>>;

/** The number of rows whose groups and members are looked up together. */
const CHUNK = 100;
/** The number of records that are searched for a header below a title. */
const MAX_TITLE_LINES = 10;

/** Reads every row of a file, with the ids of its group and member, into the row sort. */
export async function readAll(records: AsyncIterable<CsvRecord>, rowSort: RowSort, reading: Reading) {
  const errors = createErrors();
  const groups = new Map<string, GroupSize>();
  const counts = { rows: 0, noPeople: 0, otherGroups: 0 };
  const layoutOptions = { headings: reading.columns, hasGroup: reading.group !== undefined };
  const first = await readFirstRecord(records, layoutOptions);
  if ('message' in first) {
    // Without a layout, no further line can be read.
    errors.add(first.line, first.message);
    return { ...errors.result(), groups, ...counts, ignoredColumns: [], certain: certainOf(first) };
  }
  const { layout, rest } = first;
  const { kind = 'snapshot' } = reading;
  const spelled = oneSpelling();
  const add = async (row: ReadRow) => {
    counts[row.isPerson ? 'rows' : 'noPeople'] += 1;
    if (isSent(row, kind)) await rowSort.add(row);
  };
  for await (const read of identifiedRows(rest, layout, reading)) {
    if (read === OTHER_GROUP) {
      counts.otherGroups += 1;
      continue;
    }
    const row = 'message' in read ? read : noted(spelled(read), groups, kind);
    if ('message' in row) {
      errors.add(row.line, row.message);
      continue;
    }
    await add(row);
  }
  const lack = errors.result().errorCount > 0 ? undefined : lackOf(counts, layout, reading.group);
  if (lack !== undefined) errors.add(1, lack);
  return { ...errors.result(), groups, ...counts, ignoredColumns: layout.ignored, certain: {} };
}

/** Returns why a file without invalid lines cannot be imported; undefined if it can be imported. */
function lackOf(
  { rows, noPeople, otherGroups }: Record<'rows' | 'noPeople' | 'otherGroups', number>,
  { hasHeader }: Layout,
  given: NamedGroup | undefined,
): string | undefined {
  if (rows > 0) return undefined;
  // A snapshot from such a file would remove all members of each of its groups.
  if (noPeople > 0)
    return `expected rows of people, got ${plural(noPeople, 'row')} about groups or devices only`;
  if (otherGroups > 0)
    return `expected rows of the group ${given?.name}, got ${plural(otherGroups, 'row')} of other groups`;
  return `expected rows of members, got ${hasHeader ? 'only a header' : 'an empty file'}`;
}

/** Yields the rows in the order of the file, with the ids of their groups and members, or the errors of their lines. */
async function* identifiedRows(
  records: AsyncIterable<CsvRecord>,
  layout: Layout,
  { directory, group: given, kind = 'snapshot' }: Reading,
): AsyncGenerator<ReadRow | LineError | typeof OTHER_GROUP> {
  for await (const chunk of inChunks(records)) {
    yield* await mapConcurrently(READS_IN_FLIGHT, chunk, async (record) => {
      const row = readRow(record, layout);
      return 'message' in row ? row : identify(row, layout, { directory, given, kind });
    });
  }
}

const certainOf = ({ columns, delimiter, skipLines }: Unreadable) => ({
  ...(columns !== undefined && { columns }),
  ...(delimiter !== undefined && { delimiter }),
  ...(skipLines !== undefined && { skipLines }),
});

type Unreadable = Unread & { readonly skipLines?: number };

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

/** Whether a message contains the row. A row without a member only means something in a snapshot. */
const isSent = ({ member }: ReadRow, kind: FileKind): boolean => member !== '' || kind === 'snapshot';

/** Adds the size of a row to its group. @returns the row, or an error if it has another name for the group */
function noted(row: ReadRow, groups: Map<string, GroupSize>, kind: FileKind): ReadRow | LineError {
  if (!isSent(row, kind)) return row;
  const known = groups.get(row.group) ?? { name: row.name, line: row.line, weight: 0 };
  if (known.name !== row.name) {
    const message = `expected the same group name as in line ${known.line} for the same group id, got another name`;
    return { line: row.line, message };
  }
  groups.set(row.group, known);
  known.weight += weightOf(row);
  return row;
}

async function readFirstRecord(
  records: AsyncIterable<CsvRecord>,
  options: LayoutOptions,
): Promise<{ readonly layout: Layout; readonly rest: AsyncIterable<CsvRecord> } | Unreadable> {
  const all = records[Symbol.asyncIterator]();
  const { value: first, done } = await all.next();
  if (done === true) return { line: 1, message: 'expected rows of members, got an empty file' };
  const layout = readLayout(first, options);
  if ('message' in layout) return layout.isHeader ? layout : withHeaderBelow(layout, first, all, options);
  const rest = (async function* () {
    if (!layout.hasHeader) yield first;
    yield* { [Symbol.asyncIterator]: () => all };
  })();
  return { layout, rest };
}

/** Looks for a header in later lines, because some exports have a title above the header. */
async function withHeaderBelow(
  unread: Unread,
  first: CsvRecord,
  below: AsyncIterator<CsvRecord>,
  options: LayoutOptions,
): Promise<Unreadable> {
  const advise = (how: string) => ({ ...unread, message: `${unread.message}; ${how}` });
  let isWider = false;
  for (let read = 0; read < MAX_TITLE_LINES; read += 1) {
    const { value, done } = await below.next();
    if (done === true || value.problem !== undefined) break;
    const { line, fields } = value;
    if (isLayout(fields, options)) return { ...unread, skipLines: line - 1 };
    if (isLayout(fields, { ...options, hasGroup: true }))
      return advise(
        `line ${line} is a header: --skip-lines ${line - 1}, and --group NAME if all rows are of one group`,
      );
    isWider ||= fields.length > first.fields.length;
  }
  return isWider ? advise('--skip-lines COUNT skips lines above the header') : unread;
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
