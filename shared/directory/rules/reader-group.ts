import * as z from 'zod';
import { type Frozen, groupText, number, text } from '../../domain/forms.ts';

/** The stored state of one group in the directory reader. Times are milliseconds since 1970. */
export const ReaderGroup = z.lazy(() =>
  z.object({
    group: groupText,
    /** The address of the group. A report of a change may name the group by its address. */
    address: text,
    name: text.exactOptional(),
    /**
     * The number of direct members that are users, at the last read. This is the directory's own count. If the count
     * was not read, it is the number of listed users.
     */
    counted: number.exactOptional(),
    /** Whether the next read must also request the name, the address and the number of members. */
    needsFacts: z.boolean().exactOptional(),
    dueMs: number,
    /** The time of the last complete read. */
    readMs: number.exactOptional(),
    /** The time since which no read has found a difference. A read with a difference removes this time. */
    agreedMs: number.exactOptional(),
    reportedMs: number.exactOptional(),
    deletedMs: number.exactOptional(),
    sentMs: number.exactOptional(),
    /** The times of the reads within the last hour that listed fewer users than the directory counts. */
    shortMs: z.array(number).exactOptional(),
    /** A list that would remove members and needs a second read: a hash of its users, and the time of the first read. */
    unconfirmed: z.object({ content: text, sinceMs: number }).exactOptional(),
    /** The latest lists that are not short, each with another content than the list before. */
    answers: z.array(z.object({ content: text, atMs: number })).exactOptional(),
    /** The time at which the directory first answered that the group does not exist. */
    missingMs: number.exactOptional(),
    /** The nested groups of this group in the last complete read. */
    below: z.array(groupText).exactOptional(),
    /** The addresses of the nested groups. A report may name a group by its address alone. */
    belowAddresses: z.array(text).exactOptional(),
    /**
     * The memberships that the latest reports contain, in this group or in a nested group. `member` is a digest of an
     * id or an address, because only the item of a person may store an address.
     */
    named: z
      .array(
        z.object({
          group: groupText,
          member: text,
          isMember: z.boolean(),
          isGroup: z.boolean().exactOptional(),
          atMs: number,
        }),
      )
      .exactOptional(),
    /**
     * Set if another source owns this group: the id of the group of that source. The two groups have the same id or the
     * same name. The reader then only compares the two groups, except with `corrects` and the same id.
     */
    other: groupText.exactOptional(),
    /** For a group with `other`: the difference between the last complete read and the group of the other source. */
    differs: z.object({ added: number, removed: number, isNamed: z.boolean() }).exactOptional(),
    /** The time since which every read has failed or could not be used. A usable read removes this time. */
    failingMs: number.exactOptional(),
    /** The reason why the last read failed or could not be used. */
    problem: text.exactOptional(),
  }),
);
export type ReaderGroup = Frozen<z.infer<typeof ReaderGroup>>;
export type NamedMembership = NonNullable<ReaderGroup['named']>[number];
