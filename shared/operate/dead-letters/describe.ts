import type { ShownLetter } from '../../contract/answers.ts';
import type { ConnectionName } from '../../domain/ids.ts';
import { readStamp } from '../../domain/stamp.ts';
import type { ConnectionStore } from '../../sync/ports/connections.ts';
import type { GroupStore } from '../../sync/ports/groups.ts';
import type { Letter } from './letter.ts';
import { missingConnections, standingOf } from './standing.ts';
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
