import type { ShownLetter, StandingNow } from '../../contract/answers.ts';
import { type ConnectionName, type GroupRef, groupId } from '../../domain/ids.ts';
import { readStamp } from '../../domain/stamp.ts';
import type { ToolPorts } from '../../sync/ports/bundles.ts';
import type { ConnectionStore } from '../../sync/ports/connections.ts';
import type { GroupStore } from '../../sync/ports/groups.ts';
import { stateName } from '../report.ts';
import type { Letter } from './letter.ts';
import { isSuperseded, type StandingPorts } from './superseded.ts';

export interface DescribePorts extends StandingPorts {
  readonly groups: StandingPorts['groups'] & Pick<GroupStore, 'readMany'>;
  readonly connections: ConnectionStore;
}

/** All that can be said of a letter, and the connections that it names in vain. */
export async function describeLetter(
  letter: Letter,
  ports: DescribePorts,
): Promise<{ readonly document: ShownLetter; readonly missing: readonly ConnectionName[] }> {
  const { message, queue, events } = letter;
  const missing = await missingConnections(letter, ports);
  const decoded = events.map(({ connection, source, stamp, id: eventId, change }) => ({
    id: eventId,
    source,
    connection,
    time: readStamp(stamp)?.time ?? null,
    kind: change.kind,
    group: 'group' in change ? change.group : null,
    members: 'members' in change ? change.members.map(({ id: member }) => member) : [],
  }));
  const document: ShownLetter = {
    id: message.id,
    queue,
    code: message.code,
    message: message.message,
    failedAt: new Date(message.failedAtMs).toISOString(),
    firstFailedAt: new Date(message.firstFailedAtMs).toISOString(),
    failures: message.failures,
    connection: message.connection ?? null,
    superseded: await isSuperseded(letter, ports),
    problems: [
      ...letter.problems,
      ...missing.map((name) => `unknown_connection: there is no connection ${name}`),
    ],
    events: decoded,
    now: await standingOf(letter, ports),
    body: message.body,
  };
  return { document, missing };
}

/** The groups that a letter names, as they are now; those that nobody knows are left out. */
export async function standingOf(
  letter: Letter,
  { groups }: { readonly groups: Pick<GroupStore, 'readMany'> },
): Promise<readonly StandingNow[]> {
  const refs = new Map<string, GroupRef>();
  if (letter.ref !== undefined) refs.set(letter.ref.group, letter.ref);
  for (const { connection, change } of letter.events) {
    if ('group' in change) refs.set(change.group, { connection, group: groupId(change.group) });
  }
  const states = await groups.readMany([...refs.values()]);
  return states.map((state) => ({
    group: state.ref.group,
    state: stateName(state),
    wanted: state.counts?.wanted ?? 0,
    platformId: state.platformId ?? null,
    version: state.version ?? null,
    users: state.view?.size ?? 0,
    lastError: state.lastError?.message ?? null,
  }));
}

export type RefusalPorts = Pick<ToolPorts, 'connections'>;

/** Why ingest would refuse the letter again if it were sent now; null where it would not. */
export async function refusalOf(letter: Letter, ports: RefusalPorts): Promise<string | null> {
  const [problem] = letter.problems;
  if (problem !== undefined) return problem;
  const [missing] = await missingConnections(letter, ports);
  return missing === undefined ? null : `unknown_connection: there is no connection ${missing}`;
}

/** Connections that the letter's events name and that do not exist: ingest would refuse it for them again. */
export async function missingConnections(
  { events }: Pick<Letter, 'events'>,
  { connections }: RefusalPorts,
): Promise<readonly ConnectionName[]> {
  const missing: ConnectionName[] = [];
  for (const name of new Set(events.map(({ connection }) => connection))) {
    if ((await connections.find(name)) === undefined) missing.push(name);
  }
  return missing;
}
