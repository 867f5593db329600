import { SESSIONS_PARTITION } from '../contract/topology.ts';
import { ConsoleSession, type FoundSession } from '../sync/ports/console-sessions.ts';
import { OF_THIS_SCHEMA, understood } from './item-form.ts';
import { itemsOf, type Key, type Table } from './table.ts';

/**
 * All sessions are in one partition, so a query lists them. The partition stays small, because people sign in rarely.
 */
const keyOf = (hash: string): Key => ({ pk: SESSIONS_PARTITION, sk: hash });

/** Stores the sessions of people who signed in to the console. DynamoDB deletes expired sessions. */
export function createConsoleSessionStore(table: Table) {
  return {
    async add(hash: string, session: ConsoleSession): Promise<void> {
      const expiresAt = Math.ceil(session.expiresMs / 1_000);
      await table.put({ ...keyOf(hash), ...OF_THIS_SCHEMA, ...session, expiresAt });
    },

    /** Returns the session, even if it has expired. */
    async find(hash: string): Promise<ConsoleSession | undefined> {
      const item = await table.get(keyOf(hash));
      return item === undefined ? undefined : understood(ConsoleSession, item, 'a session of the console');
    },

    async end(hash: string): Promise<void> {
      await table.delete(keyOf(hash));
    },

    /** Returns all sessions, including expired sessions. */
    async list(): Promise<readonly FoundSession[]> {
      const items = await itemsOf(table, { partition: SESSIONS_PARTITION });
      return items.map((item) => ({
        ...understood(ConsoleSession, item, 'a session of the console'),
        hash: item.sk,
      }));
    },
  };
}
