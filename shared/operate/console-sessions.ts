import { roleFor } from '../contract/console.ts';
import type { ConnectionName } from '../domain/ids.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';
import type { FoundSession } from '../sync/ports/console-sessions.ts';
import { doRecorded, type JournalPorts, journalOf } from './journal.ts';

type SessionPorts = Pick<ToolPorts, 'sessions' | 'clock'>;

/** The first digits of a session's hash are its id. This id does not give access to the session. */
const ID_LENGTH = 12;
const idOf = ({ hash }: FoundSession): string => hash.slice(0, ID_LENGTH);

export async function listSessions(connection: ConnectionName, ports: SessionPorts) {
  return (await sessionsOf(connection, ports)).map(({ session, role }) => ({
    id: idOf(session),
    person: session.person,
    role,
    since: new Date(session.sinceMs).toISOString(),
    expiresAt: new Date(session.expiresMs).toISOString(),
  }));
}

async function sessionsOf(connection: ConnectionName, { sessions, clock }: SessionPorts) {
  const found = (await sessions.list()).flatMap((session) => {
    const role = roleFor(session, connection);
    return role === undefined || session.expiresMs <= clock() ? [] : [{ session, role }];
  });
  return found.sort((a, b) => b.session.sinceMs - a.session.sinceMs);
}

/**
 * Ends sessions of people who have a role for the connection. A session ends for all connections.
 * @param whose the id of a session, or a person whose sessions all end
 * @returns the number of ended sessions
 */
export async function endSessions(
  connection: ConnectionName,
  whose: string,
  ports: SessionPorts & JournalPorts,
): Promise<number> {
  const found = await sessionsOf(connection, ports);
  const ended = found.filter(({ session }) => session.person === whose || idOf(session) === whose);
  if (ended.length === 0) return 0;
  const changes = ended.map(({ session, role }) => ({
    kind: 'end_session',
    before: session.person,
    after: null,
    reason: role,
  }));
  await doRecorded(journalOf(connection), { action: 'console_sessions_end', changes }, ports, async () => {
    await Promise.all(ended.map(({ session }) => ports.sessions.end(session.hash)));
    return true;
  });
  return ended.length;
}
