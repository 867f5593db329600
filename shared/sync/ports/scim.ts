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
    /** The location of the stored list before the write, and of the list after it. */
    chunks: number,
    hash: text,
  }),
);
/**
 * The stored lists of a replacement: the list of members before the write, and the whole list that is being written.
 */
export type HeldList = Frozen<z.infer<typeof HeldList>>;

/** A user or group as its SCIM client sent it. The members of a group are stored only in its registers. */
export const ScimResource = z.lazy(() =>
  z
    .object({
      type: z.enum(['User', 'Group']),
      /**
       * An id from groupsync, also the id of the group or member in desired state. Ids sort by the time of creation.
       */
      id: text,
      /** The attributes under their canonical names, without `id`, `schemas`, `meta` and `members`. */
      attributes: z.record(text, z.unknown()).transform((attributes) => attributes as ScimObject),
      /**
       * Each request that writes raises this number, even if it changes nothing. The stamps of the request use it as
       * their sequence.
       */
      revision: number,
      /**
       * The number of revisions since the last one that changed something. So a write that changes something can store
       * 0 without knowing its revision.
       */
      idle: number,
      createdMs: number,
      /**
       * The time of the revision and of its stamps. This time never decreases, even if the clocks of the servers
       * differ.
       */
      modifiedMs: number,
      /** The time of the version. */
      changedMs: number,
      /** `deleting`: deleted for its client, while its registers and index entries are not removed yet. */
      state: z.enum(['live', 'deleting']),
      /** Present until the registers have been written for this revision. */
      open: z.literal(true).optional(),
      /** For a group: open writes of members by id, with the time at which each began. */
      writes: z
        .record(text, number)
        .default({})
        .transform((writes): ReadonlyMap<string, number> => new Map(Object.entries(writes))),
      /**
       * For a group: the stored lists of open replacements, by the id of the write. Until the write ends, readers see
       * the list before it.
       */
      replacements: z
        .record(text, HeldList)
        .default({})
        .transform((lists): ReadonlyMap<string, HeldList> => new Map(Object.entries(lists))),
      /** For a group: the stamp of the latest whole list of members whose write has ended. */
      listedAt: stampText.default(STAMP_ZERO),
    })
    .transform(({ open, idle, ...resource }) => ({
      ...resource,
      /** The number of the last revision that changed something. It is the entity tag, and is never used twice. */
      version: resource.revision - idle,
      /** Whether the registers were written for this revision. After a crash, the next request writes them. */
      settled: open === undefined,
    })),
);
export type ScimResource = Readonly<z.infer<typeof ScimResource>>;

/** A value by which resources can be found. If case does not matter, the caller passes it in lower case. */
export interface IndexedValue {
  readonly type: TypeName;
  readonly attribute: (typeof UNIQUE_ATTRIBUTE)[TypeName] | 'externalId' | 'emails' | 'employeeNumber';
  readonly value: string;
}

/** The ids of one type, ascending. `deleting` are resources whose deletion may have been interrupted by a crash. */
export interface ScimOrder {
  readonly ids: readonly string[];
  readonly deleting: readonly string[];
}

export type OrderChange = Pick<ScimResource, 'type' | 'id'>;

export interface Advance {
  readonly nowMs: number;
  readonly isChange: boolean;
  /** The revision that must still be the current one. */
  readonly seen?: number | undefined;
  /** Id of the write of members that begins with this revision. */
  readonly begins?: string | undefined;
  /** Ids of writes whose process died before it recorded their end. One save removes a limited number of them. */
  readonly forgets?: readonly string[] | undefined;
}

/** A whole list that is being written, and the list before it. */
export interface ListToHold extends Pick<HeldList, 'first' | 'last'> {
  readonly before: readonly string[];
  readonly after: ReadonlySet<string>;
}

export interface EndedWrite {
  readonly id: string;
  /**
   * Ids of earlier writes that can no longer have an effect. They are removed, but only a limited number in one save.
   */
  readonly supersedes: readonly string[];
  readonly listedAt?: Stamp | undefined;
}

/** SCIM resources and their index entries. Each write is one conditional write of one item. Reads are consistent. */
export interface ScimStore {
  read(connection: ConnectionName, type: TypeName, ids: readonly string[]): Promise<readonly ScimResource[]>;
  /**
   * The names of live resources, by id, for responses that list them as members. A name that another process changed
   * may be up to a minute old.
   */
  describe(
    connection: ConnectionName,
    type: TypeName,
    ids: readonly string[],
    nowMs: number,
  ): Promise<ReadonlyMap<string, string>>;
  /**
   * Returns all resources of a type in pages, sorted by id, including resources that are being deleted. `between`
   * limits the result to ids from the first to the second.
   */
  list(
    connection: ConnectionName,
    type: TypeName,
    between?: readonly [string, string],
  ): AsyncIterable<readonly ScimResource[]>;
  /**
   * Returns the ids of a type. All ids are read again only after a minute, or if another process removed a resource.
   */
  order(connection: ConnectionName, type: TypeName, nowMs: number): Promise<ScimOrder>;
  /** Makes a removal known to all processes before the client gets an answer. */
  noteOrder(connection: ConnectionName, change: OrderChange): Promise<void>;
  /**
   * Replaces `seen` (undefined for a new resource). Returns false if the stored resource has changed since. `writes`
   * that are only in `resource` begin now. Those that are only in `seen` are removed, but only a limited number in one
   * save.
   */
  save(connection: ConnectionName, resource: ScimResource, seen: ScimResource | undefined): Promise<boolean>;
  /**
   * Blocks an id under which nothing is stored, so that a slow request can no longer save its new resource under this
   * id. The method stores a resource with revision 0 in the state `deleting`. Its time is later than all writes of such
   * a request.
   * @returns the stored resource; undefined if a resource was already stored under the id
   */
  block(
    connection: ConnectionName,
    target: { readonly type: TypeName; readonly id: string },
    nowMs: number,
  ): Promise<ScimResource | undefined>;
  /**
   * Raises the revision of a live resource whose attributes do not change, in one write without a read. With
   * `isChange`, the version changes too.
   * @returns undefined if there is no such resource, if its time is later than `nowMs`, or if its revision is no longer
   *   `seen`
   */
  advance(
    connection: ConnectionName,
    target: { readonly type: TypeName; readonly id: string },
    to: Advance,
  ): Promise<ScimResource | undefined>;
  /** Notes that the registers have this revision, unless the resource has changed again. */
  settle(connection: ConnectionName, resource: ScimResource): Promise<void>;
  /** Ends a write of a group's members, after the registers are written. This includes `settle`. */
  endWrite(connection: ConnectionName, resource: ScimResource, ended: EndedWrite): Promise<void>;
  remove(connection: ConnectionName, resource: ScimResource): Promise<void>;
  /**
   * Stores two lists: the list before the write, which readers see until the write ends, and the list after it. No
   * effect if the write has ended.
   */
  holdList(ref: GroupRef, write: string, list: ListToHold): Promise<HeldList>;
  /** undefined if the write has ended meanwhile. */
  heldList(
    ref: GroupRef,
    write: string,
    held: HeldList,
  ): Promise<Pick<ListToHold, 'before' | 'after'> | undefined>;
  dropList(ref: GroupRef, write: string, held: HeldList): Promise<void>;

  /** Returns the id of the resource that claimed a unique value. This resource may have another value by now. */
  holder(connection: ConnectionName, value: IndexedValue): Promise<string | undefined>;
  /** Claims a unique value for `id`; false if a resource other than `from` holds the value. */
  claim(connection: ConnectionName, value: IndexedValue, id: string, from?: string): Promise<boolean>;
  release(connection: ConnectionName, value: IndexedValue, id: string): Promise<void>;

  /** Notes that the resource may have the value. Several resources may have the same value. */
  point(connection: ConnectionName, value: IndexedValue, id: string): Promise<void>;
  unpoint(connection: ConnectionName, value: IndexedValue, id: string): Promise<void>;
  pointedAt(connection: ConnectionName, value: IndexedValue): Promise<readonly string[]>;

  groupsWithin(ref: GroupRef): Promise<readonly GroupId[]>;
  /** Returns the registers of all present and former members. The member list is computed from these registers. */
  memberships(ref: GroupRef): Promise<readonly MemberRegister[]>;
}

/** A bearer token of one connection, or a secret of an OAuth client; only its hash is stored. */
export const ScimToken = z.lazy(() =>
  z.object({
    /** Eight characters that identify the token and may be shown. */
    prefix: text,
    connection: connectionText,
    /** Hex sha256 of the whole token. The token has 256 random bits, so a slow hash would add no safety. */
    hash: text,
    /** Id of the OAuth client whose secret this is; absent for a bearer token. */
    client: text.exactOptional(),
    createdMs: number,
    expiresMs: number.exactOptional(),
    revokedMs: number.exactOptional(),
    /** The time of the last use, exact to the hour. */
    lastUsedMs: number.exactOptional(),
  }),
);
export type ScimToken = Frozen<z.infer<typeof ScimToken>>;

/**
 * An access token that an OAuth client got for one of its secrets. The access token is valid only while that secret is
 * valid.
 */
export const ScimAccess = z.lazy(() =>
  z.object({
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
  /** Notes the use, unless a use since `unlessSinceMs` is already noted. */
  noteUse(prefix: string, use: { readonly atMs: number; readonly unlessSinceMs: number }): Promise<void>;
}
