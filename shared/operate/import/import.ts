import type { ImportComparison, ImportReport } from '../../contract/answers.ts';
import type { ConnectionName } from '../../domain/ids.ts';
import { judgeAge, makeStamp, normaliseInstant } from '../../domain/stamp.ts';
import type { EventSender } from '../../sync/ports/queues.ts';
import { createErrors } from '../events.ts';
import { type JournalPorts, journalOf, recordDeed } from '../journal.ts';
import { type CsvRecord, type Headings, type Layout, type Row, readLayout, readRow } from './rows.ts';
import { snapshotsOf, weightOf } from './snapshots.ts';

/** All rows of a file are sorted in memory: about 300 bytes each. */
export const MAX_ROWS = 1_000_000;
const TOO_MANY_ROWS = `expected at most ${MAX_ROWS} rows, got more: import the groups in several files, with all rows of a group in one file`;

export interface ImportPorts extends JournalPorts {
  readonly events: EventSender;
}

export interface ImportOptions {
  readonly connection: ConnectionName;
  readonly dryRun: boolean;
  /** When the file was true (RFC 3339): what the directory has said since stands. Now where undefined. */
  readonly asOf?: string | undefined;
  /** Columns by their headings, where these are not the usual ones. */
  readonly columns?: Headings | undefined;
  /** Holds the rows against what is true now. */
  readonly compare?:
    | ((rows: readonly Row[], asOf: string) => Promise<ImportComparison | undefined>)
    | undefined;
  /** Shown what would be sent before the first message goes; false ends the import. */
  readonly confirm: (plan: ImportPlan) => Promise<boolean>;
  readonly onProgress?: ((sent: number, total: number) => void) | undefined;
  /** Aborted: no further message is sent. */
  readonly signal?: AbortSignal | undefined;
}

export type ImportPlan = Pick<ImportReport, 'rows' | 'groups' | 'messages' | 'ignoredColumns' | 'comparison'>;

/** A group in the file: the name it must have, and the bytes of its members. */
interface GroupSize {
  readonly name: string;
  readonly line: number;
  weight: number;
}

const BATCH = 10;

/**
 * Turns a CSV file (group id, group name, member id, email; with a header, in any order) into snapshots, one or more
 * messages for each group. The rows of a group may stand anywhere in the file.
 *
 *     file ──▶ rows checked ──▶ rows sorted ──▶ one group after the other ──▶ parts ──▶ queue
 *
 * Nothing is sent unless the whole file is right: a snapshot says who is *not* in a group too, so a line that cannot be
 * read would take somebody out.
 */
export async function importCsv(
  records: AsyncIterable<CsvRecord>,
  ports: ImportPorts,
  options: ImportOptions,
): Promise<ImportReport> {
  const asOf = placeInTime(options.asOf, ports.clock());
  const read = await readAll(records, options.columns);
  const { errors, errorCount } = read.errorCount > 0 ? read : findDuplicates(read.rows);
  const comparison = errorCount > 0 ? undefined : await options.compare?.(read.rows, asOf);
  const plan = { ...planOf(read), ...(comparison !== undefined && { comparison }) };
  const inOrder = errors.toSorted((a, b) => a.line - b.line);
  const found = { events: plan.messages, errors: inOrder, errorCount, sent: false };
  const report = { ...plan, ...found, ...(read.example !== undefined && { columns: read.example }) };
  if (errorCount > 0 || options.dryRun) return report;
  if (!(await options.confirm(plan))) return report;
  const { groups, rows } = plan;
  const change = { kind: 'import', before: null, after: `${groups} groups`, reason: `${rows} rows` };
  await recordDeed(journalOf(options.connection), { action: 'import', changes: [change] }, ports);
  const sent = await sendAll(read, ports, { ...options, asOf, total: plan.messages });
  return { ...report, ...sent, sent: true };
}

/** @throws Error where ingest would refuse every event of that time */
function placeInTime(asOf: string | undefined, nowMs: number): string {
  const time = asOf ?? new Date(nowMs).toISOString();
  const isTime = normaliseInstant(time) !== undefined;
  const age = isTime ? judgeAge(makeStamp({ time, id: 'import', source: '' }), nowMs) : 'no RFC 3339 time';
  if (age === 'acceptable') return time;
  throw new Error(
    `as of: expected a time at most 400 days ago and 5 minutes ahead of this clock, got ${time} (${age}); --as-of says when the file was true`,
  );
}

type Read = Awaited<ReturnType<typeof readAll>>;

/** The rows of the file, by group, member and line. */
async function readAll(records: AsyncIterable<CsvRecord>, columns: Headings | undefined) {
  const errors = createErrors();
  const groups = new Map<string, GroupSize>();
  const rows: Row[] = [];
  let layout: Layout | undefined;
  let example: string | undefined;
  for await (const record of records) {
    if (layout === undefined) {
      const first = readLayout(record, columns);
      if ('message' in first) {
        // What the other lines mean is not known without it.
        errors.add(first.line, first.message);
        example = first.columns;
        break;
      }
      layout = first;
      if (first.hasHeader) continue;
    }
    const row = readRow(record, layout);
    if ('message' in row) {
      errors.add(row.line, row.message);
      continue;
    }
    const known = groups.get(row.group) ?? { name: row.name, line: row.line, weight: 0 };
    if (known.name !== row.name) {
      const message = `expected the group name of line ${known.line} for the same group id, got another`;
      errors.add(row.line, message);
      continue;
    }
    if (rows.length === MAX_ROWS) {
      errors.add(row.line, TOO_MANY_ROWS);
      break;
    }
    groups.set(row.group, known);
    known.weight += weightOf(row);
    rows.push(row);
  }
  const got = layout === undefined ? 'an empty file' : 'a header alone';
  if (rows.length === 0 && errors.result().errorCount === 0)
    errors.add(1, `expected rows of members, got ${got}`);
  rows.sort(byGroupAndMember);
  return { ...errors.result(), groups, rows, ignoredColumns: layout?.ignored ?? [], example };
}

function byGroupAndMember(a: Row, b: Row): number {
  if (a.group !== b.group) return a.group < b.group ? -1 : 1;
  if (a.member !== b.member) return a.member < b.member ? -1 : 1;
  return a.line - b.line;
}

/** The same member twice in a group is one member, unless the two lines say different things of them. */
function findDuplicates(rows: readonly Row[]) {
  const errors = createErrors();
  let before: Row | undefined;
  for (const row of rows) {
    const isSame = before?.group === row.group && before.member === row.member;
    if (isSame && before !== undefined && before.email !== row.email) {
      const message = `expected the email of line ${before.line} for the same member, got another`;
      errors.add(row.line, message);
    }
    before = row;
  }
  return errors.result();
}

function planOf({ rows, groups, ignoredColumns }: Read): ImportPlan {
  const messages = [...groups.values()].reduce((sum, { weight }) => sum + snapshotsOf.count(weight), 0);
  return {
    rows: rows.length,
    groups: groups.size,
    messages,
    ...(ignoredColumns.length === 0 ? {} : { ignoredColumns }),
  };
}

async function sendAll(
  { rows, groups }: Read,
  ports: ImportPorts,
  options: ImportOptions & { readonly asOf: string; readonly total: number },
) {
  const { connection, onProgress, asOf: time, total, signal } = options;
  const weights = (group: string) => groups.get(group)?.weight ?? 0;
  const stamped = { time, importId: ports.newId() };
  let batch: string[] = [];
  let sent = 0;
  const flush = async () => {
    const outcomes = await ports.events.send(batch.map((body) => ({ body, connection })));
    const refused = outcomes.find(({ messageId }) => messageId === undefined);
    if (refused !== undefined) {
      throw new Error(`the events queue refused a message after ${sent} of ${total}: ${refused.refused}`);
    }
    sent += batch.length;
    batch = [];
    onProgress?.(sent, total);
  };
  for (const body of snapshotsOf(rows, { weights, ...stamped })) {
    batch.push(body);
    if (signal?.aborted) break;
    if (batch.length === BATCH) await flush();
  }
  if (batch.length > 0 && !signal?.aborted) await flush();
  return { messages: sent, events: sent, ...(sent < total && { unsent: total - sent }) };
}
