import type { OperatorDone } from '../operators.ts';
import { personIn } from '../persons.ts';
import { byOrder, type Received } from '../reading.ts';
import { type Checker, type Observation, type ObservedConnection, withMoved } from './observation.ts';
import { wantedIn } from './outside.ts';

/** Checks that with four eyes, no person approves a removal that an event of this person caused. */
export function createTwoPersons(): Checker {
  let read = 0;
  return (observation) => {
    const { connections, seen, accuse } = observation;
    const { actions } = seen.operators;
    for (const action of actions.slice(read)) {
      checkRequest(observation, action);
      const { connection: name, kind, answer, by, group = '', removals = [] } = action;
      const connection = connections.find((one) => one.name === name);
      const isApproved = kind === 'approve' && (answer === 'done' || answer === 'first');
      if (!isApproved || connection === undefined || !hasFourEyes(observation, action)) continue;
      const own = removals.find((user) =>
        senders(observation, connection, action, user).includes(personIn(by)),
      );
      if (own === undefined) continue;
      const sentence = `${by} sent the event that removes ${own} from the group ${group}. Expected another person to approve this removal, but ${by} approved it.`;
      accuse('two_persons', 'own_removal', { connection: name, group }, sentence);
    }
    read = actions.length;
  };
}

/** Checks that no person confirms a request after two later changes of its setting, of which one had an effect. */
function checkRequest({ seen, accuse }: Observation, request: OperatorDone): void {
  const { connection, action, startedMs = 0, atMs, by, confirmedBy, crashed } = request;
  if (confirmedBy === undefined || crashed || action.kind !== 'set') return;
  const rootOf = (key: string) => key.split('.')[0];
  const later = seen.operators.actions.flatMap(({ action: set, ...one }) => {
    const isBetween = one.connection === connection && (one.startedMs ?? 0) > startedMs && one.atMs < atMs;
    return isBetween && set.kind === 'set' && rootOf(set.key) === rootOf(action.key) ? [{ ...one, set }] : [];
  });
  const isRepeated = later.some(({ answer, confirmedBy: other }) => answer !== 'done' || other !== undefined);
  const values = new Set(later.map(({ set }) => JSON.stringify([set.key, set.value])));
  if (isRepeated || values.size < 2) return;
  const sentence = `${by} requested ${action.key}, and the setting was changed after that. Expected the request to end, but ${confirmedBy} confirmed it.`;
  accuse('two_persons', 'outdated_request', { connection }, sentence);
}

/** Returns whether four eyes was certainly on. Only two persons can switch it off. */
function hasFourEyes({ seen: { run, operators } }: Observation, approval: OperatorDone): boolean {
  const { connection: name, startedMs = 0, atMs: untilMs } = approval;
  let isOn = run.connections.some((one) => one.name === name && one.settings['fourEyes'] === true);
  for (const { connection, action, atMs, by, done, crashed, confirmedBy } of operators.actions) {
    if (connection !== name || action.kind !== 'set' || action.key !== 'fourEyes' || !done) continue;
    if (startedMs <= atMs && atMs <= untilMs) return false;
    if (atMs > untilMs) return isOn;
    if (action.value === true) isOn ||= crashed !== true;
    else if (confirmedBy !== undefined && personIn(confirmedBy) !== personIn(by)) isOn = false;
  }
  return isOn;
}

/** Returns who sent the event that last removed the user, or a later snapshot or deletion, which replaces its sender. */
function senders(
  observation: Observation,
  connection: ObservedConnection,
  { group = '', atMs }: OperatorDone,
  user: string,
): readonly string[] {
  const { directory } = observation.seen;
  const groups = withMoved(observation, connection.name, group);
  const past = directory
    .received(connection.name)
    .filter((one) => one.arrivedAtMs <= atMs && groups.includes(one.directoryEvent.group ?? ''));
  const isWantedAt = (timeMs: number) => {
    const then = { ...connection, reading: directory.read(connection.name, timeMs) };
    return wantedIn(observation, then, group).users.has(user);
  };
  const last = isWantedAt(atMs) ? undefined : past.findLast(({ arrivedAtMs }) => isWantedAt(arrivedAtMs - 1));
  // After a deletion, a snapshot without a name has no effect.
  const isNamed = directory.read(connection.name, atMs).groups.get(group)?.name !== undefined;
  const again = isNamed ? /^(?:snapshot|delete)$/ : /^delete$/;
  const isAgain = (one: Received) =>
    last !== undefined && again.test(one.directoryEvent.kind) && byOrder(one, last) > 0;
  const cause = past.toSorted(byOrder).findLast(isAgain) ?? last;
  const [event, other] = past.filter(({ arrivedAtMs }) => arrivedAtMs === cause?.arrivedAtMs);
  return other === undefined ? (event?.sentBy ?? []).map(personIn) : [];
}
