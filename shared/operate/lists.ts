import type { PendingRow } from '../contract/answers/groups.ts';
import type { HoldRow } from '../contract/answers/holds.ts';
import type { DriftRow } from '../contract/answers/reconcile.ts';
import type { ConnectionName } from '../domain/ids.ts';
import { collectPages } from '../sync/async-collections.ts';
import type { DriftLog, GroupIndex } from '../sync/ports/bundles.ts';
import type { HeldGroup } from './holds.ts';

/** Lists members who cannot be written yet, without rehires. The member who has waited longest is first. */
export async function listPending(
  connection: ConnectionName,
  { index }: { readonly index: Pick<GroupIndex, 'pending'> },
): Promise<readonly PendingRow[]> {
  const pending = await collectPages(index.pending(connection));
  const rows = pending.map(({ ref: { group }, member, cause, sinceMs }) => ({
    group,
    member,
    cause,
    sinceMs,
    rehire: null,
  }));
  return rows.sort((a, b) => a.sinceMs - b.sinceMs || (a.member < b.member ? -1 : 1));
}

export async function listDrift(
  connection: ConnectionName,
  { drift }: { readonly drift: Pick<DriftLog, 'list'> },
): Promise<readonly DriftRow[]> {
  const rows = (await collectPages(drift.list(connection))).map((record): DriftRow => {
    const { id, group, kind, initiator, actor = null, before, after, settledBy, settledAtMs } = record;
    const detectedAt = new Date(record.detectedAtMs).toISOString();
    const settledAt = settledAtMs === null ? null : new Date(settledAtMs).toISOString();
    const times = { detectedAt, seenAt: detectedAt, settledAt };
    return { id, group, kind, initiator, actor, before, after, settledBy, ...times };
  });
  return rows.sort((a, b) => (a.detectedAt < b.detectedAt ? 1 : -1));
}

export function holdRow({ group, hold }: HeldGroup): HoldRow {
  const { removes, keeps, share, digest, rule, decision, ...times } = hold;
  const createdAt = new Date(times.createdAtMs).toISOString();
  const expiresAt = new Date(times.expiresAtMs).toISOString();
  return { group, removes, keeps, share, digest, rule, decision: decision.kind, createdAt, expiresAt };
}
