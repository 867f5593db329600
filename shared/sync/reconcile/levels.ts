import type { ConnectionName } from '../../domain/ids.ts';
import type { Finding, Subject } from '../../domain/notice.ts';
import type { Freshness } from '../../plan/freshness.ts';
import { contactText, type Holder, leavesSoon } from '../../plan/holder.ts';
import { MOST_NAMES } from '../../plan/notice.ts';
import type { Ports } from '../ports/bundles.ts';
import type { Connection, Health } from '../ports/connections.ts';
import type { GroupIndex, GroupSummary } from '../ports/group-index.ts';
import { failureIn, type Platform, type PlatformFailure } from '../ports/platform.ts';
import { type SourcesFound, watchSources } from '../sources.ts';
import { holderOf } from './holder.ts';

/** The state of one connection for alarms and the dashboard, computed each minute. */
export interface Levels {
  readonly dirtyGroups: number;
  readonly oldestDirtySeconds: number;
  readonly holdsWaiting: number;
  readonly pendingMembers: number;
  /** How long the gate has been closed. 0 while the gate is open or an operator has paused the connection. */
  readonly gateClosedSeconds: number;
  readonly unauthorized: boolean;
  /** Present if the holder of the credential has left, or leaves within 30 days. */
  readonly holderLeaves?: true;
  /** The time since the feed was last read to its end, or since the first run; undefined before the first run. */
  readonly feedCursorAgeSeconds?: number;
  /** The time since the last successful check of the credential; undefined before the first successful check. */
  readonly credentialUncheckedSeconds?: number;
  /** How long events or SCIM requests have been overdue. If both are overdue, the longer of the two times. */
  readonly sourceLateSeconds: number;
  /** How long a read of the directory has been overdue. */
  readonly readerLateSeconds: number;
  /**
   * Whether the reader of the directory has stopped. The reader stops if the directory denies access, or if the
   * directory's list lacks too many of the known groups.
   */
  readonly readerStopped: boolean;
  /** The number of groups whose lists in the directory repeatedly have fewer members than the directory counts. */
  readonly readerShortGroups: number;
  /** The findings that are reported to operators. */
  readonly found: readonly Finding[];
}

/** A gate in state `backoff` is reported only after this time, because shorter closings are normal. */
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
  const health = await ports.health.read(connection);
  const unauthorized = gate.state === 'unauthorized';
  const closedMs = isClosed ? nowMs - (gate.sinceMs ?? nowMs) : 0;
  const sources = sourceLevels(await watchSources({ name: connection, settings }, ports), nowMs);
  const found: Levels['found'] = [
    ...groups.found,
    ...sources.found,
    {
      subject: 'gate',
      count: unauthorized || closedMs >= CLOSED_FOR_MS ? 1 : 0,
      sinceMs: gate.sinceMs,
      ...(unauthorized && contactOf(health)),
    },
    credentialFinding(health),
  ];
  return {
    ...groups,
    ...sources,
    pendingMembers,
    gateClosedSeconds: seconds(closedMs),
    unauthorized,
    ...holderLevel(health?.holder, nowMs),
    found,
    ...(feed === undefined ? {} : { feedCursorAgeSeconds: seconds(nowMs - feed.readAtMs) }),
    ...uncheckedLevel(health, nowMs),
  };
}

function credentialFinding({ goodAtMs = 0, ...health }: Partial<Health> = {}): Finding {
  const { atMs } = health.lastFailure ?? {};
  const hasFailed = atMs !== undefined && atMs > goodAtMs;
  return { subject: 'credential', count: hasFailed ? 1 : 0, sinceMs: atMs, ...contactOf(health) };
}

const contactOf = ({ holder }: Partial<Health> = {}): Pick<Finding, 'contact'> =>
  holder === undefined ? {} : { contact: contactText(holder) };

const uncheckedLevel = ({ goodAtMs }: Partial<Health> = {}, nowMs: number) =>
  goodAtMs === undefined ? {} : { credentialUncheckedSeconds: seconds(nowMs - goodAtMs) };

const holderLevel = (holder: Holder | undefined, nowMs: number): Pick<Levels, 'holderLeaves'> =>
  leavesSoon(holder, nowMs) ? { holderLeaves: true } : {};

/** Returns the levels and findings of all sources. A stopped reader is also late, but only the stop is reported. */
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
  const unsettled: GroupSummary[] = [];
  for await (const page of index.all(connection, 'unsettled')) {
    for (const summary of page) {
      const { dirtySinceMs } = summary;
      unsettled.push(summary);
      if (dirtySinceMs === undefined) continue;
      dirtyGroups += 1;
      oldestDirtySeconds = Math.max(oldestDirtySeconds, seconds(nowMs - dirtySinceMs));
    }
  }
  const held = unsettled.filter(({ holdWaits }) => holdWaits);
  const failed = unsettled.filter(({ failedAtMs }) => failedAtMs !== undefined);
  const clashing = unsettled.filter(({ settled }) => settled === 'name_clash');
  const found: readonly Finding[] = [
    { subject: 'hold', count: held.length, ...namesOf(held) },
    { subject: 'failed', count: failed.length, ...namesOf(failed) },
    { subject: 'name_clash', count: clashing.length, ...namesOf(clashing) },
  ];
  return { dirtyGroups, oldestDirtySeconds, holdsWaiting: held.length, found };
}

function namesOf(groups: readonly GroupSummary[]): Pick<Finding, 'names' | 'groups'> {
  const first = groups.slice(0, MOST_NAMES);
  return {
    names: first.map(({ ref, name }) => name ?? ref.group),
    groups: first.map(({ ref }) => ref.group),
  };
}

const seconds = (ms: number): number => Math.max(0, Math.round(ms / 1_000));

export type HealthPorts = Pick<Ports, 'platforms' | 'health' | 'clock' | 'people'>;

/**
 * Checks the credential of a connection with a call of `/me`, and stores the result. This daily check finds a revoked
 * credential even if the company has no changes. The check also keeps a customer API key from expiring without use.
 */
export async function checkHealth(connection: Connection, ports: HealthPorts): Promise<Health> {
  const known = await ports.health.read(connection.name);
  let holder = known?.holder;
  let platform: Platform | undefined;
  const failure = await failureIn(async () => {
    platform = await ports.platforms.open(connection);
    const found = await platform.probe();
    if (found !== undefined) throw found;
  });
  // If the call of `/me` succeeds but the holder's employee cannot be read, the known holder stays.
  await failureIn(async () => {
    if (platform !== undefined && failure === undefined)
      holder = (await holderOf(platform, connection.name, ports)) ?? holder;
  });
  const whose = holder === undefined ? {} : { holder };
  const nowMs = ports.clock();
  const health: Health =
    failure === undefined
      ? { ...known, ...whose, checkedAtMs: nowMs, goodAtMs: nowMs }
      : {
          ...known,
          ...whose,
          checkedAtMs: nowMs,
          lastFailure: { atMs: nowMs, message: messageOf(failure, holder) },
        };
  await ports.health.write(connection.name, health);
  return health;
}

/** The message of a failed check. If the platform refuses the credential, the message names the person to contact. */
const messageOf = ({ kind, message }: PlatformFailure, holder: Holder | undefined): string =>
  kind === 'unauthorized' && holder !== undefined ? `${message}. ${contactText(holder)}` : message;
