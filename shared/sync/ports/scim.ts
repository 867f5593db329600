import * as z from 'zod';
import { connectionText, type Frozen, number, stampText, text } from '../../domain/forms.ts';
import type { MemberRegister } from '../../domain/group.ts';
import type { ConnectionName, GroupId, GroupRef } from '../../domain/ids.ts';
import { STAMP_ZERO, type Stamp } from '../../domain/stamp.ts';
import type { TypeName, UNIQUE_ATTRIBUTE } from '../../scim/resource-type.ts';
import type { ScimObject } from '../../scim/value.ts';

const HeldList = z.lazy(() =>
  z.object({
    /** The first and the last stamp that the revision of the write can have. */
    first: stampText,
    last: stampText,
    /** Where the list before and the list after are stored. */
    chunks: number,
    hash: text,
  }),
);
/** A whole list of members that is being written, and the list before it. */
export type HeldList = Frozen<z.infer<typeof HeldList>>;

/** A user or group as its SCIM client made it. A group's members are not here but in its registers. */
export const ScimResource = z.lazy(() =>
  z
    .object({
      type: z.enum(['User', 'Group']),
      /** Ours, opaque; also the id of the group or member in desired state. Ids sort by when they were made. */
      id: text,
      /** Under their canonical names, without `id`, `schemas`, `meta` and `members`. */
      attributes: z.record(text, z.unknown()).transform((attributes) => attributes as ScimObject),
      /** Raised by each request that writes, whether or not it changes anything: the sequence of the stamps it makes. */
      revision: number,
      /** Stored: revisions since the last one that changed something; one that does so need not know its own number. */
      idle: number,
      createdMs: number,
      /** Of the revision; never goes back, whatever the clocks of the servers say: the time of the stamps that it makes. */
      modifiedMs: number,
      /** Of the version. */
      changedMs: number,
      /** `deleting`: deleted for its client, while registers and index entries are still to follow. */
      state: z.enum(['live', 'deleting']),
      /** Stored: registers have not followed this revision yet. */
      open: z.literal(true).optional(),
      /** For a group: open writes of members by id, with the time at which each began. */
      writes: z
        .record(text, number)
        .default({})
        .transform((writes): ReadonlyMap<string, number> => new Map(Object.entries(writes))),
      /** For a group: whole lists that are being written while readers still see the list before them, by write. */
      replacements: z
        .record(text, HeldList)
        .default({})
        .transform((lists): ReadonlyMap<string, HeldList> => new Map(Object.entries(lists))),
      /** For a group: the stamp of the latest whole list of members whose write has ended. */
      listedAt: stampText.default(STAMP_ZERO),
    })
    .transform(({ open, idle, ...resource }) => ({
      ...resource,
      /** The revision that last changed something: the entity tag. None comes twice, since revisions do not. */
      version: resource.revision - idle,
      /** The registers have this revision. After a crash in between it is false until the next access repairs it. */
      settled: open === undefined,
    })),
);
export type ScimResource = Readonly<z.infer<typeof ScimResource>>;

/** A value by which resources of one type are found; folded by the caller where case does not matter. */
export interface IndexedValue {
  readonly type: TypeName;
  readonly attribute: (typeof UNIQUE_ATTRIBUTE)[TypeName] | 'externalId' | 'emails' | 'employeeNumber';
  readonly value: string;
}

/** Ids of one type, ascending: of those that are live, and of those whose deletion a crash may have left undone. */
export interface ScimOrder {
  readonly ids: readonly string[];
  readonly deleting: readonly string[];
}

/** One that was removed. */
export type OrderChange = Pick<ScimResource, 'type' | 'id'>;

/** How `ScimStore.advance` makes the next revision. */
export interface Advance {
  readonly nowMs: number;
  readonly isChange: boolean;
  /** Only from this revision. */
  readonly seen?: number | undefined;
  /** Id of the write of members that begins with this revision. */
  readonly begins?: string | undefined;
  /** Ids of writes that did not record their end, because their process died. If they are many, some of them stay. */
  readonly forgets?: readonly string[] | undefined;
}

/** Both lists of a whole list that is being written. */
export interface ListToHold extends Pick<HeldList, 'first' | 'last'> {
  readonly before: readonly string[];
  readonly after: ReadonlySet<string>;
}

/** A write of members that has ended. */
export interface EndedWrite {
  readonly id: string;
  /** Ids of earlier writes that can have no effect any more. If they are many, some of them stay. */
  readonly supersedes: readonly string[];
  /** For a whole list: its stamp. */
  readonly listedAt?: Stamp | undefined;
}

/** SCIM resources and what finds them. Each write is one conditional write of one item; reads are consistent. */
export interface ScimStore {
  read(connection: ConnectionName, type: TypeName, ids: readonly string[]): Promise<readonly ScimResource[]>;
  /**
   * The names of live resources, by id, for responses that list them as members. A name that another process changed may
   * be up to a minute old.
   */
  describe(
    connection: ConnectionName,
    type: TypeName,
    ids: readonly string[],
    nowMs: number,
  ): Promise<ReadonlyMap<string, string>>;
  /** All of a type, or of these ids and between them, those that are being deleted included, in the order of their ids, in pages. */
  list(
    connection: ConnectionName,
    type: TypeName,
    between?: readonly [string, string],
  ): AsyncIterable<readonly ScimResource[]>;
  /** Which there are, for a minute without reading them all again while no other process removed one. */
  order(connection: ConnectionName, type: TypeName, nowMs: number): Promise<ScimOrder>;
  /** Makes a removal known to all processes, before its client gets an answer; a crash may come in between. */
  noteOrder(connection: ConnectionName, change: OrderChange): Promise<void>;
  /**
   * Replaces `seen` (undefined for a new resource); false if it has changed since. Writes of members that only `resource`
   * names begin with this write; those that only `seen` names are removed. If they are many, some of them stay.
   */
  save(connection: ConnectionName, resource: ScimResource, seen: ScimResource | undefined): Promise<boolean>;
  /**
   * Blocks an id under which nothing is stored, so that a request that has not saved its new resource yet cannot save it any
   * more. A resource of revision 0 that is being deleted is stored there, dated later than everything that such a request can write.
   * @returns it, or undefined if something is stored there
   */
  block(
    connection: ConnectionName,
    target: { readonly type: TypeName; readonly id: string },
    nowMs: number,
  ): Promise<ScimResource | undefined>;
  /**
   * The next revision of a live resource whose attributes stay as they are, in one write and without a read before it.
   * Its next version too, unless nothing else of it changes either.
   * @returns undefined if there is none, where its time is later than `nowMs`, or where it is not that of `seen` any more
   */
  advance(
    connection: ConnectionName,
    target: { readonly type: TypeName; readonly id: string },
    to: Advance,
  ): Promise<ScimResource | undefined>;
  /** Notes that registers have followed, unless the resource has changed again. */
  settle(connection: ConnectionName, resource: ScimResource): Promise<void>;
  /** Ends a write of a group's members: registers have followed. Also does what `settle` does. */
  endWrite(connection: ConnectionName, resource: ScimResource, ended: EndedWrite): Promise<void>;
  remove(connection: ConnectionName, resource: ScimResource): Promise<void>;
  /** Stores the list that readers see until the write ends, and the list after it. No effect if the write has ended. */
  holdList(ref: GroupRef, write: string, list: ListToHold): Promise<HeldList>;
  /** undefined if the write has ended meanwhile. */
  heldList(
    ref: GroupRef,
    write: string,
    held: HeldList,
  ): Promise<Pick<ListToHold, 'before' | 'after'> | undefined>;
  /** Deletes the lists of a write that has ended. */
  dropList(ref: GroupRef, write: string, held: HeldList): Promise<void>;

  /** Who holds a unique value, as the claim says: the holder itself may have moved on. */
  holder(connection: ConnectionName, value: IndexedValue): Promise<string | undefined>;
  /** Claims a unique value for `id`; false if a resource other than `from` holds it. */
  claim(connection: ConnectionName, value: IndexedValue, id: string, from?: string): Promise<boolean>;
  release(connection: ConnectionName, value: IndexedValue, id: string): Promise<void>;

  /** Notes that the resource may have the value; several may. */
  point(connection: ConnectionName, value: IndexedValue, id: string): Promise<void>;
  unpoint(connection: ConnectionName, value: IndexedValue, id: string): Promise<void>;
  pointedAt(connection: ConnectionName, value: IndexedValue): Promise<readonly string[]>;

  /** Groups that are members of the group. */
  groupsWithin(ref: GroupRef): Promise<readonly GroupId[]>;
  /** Who is or was in the group, and since when: all that its list is made from. */
  memberships(ref: GroupRef): Promise<readonly MemberRegister[]>;
}

/** A bearer token of one connection, or a secret of an OAuth client; only its hash is stored. */
export const ScimToken = z.lazy(() =>
  z.object({
    /** Eight characters that tell tokens apart and may be shown. */
    prefix: text,
    connection: connectionText,
    /** Hex sha256 of the whole token: it has 256 random bits, so a slow hash would add nothing. */
    hash: text,
    /** Id of the OAuth client whose secret this is; absent for a bearer token. */
    client: text.exactOptional(),
    createdMs: number,
    expiresMs: number.exactOptional(),
    revokedMs: number.exactOptional(),
    /** To the hour. */
    lastUsedMs: number.exactOptional(),
  }),
);
export type ScimToken = Frozen<z.infer<typeof ScimToken>>;

/** An access token that an OAuth client got for one of its secrets. It is good only while that secret is. */
export const ScimAccess = z.lazy(() =>
  z.object({
    /** Of the secret. */
    prefix: text,
    connection: connectionText,
    /** Hex sha256 of the whole access token. */
    hash: text,
    expiresMs: number,
  }),
);
export type ScimAccess = Frozen<z.infer<typeof ScimAccess>>;

export interface ScimTokenStore {
  find(prefix: string): Promise<ScimToken | undefined>;
  /** An access token and the secret that it was issued for, in one request to the table. */
  findAccess(
    prefix: string,
    hash: string,
  ): Promise<{ readonly access: ScimAccess | undefined; readonly secret: ScimToken | undefined }>;
  addAccess(access: ScimAccess): Promise<void>;
  list(connection: ConnectionName): Promise<readonly ScimToken[]>;
  /** false if the prefix is taken. */
  add(token: ScimToken): Promise<boolean>;
  /** false if the connection has no such token. */
  revoke(connection: ConnectionName, prefix: string, atMs: number): Promise<boolean>;
  /** Ends a token of the connection at this time, unless it ends earlier. */
  endBy(connection: ConnectionName, prefix: string, atMs: number): Promise<void>;
  /** Notes the use, unless a use at or after `unlessSinceMs` is noted already. */
  noteUse(prefix: string, use: { readonly atMs: number; readonly unlessSinceMs: number }): Promise<void>;
}
