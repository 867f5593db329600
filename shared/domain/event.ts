import * as z from 'zod';
import { type Frozen, text } from './forms.ts';
import type { GivenFields } from './group-fields.ts';
import type { ConnectionName, GroupId, MemberId } from './ids.ts';
import type { Stamp } from './stamp.ts';

/** A member as an event names the member: the directory's id, and attributes that match rules may use. */
export interface Member {
  readonly id: MemberId;
  /** String attributes only (`email`, `userName`, `employeeNumber`, …). A missing attribute changes nothing. */
  readonly attributes: ReadonlyMap<string, string>;
}

/** One part of a snapshot that is too large for one message. The parts count only together. */
export interface SnapshotPart {
  readonly snapshotId: string;
  readonly index: number;
  readonly count: number;
}

/** A change from the directory. A field that an event does not give keeps its value. */
export type DirectoryChange =
  | (GivenFields & { readonly kind: 'group.upserted'; readonly group: GroupId; readonly name: string })
  | { readonly kind: 'group.deleted'; readonly group: GroupId }
  | (GivenFields & {
      readonly kind: 'group.snapshot';
      readonly group: GroupId;
      readonly members: readonly Member[];
      readonly part?: SnapshotPart;
    })
  | { readonly kind: 'member.added'; readonly group: GroupId; readonly members: readonly Member[] }
  | { readonly kind: 'member.removed'; readonly group: GroupId; readonly members: readonly Member[] }
  | { readonly kind: 'user.upserted'; readonly user: Member }
  | { readonly kind: 'user.deleted'; readonly user: MemberId };

/**
 * The actor that the directory names, or the token of a SCIM client. The actor is personal data, so it never goes to a
 * log.
 */
export const EventActor = z.lazy(() =>
  z.object({
    kind: z.enum(['directory', 'scim']),
    id: text,
    name: text.exactOptional(),
    /** The operator who sent the event. This operator is recorded even if the event names another actor. */
    by: text.exactOptional(),
  }),
);
export type EventActor = Frozen<z.infer<typeof EventActor>>;

/** One event of the directory, with its place in the order of all events. */
export interface DirectoryEvent {
  readonly connection: ConnectionName;
  /**
   * The event's id from its producer. The audit and `explain` use the id. The order of events uses the stamp instead.
   */
  readonly id: string;
  readonly source: string;
  readonly stamp: Stamp;
  readonly actor?: EventActor;
  readonly change: DirectoryChange;
}
