import { createHash } from 'node:crypto';
import { NOBODY_KNOWN, type Trace } from '../../domain/drift.ts';
import type { GroupState } from '../../domain/group-state.ts';
import type { PlatformGroupId } from '../../domain/ids.ts';
import { attribute } from '../../plan/attribute.ts';
import { attributeTo } from '../attribute-drift.ts';
import type { DriftLog } from '../ports/logs.ts';

/** Members come and go without a new spokeId, and what was removed carries none. */
export const mayClaimSpokeId = ({ type }: Trace): boolean => !/_MEMBER_|_REMOVE$/.test(type);

/**
 * Records a platform group, not ours, that carries the spokeId of a linked one. It is told of once and left alone: it
 * has another owner, and which of the two is meant only a person can say (`adopt`).
 * @returns false where it was known already
 */
export async function recordDuplicate(
  { ref, platformId }: GroupState,
  { id, traces }: { readonly id: PlatformGroupId; readonly traces: readonly Trace[] },
  { drift, clock }: { readonly drift: DriftLog; readonly clock: () => number },
): Promise<boolean> {
  const nowMs = clock();
  const parts = JSON.stringify([ref.group, id, 'duplicate']);
  const recordId = createHash('sha256').update(parts).digest('hex').slice(0, 32);
  const isNew = await drift.record(ref.connection, {
    ...attribute('duplicate_spoke_id', traces),
    id: recordId,
    group: ref.group,
    platformId: id,
    kind: 'duplicate_spoke_id',
    before: platformId ?? null,
    after: id,
    policy: 'report',
    detectedAtMs: nowMs,
    settledBy: 'report',
    settledAtMs: nowMs,
  });
  if (isNew || traces.length === 0) return isNew;
  // A sweep may have met it before the feed told of it.
  for (const record of await drift.read(ref, [recordId])) {
    const named = attributeTo(record, new Map([[id, traces]]));
    if (named.initiator !== NOBODY_KNOWN) await drift.attribute(ref, recordId, named);
  }
  return false;
}
