import * as z from 'zod';
import { type GroupRef, intentId, memberId, platformGroupId, roleId, versionToken } from '../domain/ids.ts';
import type { Stamp } from '../domain/stamp.ts';
import type { GroupState, StoredMember } from '../sync/ports/groups.ts';
import { CorruptItemError } from './errors.ts';
import type { Item } from './table.ts';

/*
 * The forms of the items that hold a group and its members. Everything read from the table passes through here, so
 * that an item which another version wrote shows as what it is instead of as odd behaviour later.
 */

const stamp = z
  .string()
  .default('')
  .transform((text) => text as Stamp);

const ViewPointer = z.object({
  id: z.string().transform(intentId),
  chunks: z.number(),
  hash: z.string(),
  size: z.number(),
});

const GuardRecord = z.lazy(() =>
  z.object({
    intent: z.string().transform(intentId),
    atMs: z.number(),
    removals: z.number(),
  }),
);

const Intent = z.lazy(() =>
  z.object({
    id: z.string().transform(intentId),
    action: z.enum(['create', 'patch', 'put', 'delete']),
    atMs: z.number(),
    name: z.string(),
    spokeId: z.string(),
    platformId: z.string().transform(platformGroupId).exactOptional(),
    versionBefore: z.string().transform(versionToken).exactOptional(),
    view: ViewPointer.exactOptional(),
    known: z.array(z.string().transform(platformGroupId)).exactOptional(),
    misses: z.number().exactOptional(),
    reserved: GuardRecord.exactOptional(),
    consumes: z.string().exactOptional(),
  }),
);

const Decision = z.lazy(() =>
  z.union([
    z.object({ kind: z.literal('waiting') }),
    z.object({
      kind: z.enum(['approved', 'rejected']),
      by: z.string(),
      reason: z.string(),
      atMs: z.number(),
    }),
  ]),
);

const Hold = z.lazy(() =>
  z.object({
    digest: z.string(),
    rule: z.enum(['share', 'count', 'per_hour']),
    removes: z.number(),
    keeps: z.number(),
    share: z.number(),
    createdAtMs: z.number(),
    expiresAtMs: z.number(),
    decision: Decision,
    chunks: z.number(),
    hash: z.string(),
  }),
);

const Trace = z.lazy(() =>
  z.object({
    id: z.string(),
    initiator: z.string(),
    type: z.string(),
    at: z.string().nullable(),
  }),
);

const GroupItem = z.lazy(() =>
  z.object({
    upserted: stamp,
    deleted: stamp,
    snapshot: stamp,
    name: z.string().exactOptional(),
    nameStamp: stamp,
    rev: z.number().default(0),
    dirtySince: z.number().exactOptional(),
    settled: z.enum(['in_sync', 'held', 'deleted', 'unnamed', 'excluded']).exactOptional(),
    failedAt: z.number().exactOptional(),
    attempts: z.number().default(0),
    lastError: z.object({ code: z.string(), message: z.string(), atMs: z.number() }).exactOptional(),
    platformId: z.string().transform(platformGroupId).exactOptional(),
    version: z.string().transform(versionToken).exactOptional(),
    view: ViewPointer.exactOptional(),
    intent: Intent.exactOptional(),
    hold: Hold.exactOptional(),
    unsettledRemovals: GuardRecord.exactOptional(),
    suspect: z
      .object({
        version: z.string().transform(versionToken).nullable(),
        traces: z.array(Trace),
        atMs: z.number(),
      })
      .exactOptional(),
    createdAt: z.number().exactOptional(),
    takeOver: z.boolean().default(false),
    openDrift: z.array(z.string()).default([]),
    unattributed: z.array(z.string()).default([]),
    deletionWaiver: z.object({ policy: z.enum(['report', 'adopt']), seen: stamp }).exactOptional(),
    released: z.boolean().default(false),
    paused: z.boolean().default(false),
    counts: z.object({ wanted: z.number(), applied: z.number(), pending: z.number() }).exactOptional(),
    lastWriteAt: z.number().exactOptional(),
  }),
);

export function parseGroup(ref: GroupRef, item: Item): GroupState {
  const parsed = GroupItem.safeParse(item);
  if (!parsed.success) {
    throw new CorruptItemError(`expected a group at partition ${item.pk}`, { cause: parsed.error });
  }
  const {
    upserted,
    deleted,
    snapshot,
    name,
    nameStamp,
    dirtySince,
    failedAt,
    createdAt,
    lastWriteAt,
    ...rest
  } = parsed.data;
  return {
    ...rest,
    ref,
    registers: {
      upserted,
      deleted,
      snapshot,
      ...(name === undefined ? {} : { name: { value: name, stamp: nameStamp } }),
    },
    ...(dirtySince === undefined ? {} : { dirtySinceMs: dirtySince }),
    ...(failedAt === undefined ? {} : { failedAtMs: failedAt }),
    ...(createdAt === undefined ? {} : { createdAtMs: createdAt }),
    ...(lastWriteAt === undefined ? {} : { lastWriteAtMs: lastWriteAt }),
  };
}

const MemberItem = z.lazy(() =>
  z.object({
    member: z.string(),
    presence: z.enum(['absent', 'present']),
    stamp: z.string(),
    copyRevision: z.number().optional(),
    copyFloor: stamp,
    copyRole: z.string().optional(),
    pendingCause: z.enum(['unknown', 'ambiguous', 'inactive', 'refused']).optional(),
    pendingSince: z.number().default(0),
    pendingRevision: z.number().optional(),
  }),
);

export function parseMember(item: Item): StoredMember {
  const parsed = MemberItem.safeParse(item);
  if (!parsed.success) {
    throw new CorruptItemError(`expected a member register in partition ${item.pk}`, { cause: parsed.error });
  }
  const { member, presence, stamp: at, copyRevision, copyFloor, copyRole } = parsed.data;
  const { pendingCause, pendingSince, pendingRevision } = parsed.data;
  return {
    member: memberId(member),
    value: presence,
    stamp: at as Stamp,
    ...(copyRevision === undefined
      ? {}
      : {
          user: {
            revision: copyRevision,
            floor: copyFloor,
            ...(copyRole === undefined ? {} : { role: roleId(copyRole) }),
          },
        }),
    ...(pendingCause === undefined
      ? {}
      : {
          pending: {
            cause: pendingCause,
            sinceMs: pendingSince,
            ...(pendingRevision === undefined ? {} : { personRevision: pendingRevision }),
          },
        }),
  };
}
