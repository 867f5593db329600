import * as z from 'zod';
import { connectionText, type Frozen, number, stampText, text, texts } from '../domain/forms.ts';
import { STAMP_ZERO, type Stamp } from '../domain/stamp.ts';
import type { TypeName, UNIQUE_ATTRIBUTE } from './protocol/resource-type.ts';
import type { ScimObject } from './protocol/value.ts';

const HeldList = z.lazy(() =>
  z.object({
    /** The first and the last stamp that the write's revision can have. */
    first: stampText,
    last: stampText,
    /** The token of the request, also if a request with another token completes the write. */
    by: text,
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
      /** The token of the last request about attributes or the deletion, also if another token completes the write. */
      sentBy: text.exactOptional(),
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

export interface Advance {
  readonly nowMs: number;
  readonly isChange: boolean;
  /** The revision that the stored resource must still have. */
  readonly seen?: number | undefined;
  readonly begins?: string | undefined;
  /** Ids of writes whose process died before it recorded their end. One save removes a limited number of them. */
  readonly forgets?: readonly string[] | undefined;
}

export interface ListToHold extends Pick<HeldList, 'first' | 'last' | 'by'> {
  readonly before: readonly string[];
  readonly after: ReadonlySet<string>;
}

export interface EndedWrite {
  readonly id: string;
  /** Ids of earlier writes that can no longer have an effect. One save removes a limited number of them. */
  readonly supersedes: readonly string[];
  readonly listedAt?: Stamp | undefined;
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
    client: text.optional(),
    createdMs: number,
    /** The persons who created and confirmed the token. Four eyes counts them as senders of its requests. */
    creators: texts.optional(),
    /** The token is not valid until a second person confirms its creation (four eyes). */
    isRequested: z.literal(true).optional(),
    /** The earlier secrets of the client expire this long after this secret becomes valid. */
    previousForMs: number.optional(),
    expiresMs: number.optional(),
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
