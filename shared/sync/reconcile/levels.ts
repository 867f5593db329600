import { HOUR_MS } from '../../domain/duration.ts';
import type { Gate } from '../../domain/gate.ts';
import type { ConnectionName } from '../../domain/ids.ts';
import type { Finding } from '../../domain/notice.ts';
import { contactText, type Holder, leavesSoon } from '../../plan/holder.ts';
import { MOST_NAMES } from '../../plan/notice.ts';
import type { Ports } from '../ports/bundles.ts';
import type { Connection, Health } from '../ports/connections.ts';
import type { GroupSummary } from '../ports/group-index.ts';
import { type EmployeeRecord, failureIn, type Platform, type PlatformFailure } from '../ports/platform.ts';
import { type SourcesFound, watchSources } from '../sources.ts';

/**
 * A gate in state `backoff` is reported only after this time, because shorter closings are normal. After an outage of
 * ten minutes, the next attempt may be another quarter of an hour away.
 */
const CLOSED_FOR_MS = 30 * 60_000;
/** Changes that wait longer than this are reported. groupsync tries each group at least once an hour. */
const WAITED_MS = 3_600_000;
/** Changes that wait because the gate closes again and again are reported after this time. */
const WAITED_BY_GATE_MS = 6 * 3_600_000;
const UNCHECKED_MS = 2 * 24 * 3_600_000;
const FEED_UNREAD_MS = 24 * 3_600_000;
const MOST_READ = 100;
/** Errors of groups whose removed members keep access. */
const KEEPS_ACCESS: ReadonlySet<string> = new Set(['removals_refused', 'kept']);
/** The notice about missing groups reports these groups. */
const IS_MISSING = 'missing_held';

type ProblemPorts = Pick<Ports, 'index' | 'gates' | 'feed' | 'health' | 'sources' | 'clock'> & {
  readonly groups: Pick<Ports['groups'], 'readMany'>;
};

/**
 * Returns the states of a connection that people must know. Each problem has one finding: changes that wait because of
 * a closed gate, a hold, a dead-lettered message or a name are not reported as waiting.
 */
export async function findProblems(
  { name: connection, settings }: Pick<Connection, 'name' | 'settings'>,
  ports: ProblemPorts,
): Promise<readonly Finding[]> {
  const nowMs = ports.clock();
  const gate = await ports.gates.read(connection);
  const health = await ports.health.read(connection);
  const feed = await ports.feed.read(connection);
  const blocked = blockedFinding(gate, health, nowMs);
  const isOpen = blocked.count === 0 && gate.state === 'open';
  return [
    blocked,
    ...(await groupFindings(connection, ports, { gate, isBlocked: blocked.count > 0 })),
    ...sourceFindings(await watchSources({ name: connection, settings }, ports), nowMs),
    credentialFinding(health, nowMs, isOpen),
    {
      subject: 'feed',
      count: isOpen && feed !== undefined && nowMs - feed.readAtMs > FEED_UNREAD_MS ? 1 : 0,
      sinceMs: feed?.readAtMs,
    },
  ];
}

/** Writes are blocked by a gate that has long been closed, and by a credential that the platform refuses. */
function blockedFinding(gate: Gate, health: Health | undefined, nowMs: number): Finding {
  const { goodAtMs = 0, lastFailure, holder } = health ?? {};
  const isUnauthorized = gate.state === 'unauthorized';
  const isLong = gate.state === 'backoff' && nowMs - (gate.sinceMs ?? nowMs) >= CLOSED_FOR_MS;
  const isRefused = lastFailure?.refused === true && lastFailure.atMs > goodAtMs;
  return {
    subject: 'gate',
    count: isUnauthorized || isLong || isRefused ? 1 : 0,
    sinceMs: gate.sinceMs ?? lastFailure?.atMs,
    ...((isUnauthorized || isRefused) && holder !== undefined && { contact: contactText(holder) }),
  };
}

function credentialFinding(health: Health | undefined, nowMs: number, isOpen: boolean): Finding {
  const { goodAtMs = nowMs, holder } = health ?? {};
  const isUnchecked = isOpen && nowMs - goodAtMs > UNCHECKED_MS;
  return {
    subject: 'credential',
    count: isUnchecked || leavesSoon(holder, nowMs) ? 1 : 0,
    ...(holder !== undefined && { contact: contactText(holder) }),
  };
}

/** A stopped reader is also late, but only the stop is reported. */
function sourceFindings({ freshness, reader }: SourcesFound, nowMs: number): readonly Finding[] {
  const { stopped, shortGroups = 0, flips = [] } = reader;
  const late = freshness.filter(({ lateMs }) => lateMs > 0);
  const begins = late.map(({ lateMs }) => nowMs - lateMs);
  if (stopped !== undefined) begins.push(stopped.sinceMs);
  return [
    { subject: 'source', count: begins.length, sinceMs: Math.min(nowMs, ...begins) },
    { subject: 'reader_short', count: shortGroups },
    { subject: 'reader_flips', count: flips.length, names: flips },
  ];
}

interface Gated {
  readonly gate: Gate;
  /** Whether the gate is reported as closed. */
  readonly isBlocked: boolean;
}

async function groupFindings(
  connection: ConnectionName,
  { index, groups, clock }: ProblemPorts,
  { gate, isBlocked }: Gated,
): Promise<readonly Finding[]> {
  const unsettled: GroupSummary[] = [];
  for await (const page of index.all(connection, 'unsettled')) unsettled.push(...page);
  const held = unsettled.filter(({ holdWaits }) => holdWaits);
  const clashing = unsettled.filter(({ settled }) => settled === 'name_clash');
  const nowMs = clock();
  // After a closed gate opens, the backlog is applied at a limited rate.
  const openedMs = { open: gate.sinceMs ?? 0, backoff: nowMs, unauthorized: nowMs, paused: 0 }[gate.state];
  const isLong = ({ dirtySinceMs = nowMs, ...group }: GroupSummary) =>
    group.failedAtMs === undefined &&
    !group.holdWaits &&
    group.settled !== 'name_clash' &&
    (nowMs - Math.max(dirtySinceMs, openedMs) > WAITED_MS || nowMs - dirtySinceMs > WAITED_BY_GATE_MS);
  const waitsSince = ({ dirtySinceMs = nowMs }: GroupSummary) => dirtySinceMs;
  const long = isBlocked ? [] : unsettled.filter(isLong).sort((a, b) => waitsSince(a) - waitsSince(b));
  const longest = long.slice(0, MOST_READ).map(({ ref }) => ref);
  const states = await groups.readMany(longest, () => {});
  const errors = new Map(states.map(({ ref, lastError }) => [ref.group, lastError?.code ?? '']));
  const errorOf = ({ ref }: GroupSummary) => errors.get(ref.group) ?? '';
  const kept = long.filter((group) => KEEPS_ACCESS.has(errorOf(group)));
  const waiting = long.filter((group) => !kept.includes(group) && errorOf(group) !== IS_MISSING);
  const since = ([first]: readonly GroupSummary[]) => first && waitsSince(first);
  return [
    { subject: 'hold', count: held.length, ...namesOf(held) },
    { subject: 'name_clash', count: clashing.length, ...namesOf(clashing) },
    { subject: 'access', count: kept.length, sinceMs: since(kept) },
    { subject: 'waiting', count: waiting.length, sinceMs: since(waiting) },
  ];
}

function namesOf(groups: readonly GroupSummary[]): Pick<Finding, 'names' | 'groups'> {
  const first = groups.slice(0, MOST_NAMES);
  return {
    names: first.map(({ ref, name }) => name ?? ref.group),
    groups: first.map(({ ref }) => ref.group),
  };
}

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
      holder = await holderOf(platform, connection.name, ports);
  });
  const nowMs = ports.clock();
  const lastFailure = failure && {
    atMs: nowMs,
    message: messageOf(failure, holder),
    ...(failure.kind === 'unauthorized' && { refused: true }),
  };
  const outcome = lastFailure === undefined ? { goodAtMs: nowMs } : { lastFailure };
  const health: Health = { ...known, ...(holder && { holder }), ...outcome };
  await ports.health.write(connection.name, health);
  return health;
}

/** The message of a failed check. If the platform refuses the credential, the message names the person to contact. */
const messageOf = ({ kind, message }: PlatformFailure, holder: Holder | undefined): string =>
  kind === 'unauthorized' && holder !== undefined ? `${message}. ${contactText(holder)}` : message;

/** The maximum number of roles that are read. A person usually has one role in a company, and rarely two. */
const MAX_ROLES = 5;

/**
 * Returns the platform's user to which the credential belongs, with the last day of the employment if it is known. If
 * the user has several roles, this is the end of the last role.
 * @returns undefined if the platform has not named the user
 */
async function holderOf(
  platform: Platform,
  connection: ConnectionName,
  { people, clock }: Pick<Ports, 'people' | 'clock'>,
): Promise<Holder | undefined> {
  const { holder: user } = platform;
  if (user === undefined) return undefined;
  const roles = (await people.ofUser(connection, user)).slice(0, MAX_ROLES);
  const records = await Promise.all(roles.map(({ role }) => platform.employee(role, [])));
  const today = new Date(clock()).toISOString().slice(0, 10);
  const lastDays = records.map((record) => lastDayOf(record, today));
  // If there is no role, the user is not a known employee, so no end is known.
  const stays = lastDays.length === 0 || lastDays.includes(undefined);
  const known = lastDays.filter((day) => day !== undefined);
  const lastDay = known.sort().at(-1);
  return { user, ...(stays || lastDay === undefined ? {} : { lastDay }) };
}

/** Returns the last day of a role; today if the role has already ended; undefined if no end is known. */
function lastDayOf(record: EmployeeRecord | undefined, today: string): string | undefined {
  if (record === undefined || record.state === 'TERMINATED') return record?.endDate ?? today;
  return record.endDate;
}

const MOST_HOURS = 24;

/** Stores once in each hour how many groups and memberships need work, for the charts of the console. */
export async function recordTrend(
  connection: ConnectionName,
  { index, trends, clock }: Pick<Ports, 'index' | 'trends' | 'clock'>,
) {
  const atMs = Math.floor(clock() / HOUR_MS) * HOUR_MS;
  const earlier = await trends.read(connection);
  if (earlier.some((hour) => hour.atMs >= atMs)) return;
  const now = { atMs, waiting: 0, held: 0, failed: 0, pending: 0 };
  for await (const groups of index.all(connection, 'unsettled')) {
    for (const kind of groups.map(kindOf)) if (kind !== undefined) now[kind] += 1;
  }
  for await (const members of index.pending(connection)) now.pending += members.length;
  const lastDay = earlier.filter((hour) => hour.atMs > atMs - MOST_HOURS * HOUR_MS);
  await trends.write(connection, [...lastDay, now]);
}

function kindOf({ holdWaits, failedAtMs, dirtySinceMs }: GroupSummary) {
  if (holdWaits) return 'held';
  if (failedAtMs !== undefined) return 'failed';
  return dirtySinceMs === undefined ? undefined : 'waiting';
}
