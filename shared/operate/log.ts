import type { LogEntry } from '../contract/answers/explain.ts';
import { DATED, UNKNOWN_INITIATOR } from '../domain/drift.ts';
import { type ConnectionName, type GroupId, groupId, memberId } from '../domain/ids.ts';
import { UNDO_SOURCE } from '../domain/source.ts';
import { compareText } from '../plan/plan.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';
import {
  type AuditActor,
  type AuditCause,
  type DriftRecord,
  entriesIn,
  journalOf,
  type KeptEntry,
} from '../sync/ports/logs.ts';
import { formatPerson } from './names.ts';

/*
 * Reads the entries that `log`, `explain` and `person` show: writes, actions of operators, and external
 * changes on the platform. The records of one group are read directly, and the records of a connection through the
 * index. The newest records are read first. The read ends with enough entries, or after about MAX_LOOKED records of
 * each kind.
 */

export type LogPorts = Pick<ToolPorts, 'audit' | 'drift' | 'groups' | 'users'>;

/** Selects entries. An entry must match each field that is set. */
export interface LogFilter {
  readonly sinceMs?: number | undefined;
  /** The empty id selects only the connection's journal. */
  readonly group?: GroupId | undefined;
  readonly member?: ReadonlySet<string> | undefined;
  /** A part of an id or a name. Case is ignored. */
  readonly actor?: string | undefined;
  /** An action, or its first word: `drift` selects all actions that begin with `drift_`. */
  readonly action?: string | undefined;
  readonly event?: string | undefined;
  readonly limit: number;
}

const MAX_LOOKED = 5_000;

/** Returns the newest matching entries, with the newest entry last. If `complete` is true, no older entry matches. */
export async function readLog(connection: ConnectionName, filter: LogFilter, ports: LogPorts) {
  const { group, sinceMs = 0 } = filter;
  const ref = group === undefined ? undefined : { connection, group };
  const kept = ref ? ports.audit.read(ref) : ports.audit.since(connection, sinceMs);
  const drift = ref ? ports.drift.ofGroup(ref) : ports.drift.since(connection, sinceMs, true);
  const since = new Date(sinceMs).toISOString();
  const [written, others] = await Promise.all([
    newestOf(kept, (entry) => entryOf(connection, entry), filter),
    group === '' ? NONE : newestOf(drift, (record) => driftEntry(connection, record), filter),
  ]);
  const newest = [...written.entries, ...others.entries]
    .filter((entry) => entry.at >= since && fits(entry, filter))
    // The ids begin with the times.
    .sort((a, b) => compareText(a.id, b.id));
  const complete = newest.length <= filter.limit && written.complete && others.complete;
  return { entries: await named(connection, newest.slice(-filter.limit), ports), complete };
}

const NONE = { entries: [] as LogEntry[], complete: true };

async function newestOf<Record extends KeptEntry | DriftRecord>(
  pages: AsyncIterable<readonly Record[]>,
  entryFor: (record: Record) => LogEntry,
  filter: LogFilter,
): Promise<typeof NONE> {
  const entries: LogEntry[] = [];
  let looked = 0;
  for await (const page of pages) {
    entries.push(...page.map(entryFor).filter((entry) => fits(entry, filter)));
    looked += page.length;
    const isPast = page.some((record) => 'atMs' in record && record.atMs < (filter.sinceMs ?? 0));
    // The drift records of a group are ordered by time only if their ids contain the time.
    const isOrdered = page.every((one) => !(filter.group && 'id' in one) || one.id.startsWith(DATED));
    if (isPast) break;
    if ((entries.length > filter.limit && isOrdered) || looked >= MAX_LOOKED)
      return { entries, complete: false };
  }
  return { entries, complete: true };
}

const isAbout = ({ member, before, after }: LogEntry['changes'][number], ids: ReadonlySet<string>): boolean =>
  [member, before, after].some((id) => typeof id === 'string' && ids.has(id));

function fits(entry: LogEntry, { member, actor, action, event }: LogFilter): boolean {
  const actors = [entry, ...entry.changes].map((one) => one.actor);
  const approvers = entry.changes.map(({ approved }) => approved?.by);
  const names = [...actors.flatMap(({ id, name }) => [id, name]), ...approvers];
  return (
    // The records of drift show these changes with their authors.
    entry.action !== 'external_change' &&
    (event === undefined || entry.changes.some((change) => change.event?.id === event)) &&
    (member === undefined || entry.changes.some((change) => isAbout(change, member))) &&
    (actor === undefined || names.some((name) => name?.toLowerCase().includes(actor.toLowerCase()))) &&
    (action === undefined || entry.action === action || entry.action.startsWith(`${action}_`))
  );
}

const EMPTY_ENTRY = {
  group: null,
  groupName: null,
  member: null,
  memberName: null,
  reason: null,
  before: null,
  after: null,
  versionBefore: null,
  versionAfter: null,
  waitedMs: null,
} as const;

function entryOf(connection: ConnectionName, kept: KeptEntry): LogEntry {
  const { atMs, intent, dirtySinceMs, previous: _, link: __, eventMs: ___, ...others } = kept;
  const { actor, causes = [], ...entry } = others;
  const [only] = entry.changes;
  const at = new Date(atMs).toISOString();
  const changes = entry.changes.map(({ cause: number = -1, ...change }) => {
    const { cause, actor: by, approved, eventMs }: AuditCause = causes[number] ?? kept;
    return {
      ...change,
      cause,
      event: eventIn(cause, eventMs),
      actor: shownActor(by),
      approved: approved ?? null,
    };
  });
  return {
    ...EMPTY_ENTRY,
    ...(only &&
      entry.changeCount === 1 && { member: only.member ?? null, before: only.before, after: only.after }),
    ...entry,
    changes,
    id: `${at}#${intent}`,
    at,
    connection,
    actor: shownActor(actor),
    waitedMs: dirtySinceMs === undefined ? null : Math.max(0, atMs - dirtySinceMs),
  };
}

/** The form of `causeBy`. */
const EVENT = /^event (.+) of \S*$/u;

function eventIn(cause: string, eventMs: number | undefined): LogEntry['changes'][number]['event'] {
  const id = EVENT.exec(cause)?.[1];
  if (id === undefined) return null;
  return { id, at: eventMs === undefined ? null : new Date(eventMs).toISOString() };
}

export const shownActor = ({ kind, id, name, arn }: AuditActor): LogEntry['actor'] => ({
  kind,
  id,
  name: name ?? null,
  arn: arn ?? null,
});

function driftEntry(connection: ConnectionName, record: DriftRecord): LogEntry {
  const { kind, before, after, initiator, actor, group, eventIds, settledBy } = record;
  const [from, to] = [listOf(before), listOf(after)];
  const by = shownActor({
    kind: 'platform',
    id: actor?.role ?? initiator,
    ...(actor?.name != null && { name: actor.name }),
  });
  const cause =
    initiator === UNKNOWN_INITIATOR
      ? 'no activity event names the author'
      : `reported by activity event ${eventIds.join(', ')}`;
  const caused = { cause, event: null, actor: by, approved: null };
  const change = { kind, before: null, after: null, reason: 'external change', ...caused };
  const changes = [
    ...from.filter((value) => !to.includes(value)).map((value) => ({ ...change, before: value })),
    ...to.filter((value) => !from.includes(value)).map((value) => ({ ...change, after: value })),
  ];
  const at = new Date(record.detectedAtMs).toISOString();
  return {
    ...EMPTY_ENTRY,
    id: `${at}#${record.id}`,
    at,
    connection,
    actor: by,
    action: `drift_${kind}`,
    group,
    before: from.join(' ') || null,
    after: to.join(' ') || null,
    cause,
    outcome: settledBy ?? 'open',
    changes,
    changeCount: changes.length,
  };
}

function listOf(side: DriftRecord['before']): readonly string[] {
  if (side === null) return [];
  return typeof side === 'string' ? [side] : side;
}

/** Adds names to the shown entries. For a write that reverted drift, also adds the author of the drift. */
async function named(
  connection: ConnectionName,
  entries: readonly LogEntry[],
  { groups, users, drift, audit }: LogPorts,
): Promise<readonly LogEntry[]> {
  const ids = [...new Set(entries.flatMap(({ group }) => group ?? []))] as GroupId[];
  const refs = ids.map((group) => ({ connection, group }));
  const members = [...new Set(entries.flatMap(({ member }) => member ?? []))].map(memberId);
  const undoing = entries.flatMap(({ group, cause, changes }) =>
    [cause, ...changes.map((change) => change.cause)].flatMap((text) =>
      group !== null && text.startsWith(DRIFT) ? [[text, groupId(group)] as const] : [],
    ),
  );
  const withAuthor = async ([text, group]: (typeof undoing)[number]) => {
    const records = await drift.read({ connection, group }, text.slice(DRIFT.length).split(', '));
    const authors = records.map(
      ({ kind, actor, initiator }) => `${kind} by ${actor?.name ?? actor?.role ?? initiator}`,
    );
    return [text, [text, ...authors].join('; ')] as const;
  };
  const changes = entries.flatMap((entry) => entry.changes);
  const [states, known, undone, reasons] = await Promise.all([
    groups.readMany(refs, () => {}),
    users.read(connection, members),
    Promise.all([...new Map(undoing)].map(withAuthor)),
    readUndoReasons(connection, changes, audit),
  ]);
  const nameOf = new Map(states.map(({ ref, registers }) => [String(ref.group), registers.name?.value]));
  const texts = new Map(undone);
  const caused = <One extends { readonly cause: string }>(one: One): One => ({
    ...one,
    cause: texts.get(one.cause) ?? one.cause,
  });
  return entries.map((entry) => ({
    ...caused(entry),
    changes: entry.changes.map((change) => ({ ...caused(change), reason: reasons(change) })),
    groupName: nameOf.get(entry.group ?? '') ?? null,
    memberName: formatPerson(known.get(memberId(entry.member ?? ''))?.attributes ?? new Map()) ?? null,
  }));
}

/** An event of an undo. The number after the id of the undo is the number of the message. */
const OF_UNDO = new RegExp(`^event (.+?)(?:\\.\\d+)? of ${UNDO_SOURCE}$`, 'u');

type Reasoned = Pick<LogEntry['changes'][number], 'kind' | 'cause' | 'reason'>;

/** Returns a function that returns the reason of a change. For an undo, it contains the reason that the operator gave. */
export async function readUndoReasons(
  connection: ConnectionName,
  changes: readonly Reasoned[],
  audit: Pick<LogPorts['audit'], 'actions'>,
) {
  const undoOf = ({ cause }: Reasoned) => OF_UNDO.exec(cause)?.[1];
  const wanted = new Set(changes.flatMap((change) => undoOf(change) ?? []));
  const given = new Map<string, string>();
  for await (const { step, reason = '' } of wanted.size > 0
    ? entriesIn(audit.actions(journalOf(connection)))
    : []) {
    if (step?.after != null && wanted.delete(step.after)) given.set(step.after, reason);
    if (wanted.size === 0) break;
  }
  return (change: Reasoned): string => {
    const id = undoOf(change);
    if (id === undefined) return change.reason;
    const what = change.kind === 'add_member' ? 'an undo brought them back' : change.reason;
    return [what, given.get(id)].filter(Boolean).join(': ');
  };
}

/** The text with which `originOf` begins the cause of a write that reverts drift. */
const DRIFT = 'drift ';
