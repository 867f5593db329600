import { HOLD_LIFE_MS, type Hold, type HoldDecision } from '../domain/hold.ts';
import type { ConnectionName, GroupId, GroupRef } from '../domain/ids.ts';
import type { WakePorts } from '../sync/ports/bundles.ts';
import type { GroupIndex } from '../sync/ports/group-index.ts';
import type { GroupStore } from '../sync/ports/groups.ts';
import { dirtyNow } from '../sync/wake.ts';
import { doRecorded, type JournalPorts } from './journal.ts';

export interface HoldPorts extends JournalPorts, Pick<WakePorts, 'applyQueue' | 'coalesceMs'> {
  readonly groups: Pick<GroupStore, 'read' | 'decideHold'>;
}

/** Who decides, and why: both are kept with the hold, and in the audit. */
export interface HoldWord {
  readonly by: string;
  readonly reason: string;
  /** Decide only if the hold is still over exactly this set: what the person was shown. */
  readonly digest?: string | undefined;
  /** The decision that the person was shown, and decides anew; without it only a hold that waits is decided. */
  readonly decision?: HoldDecision | undefined;
}

export type HoldOutcome =
  | { readonly kind: 'decided'; readonly hold: Hold }
  /** Nothing of the group is held. */
  | { readonly kind: 'no_hold' }
  /** The hold is over another set, or decided otherwise, than the person was shown: show it again. */
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

/**
 * One conditional write carries the decision, rev and the dirty mark; the message that follows may be lost. It is refused
 * where somebody else has decided: a word given from an old screen undoes nothing.
 */
async function decide(
  ref: GroupRef,
  kind: 'approved' | 'rejected',
  { word, ports }: { readonly word: HoldWord; readonly ports: HoldPorts },
): Promise<HoldOutcome> {
  const { by, reason, digest } = word;
  const seen = await ports.groups.read(ref);
  const hold = seen?.hold;
  if (seen === undefined || hold === undefined) return { kind: 'no_hold' };
  const isAsShown = isSameDecision(hold.decision, word.decision ?? { kind: 'waiting' });
  if (!isAsShown || (digest !== undefined && digest !== hold.digest)) return { kind: 'changed', hold };
  const at = dirtyNow(ports);
  const decision: HoldDecision = { kind, by, reason, atMs: at.nowMs };
  const expiresAtMs = at.nowMs + HOLD_LIFE_MS;
  const change = {
    kind: 'decide_hold',
    before: hold.decision.kind,
    after: kind,
    reason: `${hold.removes} removals, digest ${hold.digest}`,
  };
  const action = kind === 'approved' ? 'holds_approve' : 'holds_reject';
  const deed = { action, changes: [change], cause: `${by}: ${reason}` };
  const isDecided = await doRecorded(ref, deed, ports, () =>
    ports.groups.decideHold(seen, decision, { ...at, expiresAtMs }),
  );
  if (!isDecided) return { kind: 'changed', hold: (await ports.groups.read(ref))?.hold };
  await ports.applyQueue.wake([ref]);
  return { kind: 'decided', hold: { ...hold, decision, expiresAtMs } };
}

function isSameDecision(a: HoldDecision, b: HoldDecision): boolean {
  if (a.kind === 'waiting' || b.kind === 'waiting') return a.kind === b.kind;
  return a.kind === b.kind && a.by === b.by && a.atMs === b.atMs;
}
