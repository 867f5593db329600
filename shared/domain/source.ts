import * as z from 'zod';
import { type Frozen, number, text } from './forms.ts';

/** Where changes of a company's directory come from. `directory`: the reader of the directory's API. */
export const SOURCES = ['events', 'scim', 'directory'] as const;
export type Source = (typeof SOURCES)[number];

/** Events whose source begins with this were sent by groupsync itself: its reader, an import, an edited message. */
const OWN_SOURCES = 'groupsync/';

export const isOwnSource = (source: string): boolean => source.startsWith(OWN_SOURCES);

/** What is stored of one source of a connection. Times are milliseconds since 1970. */
export const SourceState = z.lazy(() =>
  z.object({
    source: z.enum(SOURCES),
    /** The last receipt, up to a minute old. */
    receivedMs: number.exactOptional(),
    /** Since when a first receipt is expected. */
    awaitedMs: number.exactOptional(),
    /** How often the source is scheduled, if groupsync itself schedules it. */
    everyMinutes: number.exactOptional(),
    /** Of the reader: why it does not read, and since when. */
    stopped: z.object({ sinceMs: number, reason: text }).exactOptional(),
    /** Of the reader: groups of which the directory keeps listing fewer members than it counts. */
    shortGroups: number.exactOptional(),
  }),
);
export type SourceState = Frozen<z.infer<typeof SourceState>>;

/** What the last run of the reader found. */
export type ReaderHealth = Pick<SourceState, 'stopped' | 'shortGroups'>;

export const readerHealthOf = (states: readonly SourceState[]): ReaderHealth =>
  states.find(({ source }) => source === 'directory') ?? {};
