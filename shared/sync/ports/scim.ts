import * as z from 'zod';
import { connectionText, type Frozen, number, stampText, text, texts } from '../../domain/forms.ts';
import type { MemberRegister } from '../../domain/group.ts';
import type { ConnectionName, GroupId, GroupRef } from '../../domain/ids.ts';
import { STAMP_ZERO, type Stamp } from '../../domain/stamp.ts';
import type { TypeName, UNIQUE_ATTRIBUTE } from '../../scim/resource-type.ts';
import type { ScimObject } from '../../scim/value.ts';

const HeldList = z.lazy(() =>
  z.object({
    /** The first and the last stamp that the write's revision can have. */
    first: stampText,
    last: stampText,
    /** The chunks and the hash of the two stored lists, from before the write and after it. */
    chunks: number,
    hash: text,
  }),
);
/** A replacement of a group's whole member list, with the location of the lists before and after it. */
export type HeldList = Frozen<z.infer<typeof HeldList>>;

/** A user or group as its SCIM client sent it. The members of a group are stored only in its registers. */
export const ScimResource = z.lazy(() =>
  z
    .object({
      type: z.enum(['User', 'Group']),
      /** The id of the resource, and of its group or member in the desired state. Ids sort by the time of creation. */
      id: text,
      /** The attributes under their canonical names, without `id`, `schemas`, `meta` and `members`. */
      attributes: z.record(text, z.unknown()).transform((attributes) => attributes as ScimObject),
      /**
       * Each write request raises this number, even without a change. The number is the sequence in the request's
       * stamps.
       */
      revision: number,
      /**
       * The number of revisions since the last revision with a change. So a write with a change stores 0, and need not
       * read its revision first.
       */
      idle: number,
      createdMs: number,
      /** The time of the revision and of its stamps. The time never decreases, even if the servers' clocks differ. */
      modifiedMs: number,
      /** The time of the version. */
      changedMs: number,
      /** `deleting`: deleted for the client, but registers and index entries are not removed yet. */
      state: z.enum(['live', 'deleting']),
      /** Present until the registers have been written for this revision. */
      open: z.literal(true).optional(),
      /** For a group: the time at which each open write of members began, by the id of the write. */
      writes: z
        .record(text, number)
        .default({})
        .transform((writes): ReadonlyMap<string, number> => new Map(Object.entries(writes))),
      /** For a group: the open replacements by write id. Until the write ends, readers see the earlier list. */
      replacements: z
        .record(text, HeldList)
        .default({})
        .transform((lists): ReadonlyMap<string, HeldList> => new Map(Object.entries(lists))),
      /** For a group: the first of the latest PUTs that did not mention members; absent after a request with members. */
      keptMs: number.optional(),
      /** For a group: the stamp of the latest completed replacement of the whole member list. */
      listedAt: stampText.default(STAMP_ZERO),
    })
    .transform(({ open, idle, ...resource }) => ({
      ...resource,
      /** The entity tag: the number of the last revision with a change. No tag is used twice. */
      version: resource.revision - idle,
      /** Whether the registers were written for this revision. After a crash, the next request writes them. */
      settled: open === undefined,
    })),
);
export type ScimResource = Readonly<z.infer<typeof ScimResource>>;

/** A value by which resources can be found. For an attribute that ignores case, the value is in lower case. */
export interface IndexedValue {
  readonly type: TypeName;
  readonly attribute:
    | (typeof UNIQUE_ATTRIBUTE)[TypeName]
    | 'externalId'
    | 'emails'
    | 'employeeNumber'
    | 'keptMs';
  readonly value: string;
}

/** The ids of one resource type, ascending. `deleting`: the deletion has begun, and may have been interrupted. */
export interface ScimOrder {
  readonly ids: readonly string[];
  readonly deleting: readonly string[];
}

export type OrderChange = Pick<ScimResource, 'type' | 'id'>;

interface Advance {
  readonly nowMs: number;
  readonly isChange: boolean;
  /** The revision that the stored resource must still have. */
  readonly seen?: number | undefined;
  /** The id of a write of members that begins with this revision. */
  readonly begins?: string | undefined;
  /** Ids of writes whose process died before it recorded their end. One save removes a limited number of them. */
  readonly forgets?: readonly string[] | undefined;
}

/** The member list before a replacement, and the list after it. */
interface ListToHold extends Pick<HeldList, 'first' | 'last'> {
  readonly before: readonly string[];
  readonly after: ReadonlySet<string>;
}

interface EndedWrite {
  readonly id: string;
  /** Ids of earlier writes that can no longer have an effect. One save removes a limited number of them. */
  readonly supersedes: readonly string[];
  readonly listedAt?: Stamp | undefined;
}

/** SCIM resources and their index entries. Each write of a resource is one conditional write. Reads are consistent. */
export interface ScimStore {
  read(connection: ConnectionName, type: TypeName, ids: readonly string[]): Promise<readonly ScimResource[]>;
  /**
   * Returns the names of live resources by id, for the member list of a response. If another process changed a name,
   * the old name may appear for up to a minute.
   */
  describe(
    connection: ConnectionName,
    type: TypeName,
    ids: readonly string[],
    nowMs: number,
  ): Promise<ReadonlyMap<string, string>>;
  /**
   * Returns all resources of a type in pages, sorted by id, including resources that are being deleted. `between`
   * limits the result to ids from its first id to its second id, inclusive.
   */
  list(
    connection: ConnectionName,
    type: TypeName,
    between?: readonly [string, string],
  ): AsyncIterable<readonly ScimResource[]>;
  /**
   * Returns the ids of a type. The result may come from a cache of at most one minute. A removal by another process
   * makes the cache invalid.
   */
  order(connection: ConnectionName, type: TypeName, nowMs: number): Promise<ScimOrder>;
  /** Makes a removal known to all processes before the client gets an answer. */
  noteOrder(connection: ConnectionName, change: OrderChange): Promise<void>;
  /**
   * Replaces `seen` (undefined for a new resource). Returns false if the stored resource differs from `seen`. Entries
   * of `writes` that are only in `resource` begin now. A limited number of entries that are only in `seen` are removed.
   */
  save(connection: ConnectionName, resource: ScimResource, seen: ScimResource | undefined): Promise<boolean>;
  /**
   * Blocks an unused id, so that a slow request can no longer save its new resource under this id. The method stores a
   * resource with revision 0 in the state `deleting`. The time of this resource is later than all writes of the slow
   * request.
   * @returns the stored resource; undefined if a resource was already stored under the id
   */
  block(
    connection: ConnectionName,
    target: { readonly type: TypeName; readonly id: string },
    nowMs: number,
  ): Promise<ScimResource | undefined>;
  /**
   * Raises the revision of a live resource in one write, without a read. Its attributes do not change. With `isChange`,
   * its version changes too.
   * @returns undefined if no such live resource exists, its time is later than `nowMs`, or its revision is not `seen`
   */
  advance(
    connection: ConnectionName,
    target: { readonly type: TypeName; readonly id: string },
    to: Advance,
  ): Promise<ScimResource | undefined>;
  /** Notes that the registers have this revision. The call has no effect if the resource has changed again. */
  settle(connection: ConnectionName, resource: ScimResource): Promise<void>;
  /** Ends a write of a group's members, after the registers are written. It also has the effect of `settle`. */
  endWrite(connection: ConnectionName, resource: ScimResource, ended: EndedWrite): Promise<void>;
  remove(connection: ConnectionName, resource: ScimResource): Promise<void>;
  /** Stores the two lists of a replacement. Readers see `before` until the write ends. Has no effect after its end. */
  holdList(ref: GroupRef, write: string, list: ListToHold): Promise<HeldList>;
  /** Returns undefined if the write has ended. */
  heldList(
    ref: GroupRef,
    write: string,
    held: HeldList,
  ): Promise<Pick<ListToHold, 'before' | 'after'> | undefined>;
  dropList(ref: GroupRef, write: string, held: HeldList): Promise<void>;

  /** Returns the id of the resource that claimed a unique value. The resource may now have another value. */
  holder(connection: ConnectionName, value: IndexedValue): Promise<string | undefined>;
  /** Claims a unique value for `id`. Returns false if a resource other than `id` and `from` has the claim. */
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

/** A bearer token of one connection, or a secret of an OAuth client. Only the hash of the value is stored. */
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
    /** The persons who created and confirmed the token. Four eyes counts them as senders of its requests. */
    creators: texts.exactOptional(),
    /** The token is not valid until a second person confirms its creation (four eyes). */
    isRequested: z.literal(true).exactOptional(),
    expiresMs: number.exactOptional(),
    revokedMs: number.exactOptional(),
    /** The time of the last use, exact to the hour. */
    lastUsedMs: number.exactOptional(),
  }),
);
export type ScimToken = Frozen<z.infer<typeof ScimToken>>;

/**
 * An access token that an OAuth client received in exchange for one of its secrets. The access token is valid only
 * while that secret is valid.
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
  /** Returns an access token and the secret of its OAuth client, with one request to the table. */
  findAccess(
    prefix: string,
    hash: string,
  ): Promise<{ readonly access: ScimAccess | undefined; readonly secret: ScimToken | undefined }>;
  addAccess(access: ScimAccess): Promise<void>;
  list(connection: ConnectionName): Promise<readonly ScimToken[]>;
  /** Returns false if another token already has the prefix. */
  add(token: ScimToken): Promise<boolean>;
  /** Makes a requested token valid, and adds the person to its creators. Has no effect on a revoked token. */
  confirm(connection: ConnectionName, prefix: string, by: string): Promise<void>;
  /** Returns false if the connection has no token with this prefix. */
  revoke(connection: ConnectionName, prefix: string, atMs: number): Promise<boolean>;
  /** Sets the expiry of a token of the connection to this time. An earlier expiry stays. */
  endBy(connection: ConnectionName, prefix: string, atMs: number): Promise<void>;
  /** Notes the use of a token. If a use since `unlessSinceMs` is already noted, the note stays as it is. */
  noteUse(prefix: string, use: { readonly atMs: number; readonly unlessSinceMs: number }): Promise<void>;
}
