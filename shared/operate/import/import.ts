import { createHash } from 'node:crypto';
import type { ImportComparison, ImportReport } from '../../contract/answers/files.ts';
import type { ConnectionName } from '../../domain/ids.ts';
import { IMPORT_SOURCE, UNDO_SOURCE } from '../../domain/source.ts';
import { judgeAge, makeStamp, normaliseInstant, stampTimeMs } from '../../domain/stamp.ts';
import type { ToolPorts } from '../../sync/ports/bundles.ts';
import type { EventSender } from '../../sync/ports/queues.ts';
import { createErrors } from '../events.ts';
import { type JournalPorts, journalOf, recordAction } from '../journal.ts';
import { listed, plural, visible, withId } from '../names.ts';
import type { Comparing } from './compare.ts';
import type { FileKind } from './identify.ts';
import { importRate } from './rate.ts';
import { type FileReading, type ReadFile, readAll, takeRows } from './read-file.ts';
import { createRowSort, type RowSort } from './row-sort.ts';
import type { CsvRecord, Row } from './rows.ts';
import { type Cutting, countMessages, snapshotsOf } from './snapshots.ts';
import { changedMembership, MOST_UNDONE } from './undo.ts';

interface ImportPorts extends JournalPorts, Pick<ToolPorts, 'sleep'> {
  readonly events: EventSender;
}

interface ImportOptions extends FileReading {
  readonly connection: ConnectionName;
  readonly file: string;
  readonly dryRun: boolean;
  /** The time of the file's data (RFC 3339). Directory events after this time take precedence. Default: now. */
  readonly asOf?: string | undefined;
  readonly compare?: (
    rows: readonly Row[],
    comparing: Pick<Comparing, 'asOf' | 'onChange'>,
  ) => Promise<ImportComparison | undefined>;
  readonly reason?: string | undefined;
  /** Called with the plan before the first message is sent. If it returns false, the import ends. */
  readonly confirm: (plan: ImportPlan) => Promise<boolean>;
  /** The memberships that are sent in a second (`importRate`). */
  readonly perSecond?: number;
  readonly onProgress?: ((sent: number, total: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export type ImportPlan = Omit<ImportReport, 'events' | 'errors' | 'errorCount' | 'sent' | 'unsent' | 'stays'>;

const BATCH = 10;

/**
 * Converts a CSV file to events. The file has the columns group id, group name, member id and email, with a header in
 * any order. The events are snapshots, additions or removals, with one or more messages for each group. The rows of a
 * group may be anywhere in the file.
 *
 *     file ──▶ rows checked ──▶ rows sorted ──▶ one group after the other ──▶ parts ──▶ queue
 *
 * Nothing is sent before the whole file has been checked. If any line is invalid, nothing is sent: without this line, a
 * snapshot would remove a member. Before the first message, the audit stores which memberships the import changes
 * (`planUndo`).
 * @param records the records of a file, or the rows of an undo
 */
export async function importCsv(
  records: AsyncIterable<CsvRecord> | readonly Row[],
  ports: ImportPorts,
  options: ImportOptions,
): Promise<ImportReport> {
  const nowMs = ports.clock();
  const asOf = placeInTime(options.asOf, nowMs);
  const rowSort = createRowSort();
  const today = new Date(nowMs).toISOString().slice(0, 10);
  const isFile = Symbol.asyncIterator in records;
  const source = isFile ? IMPORT_SOURCE : UNDO_SOURCE;
  const read = isFile ? await readAll(records, rowSort, options, today) : takeRows(records, rowSort);
  const { digest, ...duplicates } = checkRows(rowSort.sorted(), source, options.kind);
  const { errors, errorCount } = read.errorCount > 0 ? read : duplicates;
  const importId = `${ports.newId()}-${digest}`;
  const changed: string[] = [];
  const onChange = (group: string, member: string, isAdded: boolean) => {
    if (changed.length <= MOST_UNDONE) changed.push(changedMembership(group, member, isAdded));
  };
  const comparison =
    errorCount > 0 ? undefined : await options.compare?.(rowSort.sorted(), { asOf, onChange });
  const cutting = { time: asOf, importId, kind: options.kind ?? 'snapshot', source };
  const isUndoable = comparison !== undefined && changed.length > 0 && changed.length <= MOST_UNDONE;
  const plan = {
    ...planOf(read, options.kind),
    messages: countMessages(rowSort.sorted()),
    ...(comparison !== undefined && { comparison }),
  };
  const inOrder = errors.toSorted((a, b) => a.line - b.line);
  const report = { ...plan, events: plan.messages, errors: inOrder, errorCount, sent: false };
  if (errorCount > 0 || options.dryRun) return report;
  if (!(await options.confirm(plan))) return report;
  const undoable = { ...plan, ...(isUndoable && { importId }) };
  const changes = [auditedChange(undoable, read.groups, options.file)];
  const sinceMs = stampTimeMs(makeStamp({ time: asOf, id: importId, source: '' }));
  const step = isUndoable ? { after: importId, sinceMs, users: changed } : undefined;
  const action = { action: 'import', changes, reason: options.reason, step } as const;
  await recordAction(journalOf(options.connection), action, ports);
  const sent = await sendAll(rowSort, cutting, ports, { ...options, total: plan.messages });
  return { ...report, ...undoable, ...sent, sent: true };
}

const NAMED_GROUPS = 50;

function auditedChange({ rows, kind, importId }: ImportPlan, groups: ReadFile['groups'], file: string) {
  const names = [...groups].map(([id, { name }]) => withId(name, id));
  const after = `${visible(file)}: ${listed(names, NAMED_GROUPS)}`;
  const id = importId === undefined ? '' : `; groupsync import --undo ${importId}`;
  const reason = `${plural(rows, 'row')}${kind === undefined ? '' : ` to ${kind}`}, ${plural(groups.size, 'group')}${id}`;
  return { kind: 'import', before: null, after, reason };
}

/** @throws Error if ingest would refuse all events of this import because of their time */
function placeInTime(asOf: string | undefined, nowMs: number): string {
  const time = asOf ?? new Date(nowMs).toISOString();
  const isTime = normaliseInstant(time) !== undefined;
  const age = isTime ? judgeAge(makeStamp({ time, id: 'import', source: '' }), nowMs) : 'no RFC 3339 time';
  if (age === 'acceptable') return time;
  throw new Error(
    `as of: expected a time at most 400 days ago and at most 5 minutes ahead of this clock, got ${time} (${age}); --as-of is the time at which the file was exported`,
  );
}

const contentOf = ({ email, attributes }: Row): string => JSON.stringify([email, attributes]);

/**
 * Checks that all lines of a member of a group have the same e-mail and attributes.
 * @returns also a digest of the source and the rows, which is in the ids of all imports of these rows (`planUndo`)
 */
function checkRows(rows: readonly Row[], source: string, kind: FileKind = 'snapshot') {
  const errors = createErrors();
  const hash = createHash('sha256').update(source);
  let before: Row | undefined;
  for (const row of rows) {
    hash.update(JSON.stringify([row.kind ?? kind, row.group, row.member]));
    const isSame = before?.group === row.group && before.member === row.member;
    if (isSame && before !== undefined && contentOf(before) !== contentOf(row)) {
      const what = before.email === row.email ? 'attributes' : 'email';
      const message = `expected the same ${what} as in line ${before.line} for the same member, got ${what === 'email' ? 'another email' : 'others'}`;
      errors.add(row.line, message);
    }
    before = row;
  }
  return { ...errors.result(), digest: hash.digest('hex').slice(0, 12) };
}

function planOf(
  { rows, groups, ignoredColumns, noPeople, switchedOff, otherGroups, ...found }: ReadFile,
  kind?: FileKind,
) {
  return {
    rows,
    groups: groups.size,
    ...(ignoredColumns.length > 0 && { ignoredColumns }),
    ...(noPeople > 0 && { noPeople }),
    ...(switchedOff.length > 0 && { switchedOff }),
    ...(found.refusedCount > 0 && { refused: found.refused, refusedCount: found.refusedCount }),
    ...(otherGroups > 0 && { otherGroups }),
    ...(kind !== undefined && kind !== 'snapshot' && { kind }),
  };
}

async function sendAll(
  rowSort: RowSort,
  cutting: Cutting,
  ports: ImportPorts,
  {
    connection,
    onProgress,
    total,
    signal,
    perSecond = importRate(),
  }: ImportOptions & { readonly total: number },
) {
  const startMs = ports.clock();
  let batch: string[] = [];
  let [sent, size] = [0, 0];
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
  for (const part of snapshotsOf(rowSort.sorted(), cutting)) {
    batch.push(part.body);
    if (signal?.aborted) break;
    if (batch.length === BATCH) await flush();
    size += part.size;
    const aheadMs = (size / perSecond) * 1_000 - (ports.clock() - startMs);
    // After an interruption, the next turn of the loop ends the import.
    if (aheadMs > 1_000) await ports.sleep(aheadMs - 1_000, signal).catch(() => {});
  }
  if (batch.length > 0 && !signal?.aborted) await flush();
  return { messages: sent, events: sent, ...(sent < total && { unsent: total - sent }) };
}
