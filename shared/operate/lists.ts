import type { PendingRow } from '../contract/answers/groups.ts';
import type { HoldRow } from '../contract/answers/holds.ts';
import type { ConnectionName } from '../domain/ids.ts';
import type { GroupIndex } from '../sync/ports/bundles.ts';
import { collectPages } from '../sync/tuning.ts';
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

export function holdRow({ group, hold }: HeldGroup): HoldRow {
  const { removes, keeps, share, digest, rule, decision, ...times } = hold;
  const createdAt = new Date(times.createdAtMs).toISOString();
  const expiresAt = new Date(times.expiresAtMs).toISOString();
  return { group, removes, keeps, share, digest, rule, decision: decision.kind, createdAt, expiresAt };
}
