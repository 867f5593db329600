import type { ConnectionName } from '../../domain/ids.ts';
import type { Finding, Subject } from '../../domain/notice.ts';
import type { Freshness } from '../../plan/freshness.ts';
import { MOST_NAMES } from '../../plan/notice.ts';
import type { Ports } from '../ports/bundles.ts';
import type { Connection, Health } from '../ports/connections.ts';
import type { GroupIndex, GroupSummary } from '../ports/group-index.ts';
import { failureIn } from '../ports/platform.ts';
import { type SourcesFound, watchSources } from '../sources.ts';

/** The state of one connection for alarms and the dashboard. The state is computed each minute. */
export interface Levels {
  readonly dirtyGroups: number;
  readonly oldestDirtySeconds: number;
  readonly holdsWaiting: number;
  readonly pendingMembers: number;
  /** 0 while the gate is open or an operator paused the connection. */
  readonly gateClosedSeconds: number;
  readonly unauthorized: boolean;
  /** undefined before the feed was first read to its end. */
  readonly feedCursorAgeSeconds?: number;
  /** Time since the credential was last confirmed; undefined before the first successful check. */
  readonly credentialUncheckedSeconds?: number;
  /** The time for which events or SCIM requests have been overdue. The longer time counts. */
  readonly sourceLateSeconds: number;
  /** The time for which a read of the directory has been overdue. */
  readonly readerLateSeconds: number;
  /** Whether the reader has stopped, because a permission or too many groups are missing. */
  readonly readerStopped: boolean;
  /** The number of groups for which the directory repeatedly lists fewer members than it counts. */
  readonly readerShortGroups: number;
  /** The findings that are reported to operators. */
  readonly found: readonly Finding[];
}

/** Shorter closings of the gate are normal and are not reported. */
const CLOSED_FOR_MS = 5 * 60_000;

export async function readLevels(
  { name: connection, settings }: Pick<Connection, 'name' | 'settings'>,
  ports: Pick<Ports, 'index' | 'gates' | 'feed' | 'health' | 'sources' | 'clock'>,
): Promise<Levels> {
  const nowMs = ports.clock();
  const groups = await countGroups(connection, ports.index, nowMs);
  let pendingMembers = 0;
  for await (const page of ports.index.pending(connection)) pendingMembers += page.length;
  const gate = await ports.gates.read(connection);
  const isClosed = gate.state === 'backoff' || gate.state === 'unauthorized';
  const feed = await ports.feed.read(connection);
  const { goodAtMs, lastFailure } = (await ports.health.read(connection)) ?? {};
  const unauthorized = gate.state === 'unauthorized';
  const closedMs = isClosed ? nowMs - (gate.sinceMs ?? nowMs) : 0;
  const hasFailed = lastFailure !== undefined && lastFailure.atMs > (goodAtMs ?? 0);
  const sources = sourceLevels(await watchSources({ name: connection, settings }, ports), nowMs);
  const found: Levels['found'] = [
    ...groups.found,
    ...sources.found,
    { subject: 'gate', count: unauthorized || closedMs >= CLOSED_FOR_MS ? 1 : 0, sinceMs: gate.sinceMs },
    { subject: 'credential', count: hasFailed ? 1 : 0, sinceMs: lastFailure?.atMs },
  ];
  return {
    ...groups,
    ...sources,
    pendingMembers,
    gateClosedSeconds: seconds(closedMs),
    unauthorized,
    found,
    ...(feed === undefined ? {} : { feedCursorAgeSeconds: seconds(nowMs - feed.readAtMs) }),
    ...(goodAtMs === undefined ? {} : { credentialUncheckedSeconds: seconds(nowMs - goodAtMs) }),
  };
}

/** A reader that has stopped is late too. Only the stop is reported then. */
function sourceLevels({ freshness, reader }: SourcesFound, nowMs: number) {
  const { stopped, shortGroups = 0 } = reader;
  const late = freshness.filter(({ lateMs }) => lateMs > 0);
  const sources = late.filter(({ source }) => source !== 'directory');
  const readers = stopped === undefined ? late.filter(({ source }) => source === 'directory') : [];
  const found: readonly Finding[] = [
    { ...lateFinding('source', sources, nowMs), names: sources.map(({ source }) => source) },
    lateFinding('reader', readers, nowMs),
    { subject: 'reader_stopped', count: stopped === undefined ? 0 : 1, sinceMs: stopped?.sinceMs },
    { subject: 'reader_short', count: shortGroups },
  ];
  return {
    sourceLateSeconds: lateSeconds(sources),
    readerLateSeconds: lateSeconds(readers),
    readerStopped: stopped !== undefined,
    readerShortGroups: shortGroups,
    found,
  };
}

const longestMs = (late: readonly Freshness[]): number => Math.max(0, ...late.map(({ lateMs }) => lateMs));

const lateFinding = (subject: Subject, late: readonly Freshness[], nowMs: number): Finding => ({
  subject,
  count: late.length,
  sinceMs: nowMs - longestMs(late),
});

const lateSeconds = (late: readonly Freshness[]): number => Math.ceil(longestMs(late) / 1_000);

async function countGroups(connection: ConnectionName, index: GroupIndex, nowMs: number) {
  let dirtyGroups = 0;
  let oldestDirtySeconds = 0;
  const held: GroupSummary[] = [];
  const failed: GroupSummary[] = [];
  for await (const page of index.all(connection, 'unsettled')) {
    for (const summary of page) {
      const { dirtySinceMs, holdUndecided, failedAtMs } = summary;
      if (holdUndecided) held.push(summary);
      if (failedAtMs !== undefined) failed.push(summary);
      if (dirtySinceMs === undefined) continue;
      dirtyGroups += 1;
      oldestDirtySeconds = Math.max(oldestDirtySeconds, seconds(nowMs - dirtySinceMs));
    }
  }
  const found: readonly Finding[] = [
    { subject: 'hold', count: held.length, names: namesOf(held) },
    { subject: 'failed', count: failed.length, names: namesOf(failed) },
  ];
  return { dirtyGroups, oldestDirtySeconds, holdsWaiting: held.length, found };
}

const namesOf = (groups: readonly GroupSummary[]): readonly string[] =>
  groups.slice(0, MOST_NAMES).map(({ ref, name }) => name ?? ref.group);

const seconds = (ms: number): number => Math.max(0, Math.round(ms / 1_000));

export type HealthPorts = Pick<Ports, 'platforms' | 'health' | 'clock'>;

/**
 * Uses the credential once a day (`/me`), because unused customer API keys expire. A company without changes also learns
 * of a revoked credential before the first change needs it.
 */
export async function checkHealth(connection: Connection, ports: HealthPorts): Promise<Health> {
  const known = await ports.health.read(connection.name);
  const failure = await failureIn(async () => {
    const found = await (await ports.platforms.open(connection)).probe();
    if (found !== undefined) throw found;
  });
  const nowMs = ports.clock();
  const health: Health =
    failure === undefined
      ? { ...known, checkedAtMs: nowMs, goodAtMs: nowMs }
      : { ...known, checkedAtMs: nowMs, lastFailure: { atMs: nowMs, message: failure.message } };
  await ports.health.write(connection.name, health);
  return health;
}
