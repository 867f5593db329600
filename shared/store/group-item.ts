import * as z from 'zod';
import { Trace } from '../domain/drift.ts';
import type { GroupState, StoredMember } from '../domain/group-state.ts';
import { type GroupRef, intentId, memberId, platformGroupId, roleId, versionToken } from '../domain/ids.ts';
import type { Stamp } from '../domain/stamp.ts';
import { understood } from './item-form.ts';
import type { Item } from './table.ts';

/*
 * The forms of the items that hold a group and its members. Everything read from the table passes through here, so
 * that an item which another version wrote shows as what it is instead of as odd behaviour later.
 */

/** Made once: schemas are dear to make, and a new worker makes them before it can read its first group. */
const text = z.string();
const number = z.number();
const texts = z.array(text);
const group = text.transform(platformGroupId);
const version = text.transform(versionToken);
const intent = text.transform(intentId);
const stamp = text.default('').transform((value) => value as Stamp);

const EventActorForm = z.object({
  kind: z.enum(['directory', 'scim']),
  id: text,
  name: text.exactOptional(),
  by: text.exactOptional(),
});

const ViewPointer = z.object({
  id: intent,
  chunks: number,
  hash: text,
  size: number,
});

const GuardRecord = z.lazy(() =>
  z.object({
    intent: intent,
    atMs: number,
    removals: number,
  }),
);

const Intent = z.lazy(() =>
  z.object({
    id: intent,
    action: z.enum(['create', 'patch', 'put', 'delete']),
    atMs: number,
    name: text,
    spokeId: text,
    platformId: group.exactOptional(),
    versionBefore: version.exactOptional(),
    view: ViewPointer.exactOptional(),
    known: z.array(group).exactOptional(),
    misses: number.exactOptional(),
    reserved: GuardRecord.exactOptional(),
    consumes: text.exactOptional(),
  }),
);

const Decision = z.lazy(() =>
  z.union([
    z.object({ kind: z.literal('waiting') }),
    z.object({
      kind: z.enum(['approved', 'rejected']),
      by: text,
      reason: text,
      atMs: number,
    }),
  ]),
);

const Hold = z.lazy(() =>
  z.object({
    digest: text,
    rule: z.enum(['share', 'count', 'per_hour']),
    removes: number,
    keeps: number,
    share: number,
    createdAtMs: number,
    expiresAtMs: number,
    decision: Decision,
    chunks: number,
    hash: text,
  }),
);

const GroupItem = z.lazy(() =>
  z.object({
    upserted: stamp,
    deleted: stamp,
    snapshot: stamp,
    name: text.exactOptional(),
    nameStamp: stamp,
    actor: EventActorForm.exactOptional(),
    actorStamp: stamp,
    rev: number.default(0),
    dirtySince: number.exactOptional(),
    settled: z.enum(['in_sync', 'held', 'deleted', 'unnamed', 'excluded']).exactOptional(),
    failedAt: number.exactOptional(),
    attempts: number.default(0),
    spent: z.object({ sinceMs: number, calls: number }).exactOptional(),
    lastError: z.object({ code: text, message: text, atMs: number }).exactOptional(),
    failedBefore: text.exactOptional(),
    platformId: group.exactOptional(),
    version: version.exactOptional(),
    view: ViewPointer.exactOptional(),
    intent: Intent.exactOptional(),
    hold: Hold.exactOptional(),
    unsettledRemovals: GuardRecord.exactOptional(),
    suspect: z
      .object({
        version: version.nullable(),
        traces: z.array(Trace),
        atMs: number,
      })
      .exactOptional(),
    doubt: z.object({ intent: Intent, untilMs: number }).exactOptional(),
    contest: z.object({ sinceMs: number, count: number, seen: stamp.exactOptional() }).exactOptional(),
    createdAt: number.exactOptional(),
    missedAt: number.exactOptional(),
    takeOver: z.boolean().default(false),
    openDrift: texts.default([]),
    unattributed: texts.default([]),
    deletionWaiver: z.object({ policy: z.enum(['report', 'adopt']), seen: stamp }).exactOptional(),
    former: z
      .object({ platformId: group, view: ViewPointer, isGone: z.boolean().exactOptional() })
      .exactOptional(),
    leaving: group.exactOptional(),
    released: z.boolean().default(false),
    paused: z.boolean().default(false),
    pausedAtMs: number.exactOptional(),
    counts: z.object({ wanted: number, applied: number, pending: number }).exactOptional(),
    lastWriteAt: number.exactOptional(),
    lastAudit: text.exactOptional(),
    lastDeed: text.exactOptional(),
  }),
);

export function parseGroup(ref: GroupRef, item: Item): GroupState {
  const {
    upserted,
    deleted,
    snapshot,
    name,
    nameStamp,
    actor,
    actorStamp,
    dirtySince,
    failedAt,
    createdAt,
    missedAt,
    lastWriteAt,
    ...rest
  } = understood(GroupItem, item, `a group at partition ${item.pk}`);
  return {
    ...rest,
    ref,
    registers: {
      upserted,
      deleted,
      snapshot,
      ...(name === undefined ? {} : { name: { value: name, stamp: nameStamp } }),
      ...(actor === undefined ? {} : { saidBy: { stamp: actorStamp, actor } }),
    },
    ...(dirtySince === undefined ? {} : { dirtySinceMs: dirtySince }),
    ...(failedAt === undefined ? {} : { failedAtMs: failedAt }),
    ...(createdAt === undefined ? {} : { createdAtMs: createdAt }),
    ...(missedAt === undefined ? {} : { missedAtMs: missedAt }),
    ...(lastWriteAt === undefined ? {} : { lastWriteAtMs: lastWriteAt }),
  };
}

const MemberItem = z.lazy(() =>
  z.object({
    member: text,
    presence: z.enum(['absent', 'present']),
    stamp: text,
    actor: EventActorForm.exactOptional(),
    copyRevision: number.optional(),
    copyFloor: stamp,
    copyRole: text.optional(),
    pendingCause: z.enum(['unknown', 'ambiguous', 'inactive', 'refused']).optional(),
    pendingSince: number.default(0),
    pendingRevision: number.optional(),
  }),
);

export function parseMember(item: Item): StoredMember {
  const read = understood(MemberItem, item, `a member register in partition ${item.pk}`);
  const { member, presence, stamp: at, copyRevision, copyFloor, copyRole } = read;
  const { pendingCause, pendingSince, pendingRevision, actor } = read;
  return {
    member: memberId(member),
    value: presence,
    stamp: at as Stamp,
    ...(actor && { actor }),
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
