import * as z from 'zod';
import { type Frozen, number, text } from './forms.ts';
import { readStamp, type Stamp } from './stamp.ts';

/** The sources of directory changes. `directory` is the reader of the directory's API. */
export const SOURCES = ['events', 'scim', 'directory'] as const;
export type Source = (typeof SOURCES)[number];

/** The prefix of the event source of groupsync's own events: from its reader, an import, or an edited message. */
const OWN_SOURCES = 'groupsync/';

/** The source of every event that a reader sends; part of the stamp. Only the queue of the reader may carry it. */
export const READER_SOURCE = 'groupsync/directory';

/** The source of the changes of SCIM clients; part of the stamp. */
export const SCIM_SOURCE = 'scim';

/** Returns the source of a value with this stamp. */
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
    /** The time of the last receipt. The time may be up to a minute out of date. */
    receivedMs: number.exactOptional(),
    /** The time since which a first receipt is expected. */
    awaitedMs: number.exactOptional(),
    /** The interval of the source, if groupsync itself schedules it. */
    everyMinutes: number.exactOptional(),
    /** For the reader: the reason why it has stopped, and the time since which it has been stopped. */
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
