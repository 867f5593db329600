import type { OperatorDone } from '../operators.ts';
import { removedOnRequest } from './ledger.ts';
import { type Checker, type Observation, type ObservedConnection, withMoved } from './observation.ts';
import {
  createNewWrites,
  groupOf,
  hasLeft,
  isPermitted,
  overdueMinutes,
  type Written,
  wantedIn,
} from './outside.ts';

/** Checks that no rejected removal is written, and that a later one is, after the directory wanted the user again. */
export function createDecision(): Checker {
  const newWrites = createNewWrites();
  /** For each rejection and user, the last time at which the directory wanted the user again. */
  const wantedMs = new Map<string, number>();
  return (observation) => {
    for (const connection of observation.connections) {
      const past = observation.seen.operators.actions.filter((one) => one.connection === connection.name);
      for (const written of newWrites(connection)) checkKept(observation, connection, { ...written, past });
      for (const action of past) {
        if (action.kind === 'reject' && action.done) checkEnded(observation, connection, action, wantedMs);
      }
    }
  };
}

const KEEPING = /^(?:approve|reject|takeover|resume_all)$/;

/** A later approval, event, HR change, change by another client, or other operator action may end a rejection. */
function checkKept(
  observation: Observation,
  connection: ObservedConnection,
  { write, group, past }: Written & { readonly past: readonly OperatorDone[] },
): void {
  const before = past.filter(({ atMs }) => atMs <= write.atMs);
  const others = before.flatMap(({ kind, atMs }) => (KEEPING.test(kind) ? [] : [atMs]));
  const clientMs = connection.platform.clientWrites.findLast(({ id }) => id === write.id)?.atMs ?? 0;
  const changedMs = connection.reading.changedAtMs.get(group) ?? 0;
  const sinceMs = Math.max(connection.companyMs, changedMs, clientMs, ...others);
  const groups = withMoved(observation, connection.name, group);
  const rejected = new Set<string>();
  for (const { kind, done, removals = [], atMs, ...action } of before) {
    if (!groups.includes(action.group ?? '') || atMs <= sinceMs) continue;
    if (kind === 'reject' && done) for (const user of removals) rejected.add(user);
    if (kind === 'approve') for (const user of removals) rejected.delete(user);
  }
  // A rejection does not keep a person whose employment has ended.
  const users = removedOnRequest(write).filter((user) => rejected.has(user) && !hasLeft(connection, user));
  if (users.length === 0) return;
  const sentence = `An operator rejected the removal of ${users.join(', ')} from the group ${group}. Expected these users to stay, but they were removed.`;
  observation.accuse('decision', 'rejected_removal', { connection: connection.name, group }, sentence);
}

function checkEnded(
  observation: Observation,
  connection: ObservedConnection,
  { group = '', removals = [], atMs }: OperatorDone,
  wantedMs: Map<string, number>,
): void {
  const { seen, nowMs } = observation;
  const { name, platform, reading, companyMs } = connection;
  const held = [...platform.groups.values()].find((one) => groupOf(connection, one) === group);
  const { users } = wantedIn(observation, connection, group);
  for (const user of removals) {
    const key = JSON.stringify([name, group, user, atMs]);
    if (users.has(user)) wantedMs.set(key, nowMs);
    const sinceMs = wantedMs.get(key) ?? 0;
    // An action of a person, or an HR change, may hold the later removal.
    const isTouched = [companyMs, ...seen.operators.actions.map((one) => one.atMs)].some(
      (ms) => ms >= sinceMs,
    );
    if (isTouched || users.has(user) || !held?.users.includes(user)) continue;
    const staying = { group, held, user, fromMs: reading.changedAtMs.get(group) ?? 0 };
    const minutes = overdueMinutes(observation, connection, staying);
    if (minutes === undefined || !isPermitted(observation, connection, staying)) continue;
    const sentence = `An operator rejected the removal of ${user} from the group ${group}, and the directory wanted the user again after that. Expected the later removal to be written, but ${user} has been in ${held.id} for ${minutes} minutes in which groupsync could write.`;
    observation.accuse('decision', 'outlived', { connection: name, group }, sentence);
  }
}
