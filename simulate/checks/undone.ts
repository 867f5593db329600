import type { OperatorDone } from '../operators.ts';
import { IMPORT_SOURCES } from '../reader/reader-events.ts';
import { type Received, readAll } from '../reading.ts';
import { MINUTE_MS } from '../simulation-run.ts';
import type { Checker, Observation, ObservedConnection } from './observation.ts';
import { wantedIn } from './outside.ts';
import { pastOf } from './past.ts';

/** The longest time between the arrival of an event and its registers. */
const STORED_MS = 5 * MINUTE_MS;

/** An undo whose events have arrived. */
interface Undone {
  readonly action: OperatorDone;
  readonly imported: NonNullable<OperatorDone['imported']>;
  readonly group: string;
  readonly startedMs: number;
  readonly own: readonly Received[];
  /** All events of the connection. */
  readonly all: readonly Received[];
}

/**
 * Checks the members of the directory group after an undo. `import --undo` leaves the members that the group would have
 * without the import. `undo --to` brings back the users of the platform group of that moment. Both except what the
 * output names. Whether the platform group then gets these members is the subject of other checks.
 */
export function createUndone(): Checker {
  const checked = new Set<OperatorDone>();
  return (observation) => {
    const { connections, seen } = observation;
    for (const action of seen.operators.actions) {
      const { kind, imported, group = '', connection: name, startedMs = 0 } = action;
      if (imported === undefined || kind === 'import' || checked.has(action)) continue;
      const connection = connections.find((one) => one.name === name);
      const all = seen.directory.received(name);
      const own = all.filter(({ id }) => imported.sent.includes(id));
      if (connection === undefined || own.length < imported.sent.length) continue;
      checked.add(action);
      // An event that arrived while the connection was removed is dead-lettered.
      if (observation.isInDeadLetters(group)) continue;
      const check = kind === 'undo' ? checkMoment : checkImport;
      check(observation, connection, { action, imported, group, startedMs, own, all });
    }
  };
}

/** Compares the members with those of a directory that never sent the import. */
function checkImport(observation: Observation, { name }: ObservedConnection, undone: Undone): void {
  const { imported, group, startedMs, own, all } = undone;
  const {
    undoes = '',
    sent: [undoId = '~'],
    named = [],
  } = imported;
  // An import of the same rows counts as the same import. Its id ends with the same digest.
  const content = `${undoes.slice(undoes.lastIndexOf('-'))}.`;
  const isImport = ({ id, source }: Received) =>
    IMPORT_SOURCES.includes(source) && id.includes(content) && id < undoId;
  const imports = all.filter(isImport);
  const others = all.filter((one) => !isImport(one) && !own.includes(one));
  const ofGroup = observation.seen.operators.actions.filter(
    (one) => one.connection === name && one.group === group && /import|undo/.test(one.kind),
  );
  const begunMs = Math.min(...ofGroup.map((one) => one.startedMs ?? 0));
  // The directory made these events before the import or the undo, which they do not change.
  const late = others.filter(
    ({ arrivedAtMs, instant }) =>
      (arrivedAtMs >= begunMs - STORED_MS && imports.some((one) => instant < one.instant)) ||
      (arrivedAtMs >= startedMs - STORED_MS && own.some((one) => instant < one.instant)),
  );
  const [is, expected] = [all, others].map((some) => readAll(some).groups.get(group)?.members);
  const isOfAll = ({ directoryEvent: { kind, group: of } }: Received) =>
    of === group && /snapshot|delete/.test(kind);
  if (is === undefined || expected === undefined || late.some(isOfAll)) return;
  const except = new Set([
    ...named,
    ...late.flatMap(({ directoryEvent: { members = [] } }) => members.map(({ id }) => id)),
  ]);
  const wrong = [...new Set([...is, ...expected])].filter(
    (member) => is.has(member) !== expected.has(member) && !except.has(member),
  );
  if (wrong.length === 0) return;
  const sentence = `The import ${undoes} of the group ${group} was undone. Expected the members that the group would have without this import, but ${wrong.join(', ')} ${is.has(wrong[0] ?? '') ? 'are in the group' : 'are not in the group'}.`;
  observation.accuse('undone', 'import', { connection: name, group }, sentence);
}

/** Compares the wanted users with the users who were in the platform group at the moment. */
function checkMoment(observation: Observation, connection: ObservedConnection, undone: Undone): void {
  const { action, imported, group, startedMs, own, all } = undone;
  const { seen } = observation;
  const { name, platform } = connection;
  const arrivedMs = Math.max(action.atMs, ...own.map(({ arrivedAtMs }) => arrivedAtMs));
  const isAbout = ({ directoryEvent }: Received) => [group, undefined].includes(directoryEvent.group);
  const isLater = (one: Received) =>
    isAbout(one) &&
    !own.includes(one) &&
    one.arrivedAtMs <= arrivedMs &&
    (one.arrivedAtMs >= startedMs - STORED_MS || own.some(({ instant }) => one.instant >= instant));
  if (all.some(isLater)) return;
  const past = pastOf(seen, platform, { connection: name, group });
  const toMs = startedMs - ('agoMs' in action.action ? action.action.agoMs : 0);
  const [then, before] = [toMs, startedMs].map((ms) => past.statesAt(ms));
  const reading = { ...seen.directory.read(name, arrivedMs), inactive: new Set<string>() };
  const { users, userOf, unsure, may } = wantedIn(observation, { ...connection, reading }, group, {
    people: undefined,
    includeStates: ['ACTIVE', 'HIRED', 'TERMINATED'],
  });
  const except = new Set([
    ...(imported.named ?? []),
    ...may,
    ...[...userOf].flatMap(([member, user]) => (unsure.has(member) ? [user] : [])),
    ...changedPeople(observation),
  ]);
  for (const user of new Set([...users, ...(then?.[0] ?? [])])) {
    if (except.has(user) || past.isUnread(user, toMs) || past.isUnread(user, startedMs)) continue;
    // A user without a member who is still in the group is not named, because the undo does not change this.
    const isThere = before?.some((one) => one.has(user));
    const isLost = !users.has(user) && !isThere && then?.every((one) => one.has(user));
    const isExtra =
      users.has(user) && !then?.some((one) => one.has(user)) && before?.every((one) => one.has(user));
    if (!isLost && !isExtra) continue;
    const sentence = `An operator brought back the members of the group ${group} of ${new Date(toMs).toISOString()}. ${isLost ? `Expected ${user}, who was in the platform group, to return` : `Expected ${user}, who was not in the platform group, to leave`}, but the directory group does not show this, and the output does not name this user.`;
    observation.accuse('undone', isLost ? 'lost' : 'extra', { connection: name, group }, sentence);
  }
}

/** Returns the users and roles of people that the HR system or an operator has changed. */
function changedPeople({ seen: { run, platforms } }: Observation): readonly string[] {
  const roles = new Set(
    run.happenings.flatMap(({ actor, action }) => {
      if (actor !== 'company' && actor !== 'operator') return [];
      if (action.kind === 'hire') return [action.person.role];
      return 'role' in action ? [action.role] : [];
    }),
  );
  const employees = [...platforms.values()].flatMap((one) => [...one.employees.values()]);
  const users = employees.flatMap(({ role, userId }) => (roles.has(role) ? [userId ?? role] : []));
  // The platform no longer has the employees that the HR system erased.
  return [...users, ...[...roles].flatMap((role) => [role, `u-${role}`])];
}
