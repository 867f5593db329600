import { hasMoved } from '../operators.ts';
import type { DirectoryFault } from '../reader/faults.ts';
import { READER } from '../reader/reader-events.ts';
import type { SimulatedSource } from '../reader/source.ts';
import { isAccountActive, trueGroup } from '../reader/truth.ts';
import type { Received } from '../reading.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, START_MS } from '../simulation-run.ts';
import {
  type Checker,
  latest,
  type Observation,
  type ObservedConnection,
  SCIM_ID,
  TRAP_MS,
} from './observation.ts';
import { partitionOf, type StoredMember } from './stored.ts';

/** The stamp of a reader's event is this long before the beginning of the read. */
const BEFORE_READ_MS = MINUTE_MS;
/**
 * The longest time until the events of the reader equal the directory, if the directory's log shows the change. The lag
 * of the lists is added to this time. The log may be 5 minutes late, and two reads ten minutes apart must agree. A
 * crashed run blocks the next runs for 16 minutes.
 */
const AGREED_WITHIN_MS = 100 * MINUTE_MS;
/** The longest time for a change that the log does not show. The daily read of the group finds the change. */
const ROLLING_MS = 26 * HOUR_MS;
/** A stamp contains the name of its source in hexadecimal digits. */
const READER_HEX = Buffer.from(READER).toString('hex');

/**
 * Checks that the reader removes nothing that the directory still has, and that its events equal the directory in time.
 * Checks also that no other source changes the groups of the reader.
 */
export function createDirectoryCheck(): Checker {
  const checkedEvents = new Map<string, number>();
  return (observation) => {
    for (const connection of observation.connections) {
      const source = observation.seen.sources.get(connection.name);
      if (source === undefined) continue;
      const scene = { observation, connection, source };
      checkRemovals(scene, checkedEvents);
      checkAgreement(scene);
      checkOwner(scene);
    }
  };
}

interface Scene {
  readonly observation: Observation;
  readonly connection: ObservedConnection;
  readonly source: SimulatedSource;
}

/** Returns the longest lag of a list behind the directory. */
function lagMsOf({ difficulty: { lagSeconds } }: SimulatedSource): number {
  const { users, groups, members, dynamicMembers } = lagSeconds;
  return Math.max(users, groups, members + dynamicMembers) * 1_000;
}

const isFlat = ({ settings }: ObservedConnection): boolean => settings.nested === 'flatten';

/**
 * Checks each event that removes a member. The period of the check begins before the read and ends with the arrival of
 * the event. At some time in this period, the member must have been outside the directory group.
 */
function checkRemovals({ observation, connection, source }: Scene, checkedEvents: Map<string, number>): void {
  const { name } = connection;
  const received = observation.seen.directory.received(name);
  const news = received.slice(checkedEvents.get(name) ?? 0);
  checkedEvents.set(name, received.length);
  for (const one of news) {
    if (one.source !== READER) continue;
    const { group, kind } = one.directoryEvent;
    for (const taken of wronglyRemoved(one, connection, source)) {
      if (!wasShown(observation, name, one, taken)) continue;
      const sentence = `The reader sent a ${kind} that removes ${taken}${group === undefined ? '' : ` (group ${group})`}. Expected no removal, because the directory showed no such removal during the read.`;
      const about = { connection: name, ...(group && { group }) };
      observation.accuse('directory', 'wrong_removal', about, sentence);
    }
  }
}

/** Returns whether earlier events of the connection put the member into the group. */
function wasShown(
  { seen }: Observation,
  connection: string,
  { arrivedAtMs, directoryEvent: { kind, group = '' } }: Received,
  member: string,
): boolean {
  if (kind !== 'snapshot' && kind !== 'leave') return true;
  const before = seen.directory.read(connection, arrivedAtMs - 1).groups.get(group);
  return before?.members.has(member) === true;
}

function wronglyRemoved(
  one: Received,
  connection: ObservedConnection,
  source: SimulatedSource,
): readonly string[] {
  const { kind, group = '', members = [] } = one.directoryEvent;
  const fromMs = Number(one.instant / 1_000_000n) - BEFORE_READ_MS - lagMsOf(source);
  const times = timesIn(source, fromMs, one.arrivedAtMs);
  const views = times.map((atMs) => source.directory.viewAt(atMs));
  if (kind === 'profile') {
    return members.flatMap(({ id, isActive }) =>
      isActive === false && views.every((view) => view.user(id) !== undefined && isAccountActive(view, id))
        ? [id]
        : [],
    );
  }
  if (kind === 'forget') {
    return members.flatMap(({ id }) => (views.every((view) => view.user(id) !== undefined) ? [id] : []));
  }
  if (kind !== 'snapshot' && kind !== 'leave' && kind !== 'delete') return [];
  const groups = views.map((view) => trueGroup(view, group, isFlat(connection)));
  if (kind === 'delete') return groups.every((found) => found !== undefined) ? ['the whole group'] : [];
  const [first, ...others] = groups;
  const lasting = [...(first?.members ?? [])].filter((id) => others.every((found) => found?.members.has(id)));
  const named = new Set(members.map(({ id }) => id));
  return lasting.filter((id) => named.has(id) === (kind === 'leave'));
}

/** Returns the beginning of the period, and the times of all directory changes within the period. */
const timesIn = ({ directory }: SimulatedSource, fromMs: number, untilMs: number): readonly number[] => [
  fromMs,
  ...new Set(directory.log.map(({ atMs }) => atMs).filter((atMs) => atMs > fromMs && atMs <= untilMs)),
];

/** Checks that the reader's events equal the directory, some time after the last change, and at the end. */
function checkAgreement(scene: Scene): void {
  const { observation, connection, source } = scene;
  const { nowMs, isEnd } = observation;
  const { name, reading } = connection;
  const view = source.directory.viewAt(nowMs);
  const known = connection.groups.filter((group) => !SCIM_ID.test(group));
  const ids = new Set([...view.groups().map(({ id }) => id), ...known]);
  const troubledMs = lastTroubleMs(scene);
  const isMoved = hasMoved(observation.seen.operators.actions);
  for (const group of ids) {
    if (isMoved(name, group)) continue;
    const wanted = stateOf(view, group, connection);
    const read = reading.groups.get(group);
    const found = textOf(read?.name, read?.members, (id) => !reading.inactive.has(id));
    if (found === wanted) continue;
    const sinceMs = sinceOf(scene, group, wanted);
    const isDue = nowMs - latest([sinceMs, troubledMs]) > boundOf(scene);
    if (!isEnd && !isDue) continue;
    const sentence = `The directory has had the group ${group} as ${wanted} for ${Math.floor((nowMs - sinceMs) / MINUTE_MS)} minutes. Expected the same state from the events of the reader, but they show ${found}.`;
    observation.accuse('directory', 'not_followed', { connection: name, group }, sentence);
  }
}

type DirectoryView = ReturnType<SimulatedSource['directory']['viewAt']>;

const stateOf = (view: DirectoryView, group: string, connection: ObservedConnection): string => {
  const truth = trueGroup(view, group, isFlat(connection));
  return textOf(truth?.name, truth?.members, (id) => isAccountActive(view, id));
};

/** Returns the time at which the directory group got this state. */
function sinceOf({ observation, connection, source }: Scene, group: string, state: string): number {
  const times = source.directory.log.map(({ atMs }) => atMs).filter((atMs) => atMs <= observation.nowMs);
  const isOther = (atMs: number) => stateOf(source.directory.viewAt(atMs - 1), group, connection) !== state;
  return times.findLast(isOther) ?? START_MS;
}

function textOf(
  name: string | undefined,
  members: Iterable<string> = [],
  isActive: (id: string) => boolean,
): string {
  if (name === undefined) return 'none';
  const shown = [...members].map((id) => (isActive(id) ? id : `(${id})`)).sort();
  return `"${name}" with ${shown.join(', ') || 'no member'}`;
}

/**
 * Faults that permanently hide changes from the directory's change reports. With `hides_membership`, the reader lacks a
 * permission, so a list of changes lacks hidden memberships.
 */
const SILENT: ReadonlySet<DirectoryFault> = new Set(['log_silent', 'hides_membership']);

function boundOf({ observation: { seen, nowMs }, source, connection }: Scene): number {
  const { lostLogEntries } = source.difficulty;
  const isSilent = seen.run.happenings.some(
    ({ connection: name, action, atMs }) =>
      name === connection.name &&
      action.kind === 'directoryFault' &&
      SILENT.has(action.directoryFault) &&
      START_MS + atMs <= nowMs &&
      START_MS + atMs + action.forMs > nowMs - ROLLING_MS - DAY_MS,
  );
  return lostLogEntries > 0 || isSilent ? ROLLING_MS : AGREED_WITHIN_MS + lagMsOf(source);
}

/** Returns the end of the last fault of the directory or of AWS, or the time of the last crash if it is later. */
function lastTroubleMs({ observation: { seen, nowMs }, connection }: Scene): number {
  const faultsEndMs = START_MS + seen.run.days * DAY_MS;
  const ends = seen.run.happenings.flatMap(({ connection: name, actor, atMs, action }) => {
    const isOwn = actor === 'source' && action.kind === 'directoryFault' && name === connection.name;
    if ((!isOwn && actor !== 'aws') || START_MS + atMs > nowMs) return [];
    const forMs = 'forMs' in action ? action.forMs : TRAP_MS;
    return [Math.min(START_MS + atMs + forMs, faultsEndMs, nowMs)];
  });
  return latest([...ends, seen.lambdas.diedMs()]);
}

/** Checks the registers of each group that a reader owns: none may come from an event of another source. */
function checkOwner({ observation, connection, source }: Scene): void {
  const { name } = connection;
  // While another source owned a group, events of all sources changed it.
  const moved = new Set(
    observation.seen.operators.actions.flatMap(({ moves = [] }) => moves.map(({ from }) => from)),
  );
  for (const { id: group } of source.directory.viewAt(observation.nowMs).groups()) {
    if (moved.has(group)) continue;
    const { upserted = READER_HEX, name: known } = connection.item(group) ?? {};
    const registers = observation.seen.under<StoredMember>(partitionOf(name, group), 'M#');
    const stamps = [upserted, known?.stamp ?? upserted, ...registers.map(({ stamp }) => stamp)];
    const foreign = stamps.find((stamp) => !stamp.includes(READER_HEX));
    if (foreign === undefined) continue;
    const sentence = `The reader owns the group ${group}. Expected the stamps of the reader in all registers of the group, but one register has the stamp ${foreign}.`;
    observation.accuse('directory', 'second_owner', { connection: name, group }, sentence);
  }
}
