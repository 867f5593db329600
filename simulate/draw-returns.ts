import { actsOf } from './acts.ts';
import type { Town } from './draw-people.ts';
import { messagesOf, type OutgoingMessage } from './messages.ts';
import { between, type Random } from './random.ts';
import { instantOf, type Received, readAll } from './reading.ts';
import {
  DAY_MS,
  type DirectoryAction,
  type Happening,
  HOUR_MS,
  MINUTE_MS,
  returnedName,
} from './simulation-run.ts';

/** The share of runs in which a connection is removed, and its company connected again under another name. */
const RETURNS = 0.15;

interface Return {
  readonly town: Town;
  readonly removedAtMs: number;
  readonly connectedAtMs: number;
}

/**
 * Draws a connection that is removed and connected again under another name, and the times of both actions. The
 * connection has no SCIM client, and its company has no other connection.
 * @returns undefined if the run has no such connection
 */
export function drawReturn(random: Random, towns: readonly Town[], endMs: number): Return | undefined {
  if (!random.chance(RETURNS)) return undefined;
  const isAlone = ({ company, name }: Town) =>
    towns.every((one) => one.name === name || one.company !== company);
  const town = towns.find((one) => isAlone(one) && !one.hasScim);
  if (town === undefined) return undefined;
  const removedAtMs = between(random, Math.floor(endMs / 4), Math.floor(endMs / 2));
  const latestMs = Math.min(DAY_MS, Math.floor(endMs / 4));
  return { town, removedAtMs, connectedAtMs: removedAtMs + between(random, MINUTE_MS, latestMs) };
}

/**
 * Returns the happenings of a run in which the connection is removed and connected again. The function adds the removal
 * and the new connection. Five minutes later, it adds an export of all profiles and groups to the new connection. The
 * happenings of the directory and of operators for this connection change as in the table. All other happenings stay.
 *
 *     a happening of this connection                            | result
 *     ----------------------------------------------------------|--------------------------
 *     connects or removes the connection, at any time           | removed
 *     before the removal                                        | unchanged
 *     from the removal until one hour after the new connection  | removed
 *     later than this hour                                      | moved to the new connection
 *
 * The export contains the changes of the directory until one hour after the creation of the new connection.
 */
export function withReturn(
  happenings: readonly Happening[],
  { town, ...times }: Return,
): readonly Happening[] {
  const { name, company } = town;
  const { removedAtMs, connectedAtMs } = times;
  const again = returnedName(name);
  const isMoved = ({ connection, actor }: Happening) =>
    connection === name && (actor === 'directory' || actor === 'operator');
  const isFarewell = ({ action }: Happening) =>
    action.kind === 'remove_connection' ||
    action.kind === 'connect' ||
    (action.kind === 'set' && action.key === 'fourEyes');
  const moved = happenings.flatMap((one): readonly Happening[] => {
    if (!isMoved(one)) return [one];
    if (isFarewell(one)) return [];
    if (one.atMs < removedAtMs) return [one];
    return one.atMs < connectedAtMs + HOUR_MS ? [] : [{ ...one, connection: again }];
  });
  const exported = happenings.filter((one) => isMoved(one) && one.atMs < connectedAtMs + HOUR_MS);
  const { event, operator } = actsOf(again);
  return [
    ...moved,
    actsOf(name).operator(removedAtMs, { kind: 'remove_connection' }),
    operator(connectedAtMs, { kind: 'connect', company }),
    ...exportOf(exported).map((action, at) => event(connectedAtMs + 5 * MINUTE_MS + at * 1_000, action)),
  ];
}

/** Returns actions that export the state of the directory: the profiles, and then a snapshot of each group. */
function exportOf(happenings: readonly Happening[]): readonly DirectoryAction[] {
  const received = happenings.flatMap((one): readonly Received[] =>
    one.actor === 'directory' ? receivedAt(one.atMs, messagesOf(one, one.atMs)) : [],
  );
  const { groups, emails, numbers } = readAll(received);
  const profiled = [...new Set([...emails.keys(), ...numbers.keys()])].filter((one) => /^[hn]/.test(one));
  return [
    ...profiled.map((member): DirectoryAction => {
      const [email, number] = [emails.get(member), numbers.get(member)];
      return { kind: 'profile', member, ...(email && { email }), ...(number && { number }) };
    }),
    ...[...groups].map(([group, { name = null, members }]): DirectoryAction => {
      return { kind: 'snapshot', group, name, members: [...members], parts: 1 };
    }),
  ];
}

const receivedAt = (atMs: number, messages: readonly OutgoingMessage[]): readonly Received[] =>
  messages.flatMap(({ events }) =>
    events.map(({ order: { time, id = '', sequence, source }, ...directoryEvent }) => {
      const instant = instantOf(time ?? new Date(atMs).toISOString());
      return { directoryEvent, instant, sequence: BigInt(sequence ?? -1), id, source, arrivedAtMs: atMs };
    }),
  );
