import * as z from 'zod';
import { type Frozen, number, text } from './forms.ts';
import { readStamp, type Stamp } from './stamp.ts';

/** The sources of directory changes. `directory` is the reader of the directory's API. */
export const SOURCES = ['events', 'scim', 'directory'] as const;
export type Source = (typeof SOURCES)[number];

/** The prefix of the event source of groupsync's own events: from its reader, an import, or an edited message. */
const OWN_SOURCES = 'groupsync/';

/**
 * The source of every event that a reader sends; part of the stamp. An event with this source is accepted only from the
 * queue of the reader.
 */
export const READER_SOURCE = 'groupsync/directory';

/** The source of the changes of SCIM clients; part of the stamp. */
export const SCIM_SOURCE = 'scim';

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
    /** The time at which data last arrived. The stored time may be up to a minute too early. */
    receivedMs: number.exactOptional(),
    /** Set if no data has arrived yet: the time since which the first data is expected. */
    awaitedMs: number.exactOptional(),
    /** The interval between two runs, for a source that groupsync itself runs. */
    everyMinutes: number.exactOptional(),
    /** For the reader: why it has stopped, and since when. */
    stopped: z.object({ sinceMs: number, reason: text }).exactOptional(),
    /** For the reader: the number of groups for which the directory keeps listing fewer members than it counts. */
    shortGroups: number.exactOptional(),
  }),
);
export type SourceState = Frozen<z.infer<typeof SourceState>>;

/** The findings of the last run of the reader. */
export type ReaderHealth = Pick<SourceState, 'stopped' | 'shortGroups'>;

export const readerHealthOf = (states: readonly SourceState[]): ReaderHealth =>
  states.find(({ source }) => source === 'directory') ?? {};
