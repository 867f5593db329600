import * as z from 'zod';
import { type Frozen, number, text, texts } from './forms.ts';
import { readStamp, type Stamp } from './stamp.ts';

/** The sources of directory changes. `directory` is the reader of the directory's API. */
export const SOURCES = ['events', 'scim', 'directory'] as const;
export type Source = (typeof SOURCES)[number];

/** The prefix of groupsync's own event sources: the reader, an import, or an edited message. */
const OWN_SOURCES = 'groupsync/';

/** The source of the reader's events, in their stamps. Ingest accepts it only from the reader's queue. */
export const READER_SOURCE = 'groupsync/directory';

export const SCIM_SOURCE = 'scim';

/** The source of the events of each import from a file, and of each undo. */
export const IMPORT_SOURCE = 'groupsync/import';
export const UNDO_SOURCE = 'groupsync/undo';

export const isOfUndo = (stamp: Stamp): boolean => readStamp(stamp)?.source === UNDO_SOURCE;

export function sourceOf(stamp: Stamp): Source {
  const source = readStamp(stamp)?.source;
  if (source === READER_SOURCE) return 'directory';
  return source === SCIM_SOURCE ? 'scim' : 'events';
}

export const isOwnSource = (source: string): boolean => source.startsWith(OWN_SOURCES);

/** The stored state of one source of a connection. Times are milliseconds since 1970. */
export const SourceState = z.lazy(() =>
  z.object({
    source: z.enum(SOURCES),
    /** The time at which data last arrived. The stored time may be up to a minute before the real time. */
    receivedMs: number.exactOptional(),
    /** Set if no data has arrived yet: the time from which the first data was expected. */
    awaitedMs: number.exactOptional(),
    /** The interval between two runs, for a source that groupsync itself runs. */
    everyMinutes: number.exactOptional(),
    /** For the reader: the reason and the time of its stop, if it has stopped. */
    stopped: z.object({ sinceMs: number, reason: text }).exactOptional(),
    /** For the reader: the number of groups that it has failed to read completely for some time. */
    shortGroups: number.exactOptional(),
    /** For the reader: the first groups whose list flips between two answers, with the times of both answers. */
    flips: texts.exactOptional(),
  }),
);
export type SourceState = Frozen<z.infer<typeof SourceState>>;

/** The findings of the last run of the reader. */
export type ReaderHealth = Pick<SourceState, 'stopped' | 'shortGroups' | 'flips'>;

export const readerHealthOf = (states: readonly SourceState[]): ReaderHealth =>
  states.find(({ source }) => source === 'directory') ?? {};
