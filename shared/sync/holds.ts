import { HOLD_LIFE_MS, type Hold, type HoldDecision } from '../domain/hold.ts';
import type { ConnectionName, GroupId, GroupRef } from '../domain/ids.ts';
import type { GroupStore } from './ports/groups.ts';
import type { GroupIndex } from './ports/index.ts';
import { dirtyNow, type WakePorts } from './wake.ts';

export interface HoldPorts extends Pick<WakePorts, 'applyQueue' | 'clock' | 'coalesceMs'> {
  readonly groups: Pick<GroupStore, 'read' | 'decideHold'>;
}

/** Who decides, and why: both are kept with the hold and in the audit of the write that an approval permits. */
export interface HoldWord {
  readonly by: string;
  readonly reason: string;
  /** Decide only if the hold is still over exactly this set: what the person was shown. */
  readonly digest?: string | undefined;
}

export type HoldOutcome =
  | { readonly kind: 'decided'; readonly hold: Hold }
  /** Nothing of the group is held. */
  | { readonly kind: 'no_hold' }
  /** The hold is over another set than `digest` says, or became so while we looked: show it again. */
  | { readonly kind: 'changed'; readonly hold: Hold | undefined };

/**
 * Permits the removals of a hold, once: this set or a subset of it, within seven days. Apply is woken and does it; the
 * write that does uses the approval up.
 */
export const approveHold = (ref: GroupRef, word: HoldWord, ports: HoldPorts): Promise<HoldOutcome> =>
  decide(ref, 'approved', { word, ports });

/** Keeps the removals of a hold from happening until nobody wants them any more. */
export const rejectHold = (ref: GroupRef, word: HoldWord, ports: HoldPorts): Promise<HoldOutcome> =>
  decide(ref, 'rejected', { word, ports });

export interface HeldGroup {
  readonly group: GroupId;
  readonly hold: Hold;
}

/** Every hold of a connection, decided ones included, in the order of the groups' ids. */
export async function listHolds(
  connection: ConnectionName,
  ports: { readonly groups: Pick<GroupStore, 'read'>; readonly index: Pick<GroupIndex, 'all'> },
): Promise<readonly HeldGroup[]> {
  const held: HeldGroup[] = [];
  for await (const page of ports.index.all(connection)) {
    for (const { ref, holdWaits } of page) {
      const hold = holdWaits ? (await ports.groups.read(ref))?.hold : undefined;
      if (hold !== undefined) held.push({ group: ref.group, hold });
    }
  }
  return held.sort((a, b) => (a.group < b.group ? -1 : 1));
}

/** One conditional write carries the decision, rev and the dirty mark; the message that follows may be lost. */
async function decide(
  ref: GroupRef,
  kind: 'approved' | 'rejected',
  { word: { by, reason, digest }, ports }: { readonly word: HoldWord; readonly ports: HoldPorts },
): Promise<HoldOutcome> {
  const seen = await ports.groups.read(ref);
  const hold = seen?.hold;
  if (seen === undefined || hold === undefined) return { kind: 'no_hold' };
  if (digest !== undefined && digest !== hold.digest) return { kind: 'changed', hold };
  const at = dirtyNow(ports);
  const decision: HoldDecision = { kind, by, reason, atMs: at.nowMs };
  const expiresAtMs = at.nowMs + HOLD_LIFE_MS;
  if (!(await ports.groups.decideHold(seen, decision, { ...at, expiresAtMs }))) {
    return { kind: 'changed', hold: (await ports.groups.read(ref))?.hold };
  }
  await ports.applyQueue.wake([ref]);
  return { kind: 'decided', hold: { ...hold, decision, expiresAtMs } };
}
