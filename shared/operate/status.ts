import type { GroupStateName, GroupStatus, Waiting } from '../contract/answers/groups.ts';
import type {
  CredentialReport,
  FailingEndpoint,
  SourceReport,
  StatusReport,
} from '../contract/answers/status.ts';
import { QUEUE_KEYS, type QueueKey } from '../contract/names.ts';
import { duration } from '../domain/duration.ts';
import { isFailing } from '../domain/failing-calls.ts';
import type { Gate } from '../domain/gate.ts';
import { holdsOf } from '../domain/hold.ts';
import { type GroupRef, groupId } from '../domain/ids.ts';
import { contactText } from '../plan/holder.ts';
import { whyMoving, whyReleased } from '../plan/release.ts';
import { KEPT_MEMBERS } from '../scim/server/context.ts';
import { openMovesOf, withCurrentOwner } from '../sync/moves.ts';
import type { GroupIndex, ToolPorts } from '../sync/ports/bundles.ts';
import { type Connection, type Health, problemsOf, repairOf } from '../sync/ports/connections.ts';
import type { Deployment } from '../sync/ports/deployment.ts';
import { ANSWER_PREFIX } from '../sync/ports/platform.ts';
import { readSources, type SourcePorts, type SourcesFound } from '../sync/sources.ts';
import { plural, shortened, withId } from './names.ts';
import { type ReportPorts, reportGroup, stateName, summaries } from './report.ts';
import { rowsOf } from './setting-requests.ts';
import { reportTasks } from './tasks.ts';
import { blockRow } from './who.ts';

/** Returns the state of the gate. For a refused credential, also the person who can replace it. */
export const reportGate = (
  { state, reason, untilMs }: Gate,
  health: Health | undefined,
): StatusReport['gate'] => ({
  state,
  until: instant(untilMs),
  reason: reason ?? null,
  contact: state === 'unauthorized' && health?.holder !== undefined ? contactText(health.holder) : null,
});

export function reportCredential(health: Health | undefined, nowMs: number): CredentialReport {
  const { goodAtMs, lastFailure } = health ?? {};
  const isOver = lastFailure === undefined || lastFailure.atMs <= (goodAtMs ?? 0);
  return {
    goodAt: instant(goodAtMs),
    goodAgeMs: goodAtMs === undefined ? null : Math.max(0, nowMs - goodAtMs),
    failure: isOver ? null : { at: new Date(lastFailure.atMs).toISOString(), message: lastFailure.message },
  };
}

export function failingEndpoints({ failingCalls = [] }: Gate, nowMs: number): readonly FailingEndpoint[] {
  const failing = failingCalls.filter((one) => isFailing(one, nowMs));
  return failing.map(({ endpoint, failed, total, sinceMs, lastFailedMs, reason }) => ({
    endpoint,
    failed,
    total,
    share: failed / total,
    since: new Date(sinceMs).toISOString(),
    lastFailureAt: new Date(lastFailedMs).toISOString(),
    reason,
  }));
}

export function formatFailingCalls({ endpoint, failed, total, share, since, reason }: FailingEndpoint) {
  const counts = `${failed} of ${plural(total, 'call')} (${Math.round(share * 100)} %)`;
  return `${endpoint}: ${counts} failed since ${since.slice(0, 19)}Z, the last with ${reason}`;
}

export async function readStatus(found: Connection, ports: ToolPorts): Promise<StatusReport> {
  const { name: connection, observing, settings, blocks = [], invalid } = found;
  const nowMs = ports.clock();
  const [groups, pendingMembers, gate, tasks, queues, health, sources, keptMembers, openMoves] =
    await Promise.all([
      countGroups(connection, ports, nowMs),
      countPending(connection, ports.index),
      ports.gates.read(connection),
      reportTasks(found, ports),
      countMessages(ports.deployment),
      ports.health.read(connection),
      reportSources(found, ports),
      groupsWithKeptMembers(connection, ports),
      readOpenMoves(connection, ports),
    ]);
  return {
    connection,
    gate:
      invalid === undefined
        ? reportGate(gate, health)
        : { state: 'invalid_settings', until: null, reason: problemsOf(invalid), contact: null },
    failingCalls: failingEndpoints(gate, nowMs),
    observing,
    mode: settings.mode,
    credential: reportCredential(health, nowMs),
    pendingMembers,
    ...groups,
    settingRequests: rowsOf(found).length,
    blocked: blocks.map(blockRow),
    tasks,
    sources,
    openMoves,
    keptMembers,
    queues,
  };
}

const MAX_KEPT_SHOWN = 20;

export async function groupsWithKeptMembers(
  connection: GroupRef['connection'],
  { scim, groups }: Pick<ToolPorts, 'scim' | 'groups'>,
): Promise<StatusReport['keptMembers']> {
  const ids = await scim.pointedAt(connection, KEPT_MEMBERS);
  const first = ids.slice(0, MAX_KEPT_SHOWN);
  const found = await scim.read(connection, 'Group', first);
  const rows = found.map(async ({ id, keptMs, state }) => {
    if (keptMs === undefined || state !== 'live') return [];
    const known = await groups.read({ connection, group: groupId(id) });
    return [{ id, name: known?.registers.name?.value ?? null, since: new Date(keptMs).toISOString() }];
  });
  const kept = (await Promise.all(rows)).flat();
  // After a crash, an entry may stay although a request has mentioned the members.
  return { total: ids.length - (first.length - kept.length), groups: kept };
}

export async function readOpenMoves(
  connection: GroupRef['connection'],
  { reader, clock }: Pick<ToolPorts, 'reader' | 'clock'>,
): Promise<string | null> {
  const times = (await openMovesOf(connection, reader)).map(({ openSinceMs = 0 }) => openSinceMs);
  if (times.length === 0) return null;
  return `${plural(times.length, 'group')} to another source, open for ${duration(clock() - Math.min(...times))}`;
}

export function formatKeptMembers({ total, groups }: StatusReport['keptMembers']): string {
  const names = groups.slice(0, 3).map(({ id, name }) => withId(name ?? undefined, id));
  const more = total > names.length ? ` and ${total - names.length} more` : '';
  return `${plural(total, 'group')} kept all members, because a PUT did not mention members: ${names.join(', ')}${more}`;
}

/**
 * Returns for each source of a connection when its last data arrived, and when its next data is expected. For the reader
 * of the directory, also returns the problems of its last run.
 */
export const reportSources = async (
  connection: Pick<Connection, 'name' | 'settings'>,
  ports: SourcePorts,
): Promise<readonly SourceReport[]> => sourceRows(await readSources(connection, ports), ports.clock());

const sourceRows = ({ freshness, reader }: SourcesFound, nowMs: number): readonly SourceReport[] =>
  freshness.map(({ source, receivedMs, everyMs, lateMs }) => {
    const { stopped, shortGroups = 0, flips = [] } = source === 'directory' ? reader : {};
    return {
      source,
      receivedAt: instant(receivedMs),
      receivedAgeMs: receivedMs === undefined ? null : Math.max(0, nowMs - receivedMs),
      expectedEveryMs: everyMs ?? null,
      late: lateMs > 0,
      stopped: stopped ? { since: new Date(stopped.sinceMs).toISOString(), reason: stopped.reason } : null,
      shortGroups,
      flips,
    };
  });

export const needsAttention = ({ late, stopped, shortGroups, flips }: SourceReport): boolean =>
  late || stopped !== null || shortGroups > 0 || flips.length > 0;

/** The stored time of a receipt may be up to a minute too early, so a younger receipt has no shown age. */
const YOUNG_MS = 120_000;

/**
 * Formats the freshness of a source, or the problem of the reader: “last received about 16 min ago, expected every 5 min;
 * late”. The last receipt of a stopped reader is not shown, because later changes of the directory are missing.
 */
export function formatSource(report: SourceReport, durationOf: (ms: number) => string): string {
  const { expectedEveryMs, late, stopped, shortGroups, flips } = report;
  const expected = expectedEveryMs === null ? '' : `, expected every ${durationOf(expectedEveryMs)}`;
  const parts = [`${formatReceipt(report, durationOf)}${expected}`];
  if (stopped !== null) return `stopped since ${stopped.since}: ${stopped.reason}`;
  if (late) parts.push('late');
  if (shortGroups > 0) parts.push(`${plural(shortGroups, 'group')} cannot be read completely`);
  if (flips.length > 0) parts.push(`groups with two alternating lists: ${flips.join('; ')}`);
  return parts.join('; ');
}

function formatReceipt({ source, receivedAgeMs }: SourceReport, durationOf: (ms: number) => string): string {
  if (receivedAgeMs === null) return 'nothing received yet';
  if (receivedAgeMs < YOUNG_MS) return 'received within the last 2 min';
  const except = source === 'events' ? ' (imports and replays do not count)' : '';
  return `last received about ${durationOf(receivedAgeMs)} ago${except}`;
}

export const instant = (ms: number | undefined): string | null =>
  ms === undefined ? null : new Date(ms).toISOString();

async function countGroups(connection: GroupRef['connection'], ports: ReportPorts, nowMs: number) {
  const groups: { [State in GroupStateName]?: number } = {};
  let backlog = 0;
  let holds = 0;
  let excludedMembers = 0;
  let oldestMs: number | null = null;
  for await (const page of summaries(connection, ports)) {
    for (const summary of page) {
      const name = stateName(summary);
      groups[name] = (groups[name] ?? 0) + 1;
      if (summary.holdWaits) holds += 1;
      excludedMembers += summary.excluded ?? 0;
      if (summary.dirtySinceMs === undefined) continue;
      backlog += 1;
      oldestMs = Math.max(oldestMs ?? 0, nowMs - summary.dirtySinceMs);
    }
  }
  return { groups, backlog, oldestUnappliedMs: oldestMs, holds, excludedMembers };
}

async function countPending(connection: GroupRef['connection'], index: Pick<GroupIndex, 'pending'>) {
  let count = 0;
  for await (const page of index.pending(connection)) count += page.length;
  return count;
}

async function countMessages({ queue }: Pick<Deployment, 'queue'>): Promise<StatusReport['queues']> {
  const count = async (key: QueueKey) => {
    const facts = await queue(key);
    return facts === undefined ? null : facts.visible + facts.inFlight + facts.delayed;
  };
  const [events = null, eventsDlq = null, apply = null, applyDlq = null] = await Promise.all(
    QUEUE_KEYS.map(count),
  );
  return { events, eventsDlq, apply, applyDlq };
}

export async function readGroupStatus(
  ref: GroupRef,
  ports: Pick<ReportPorts, 'groups' | 'clock'>,
): Promise<GroupStatus | undefined> {
  const state = await ports.groups.read(ref);
  if (state === undefined) return undefined;
  const { link, intent, lastError, lastWriteAtMs, dirtySinceMs } = state;
  const hold = holdsOf(state)[0];
  return {
    ...(await reportGroup(state, ports)),
    link: link ? { platformId: link.id, version: link.version, openWrite: intent?.action ?? null } : null,
    lastError: lastError
      ? { code: lastError.code, message: lastError.message, at: new Date(lastError.atMs).toISOString() }
      : null,
    lastWriteAt: instant(lastWriteAtMs),
    dirtySince: instant(dirtySinceMs),
    released: state.released ? whyReleased(await withCurrentOwner(state, ports.groups)) : null,
    moving: state.openMove ? whyMoving(state.openMove, ports.clock()) : null,
    hold: hold ? { digest: hold.digest, removes: hold.removes, decision: hold.decision.kind } : null,
  };
}

export const fixForGate = (
  gate: Pick<StatusReport['gate'], 'state'>,
  connection: string,
): string | undefined =>
  ({
    open: undefined,
    paused: 'groupsync resume',
    unauthorized: `groupsync connect ${connection}`,
    backoff: 'groupsync doctor --faults',
    invalid_settings: repairOf(connection),
  })[gate.state];

const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });

/** Formats why a group waits, and until when, in the time zone of this machine. */
export const formatWaiting = ({ until, reason }: Waiting): string =>
  `waiting until ${CLOCK.format(new Date(until))}: ${shortened(reason.split(ANSWER_PREFIX, 1)[0] ?? '')}`;

export function formatGate({ state, reason, until, contact }: StatusReport['gate']): string {
  const why = reason === null ? 'no reason given' : shortened(reason);
  switch (state) {
    case 'open':
      return 'open';
    case 'invalid_settings':
      return `invalid settings: nothing works for this connection (${why})`;
    case 'paused':
      return `paused: nothing is written until an operator resumes (${why})`;
    case 'unauthorized':
      return `unauthorized: the platform does not accept the credential (${why})${contact === null ? '' : `. ${contact}`}`;
    case 'backoff':
      return `backoff: the platform fails (${why})${until === null ? '' : `; next try at ${until.slice(0, 19)}Z`}`;
  }
}
