import * as z from 'zod';
import { type Frozen, text } from './forms.ts';
import type { GivenFields } from './group-fields.ts';
import type { ConnectionName, GroupId, MemberId } from './ids.ts';
import type { Stamp } from './stamp.ts';

/** A member in an event: the directory's id of the person, and attributes that match rules may use. */
export interface Member {
  readonly id: MemberId;
  /** String attributes (`email`, `userName`, …). A stored attribute that is missing here keeps its value. */
  readonly attributes: ReadonlyMap<string, string>;
}

/** One part of a snapshot that is too large for one message. The snapshot takes effect when all parts have arrived. */
export interface SnapshotPart {
  readonly snapshotId: string;
  readonly index: number;
  readonly count: number;
}

/** A change from the directory. A field that is missing in the event keeps its stored value. */
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

export function membersIn(change: DirectoryChange): readonly MemberId[] {
  if ('members' in change) return change.members.map(({ id }) => id);
  if (change.kind === 'user.upserted') return [change.user.id];
  return change.kind === 'user.deleted' ? [change.user] : [];
}

/** The actor that the directory names, or the token of a SCIM client. This is personal data: never log it. */
export const EventActor = z.lazy(() =>
  z.object({
    kind: z.enum(['directory', 'scim']),
    id: text,
    name: text.exactOptional(),
    /** The operator who sent the event. The operator is recorded even if the event itself names an actor. */
    by: text.exactOptional(),
  }),
);
export type EventActor = Frozen<z.infer<typeof EventActor>>;

export interface DirectoryEvent {
  readonly connection: ConnectionName;
  /** The id of the event, for the audit and `explain`. Only `stamp`, which also contains this id, orders events. */
  readonly id: string;
  readonly source: string;
  readonly stamp: Stamp;
  readonly actor?: EventActor;
  readonly change: DirectoryChange;
}
