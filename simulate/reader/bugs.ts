import type { Directory } from '../../shared/directory/ports.ts';
import { contentDigest } from '../../shared/directory/reading/key-digest.ts';
import { at, type Bug } from '../seeding.ts';

const DAY_MS = 86_400_000;

const atDirectory = (change: (directory: Directory) => Partial<Directory>) =>
  at('directories', (directories) => ({
    open: async (connection) => {
      const directory = await directories.open(connection);
      return { ...directory, ...change(directory) };
    },
  }));

/** Bugs of the reader. A run can show these bugs only if it has a connection with a reader. */
export const READER_BUGS: Readonly<Record<string, Bug>> = {
  short_lists_believed: [
    'the reader treats a list of members that ends too early as complete',
    atDirectory((directory) => ({
      group: async (key) => {
        const found = await directory.group(key);
        return found && { ...found, userCount: 0 };
      },
      async *groups() {
        for await (const { items, asOfMs } of directory.groups()) {
          yield { items: items.map((one) => ({ ...one, userCount: 0 })), asOfMs };
        }
      },
    })),
    '"directoryFault":"ends_early"',
  ],
  missing_is_deleted: [
    'the reader deletes a group after a single 404 of the directory',
    at('reader', (reader) => ({
      putGroup: (connection, group, lease) => {
        const { missingMs } = group;
        const stored = missingMs === undefined ? group : { ...group, deletedMs: missingMs };
        return reader.putGroup(connection, stored, lease);
      },
    })),
    '"directoryFault":"hides_group"',
  ],
  empty_is_believed: [
    'the reader empties a group after one read that shows no member',
    at('reader', (reader) => ({
      groups: async (connection) =>
        (await reader.groups(connection)).map((group) => ({
          ...group,
          unconfirmed: { content: contentDigest([]), sinceMs: 1 },
        })),
    })),
    '"directoryFault":"shows_no_members"',
  ],
  pushes_are_stored: [
    'ingest stores an event of another source about a group that the reader owns',
    at('reader', (_, __, actor) => (actor === 'ingest' ? { owned: async () => new Map() } : {})),
    '"connection":"d","actor":"directory"',
  ],
  agrees_once: [
    'the reader does not repeat the read of a changed group before the next day',
    at('reader', (reader) => ({
      putGroup: (connection, group, lease) => {
        const stored = group.agreedMs === undefined ? group : { ...group, dueMs: group.dueMs + DAY_MS };
        return reader.putGroup(connection, stored, lease);
      },
    })),
    '"lostLogEntries":0[,}]',
  ],
};
