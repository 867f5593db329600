import * as z from 'zod';
import { type Frozen, groupText, number, text } from './forms.ts';

/** What the reader of a directory knows of one group. Times are milliseconds since 1970. */
export const ReaderGroup = z.lazy(() =>
  z.object({
    group: groupText,
    /** Reports of changes may name the group by it. */
    address: text,
    /** As the directory last showed it. */
    name: text.exactOptional(),
    /** When it is read next. */
    dueMs: number,
    /** The last whole read. */
    readMs: number.exactOptional(),
    /** The first of the reads that agree with desired state, since the last one that did not. */
    agreedMs: number.exactOptional(),
    /** The latest change that the directory reported. */
    reportedMs: number.exactOptional(),
    /** When the directory reported that the group was deleted. */
    deletedMs: number.exactOptional(),
    /** Time of the last stamp that was sent for it. */
    sentMs: number.exactOptional(),
    /** Reads of the last hour that listed fewer users than the directory counts. */
    shortMs: z.array(number).exactOptional(),
    /** The first read that found no member where there had been some. */
    emptyMs: number.exactOptional(),
    /** The first answer that there is no such group. */
    missingMs: number.exactOptional(),
    /** The groups below it, as of the last whole read. */
    below: z.array(groupText).exactOptional(),
    /**
     * Another source owns the group: the reader compares it. It has the id of this group, or another id and the same name.
     */
    other: groupText.exactOptional(),
    /** How the group of the other source differed from the last whole read. */
    differs: z.object({ added: number, removed: number, isNamed: z.boolean() }).exactOptional(),
    /** Since when no read has ended and was used. */
    failingMs: number.exactOptional(),
    /** Why the last read did not end, or is not used. */
    problem: text.exactOptional(),
  }),
);
export type ReaderGroup = Frozen<z.infer<typeof ReaderGroup>>;
