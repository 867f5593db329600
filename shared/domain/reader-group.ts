import * as z from 'zod';
import { type Frozen, groupText, number, text } from './forms.ts';

/** The stored state of one group in the directory reader. Times are milliseconds since 1970. */
export const ReaderGroup = z.lazy(() =>
  z.object({
    group: groupText,
    /** The address of the group. Reports of changes may name the group by the address. */
    address: text,
    /** The name that the directory last showed. */
    name: text.exactOptional(),
    /** The number of direct members that are users, as the directory counted or listed them at the last read. */
    counted: number.exactOptional(),
    /** Whether the next read asks for the name, the address and the number of members too. */
    needsFacts: z.boolean().exactOptional(),
    /** The time of the next read. */
    dueMs: number,
    /** The time of the last whole read. */
    readMs: number.exactOptional(),
    /** The time of the first read that agrees with desired state, since the last read that did not agree. */
    agreedMs: number.exactOptional(),
    /** The time of the latest change that the directory reported. */
    reportedMs: number.exactOptional(),
    /** The time at which the directory reported that the group was deleted. */
    deletedMs: number.exactOptional(),
    /** The time of the last stamp that was sent for the group. */
    sentMs: number.exactOptional(),
    /** The times of the reads of the last hour that listed fewer users than the directory counts. */
    shortMs: z.array(number).exactOptional(),
    /** The time of the first read that found no member after earlier reads had found some. */
    emptyMs: number.exactOptional(),
    /** The time of the first answer that there is no such group. */
    missingMs: number.exactOptional(),
    /** The groups below this group in the last whole read. */
    below: z.array(groupText).exactOptional(),
    /** The addresses of the groups below, if the directory has addresses. A report may name a group only by its address. */
    belowAddresses: z.array(text).exactOptional(),
    /**
     * The memberships that the latest reports have named, in this group or a nested group. `member` is a digest of an
     * id or an address, because addresses are stored only with the person.
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
     * The group of another source that owns this group. The reader only compares the two. The other group has the same
     * id, or another id and the same name.
     */
    other: groupText.exactOptional(),
    /** The difference between the group of the other source and the last whole read. */
    differs: z.object({ added: number, removed: number, isNamed: z.boolean() }).exactOptional(),
    /** The time of the first failed or unused read, if no later read was used. */
    failingMs: number.exactOptional(),
    /** The reason why the last read failed or was not used. */
    problem: text.exactOptional(),
  }),
);
export type ReaderGroup = Frozen<z.infer<typeof ReaderGroup>>;
export type NamedMembership = NonNullable<ReaderGroup['named']>[number];
