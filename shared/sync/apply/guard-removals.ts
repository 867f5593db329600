import { createHash } from 'node:crypto';
import { HOLD_LIFE_MS, type Hold } from '../../domain/hold.ts';
import type { IntentId, PlatformUserId } from '../../domain/ids.ts';
import type { View } from '../../domain/view.ts';
import { judgeRemovals } from '../../plan/guard.ts';
import { type HeldRemovals, judgeByHold } from '../../plan/hold.ts';
import type { Plan } from '../../plan/plan.ts';
import type { GroupState } from '../ports/groups.ts';
import type { GuardReservation } from '../ports/holds.ts';
import type { Lane } from './ports.ts';

/** What the guard made of a plan's removals. */
export interface Guarded {
  /** May not happen now: the plan is drawn up again without them. */
  readonly held: ReadonlySet<PlatformUserId>;
  /** The approval that the write uses up. */
  readonly consumes?: string;
  /** Counted against the limits before the write; cancelled when the write certainly does not happen. */
  readonly reservation?: GuardReservation;
}

interface GuardContext {
  readonly state: GroupState;
  readonly lane: Lane;
  readonly intent: IntentId;
  readonly current: View | undefined;
}

/**
 * Asks for every removal of a plan, whatever caused it (invariant 5). A reservation is put before the sum is read:
 *
 *     worker A   puts 60 ──▶ reads 60 + 60 ──▶ over the limit: takes its own back, holds
 *     worker B        puts 60 ──▶ reads 60 + 60 ──▶ the same
 *
 * so two at once may both be held, which is safe, but never both be let through.
 */
export async function guardRemovals(plan: Plan, context: GuardContext): Promise<Guarded> {
  const { state, lane } = context;
  const current = await heldNow(state, lane);
  if (plan.removals.length === 0) {
    if (state.hold !== undefined) await lane.ports.groups.dropHold(state);
    return { held: new Set() };
  }
  const verdict = judgeByHold(plan.removals, current, lane.ports.clock());
  if (verdict.superseded) return holdAll(plan.removals, current?.hold.rule ?? 'count', { plan, context });
  const consumes = verdict.approved.length > 0 ? { consumes: state.hold?.digest ?? '' } : {};
  const held = new Set(verdict.held);
  if (verdict.unjudged.length === 0) return { held, ...consumes };

  const { reservation, stoppedBy } = await reserve(verdict.unjudged.length, { plan, context });
  if (stoppedBy === undefined) return { held, ...consumes, ...(reservation && { reservation }) };
  const all = [...verdict.held, ...verdict.unjudged];
  // An approval is used up before what came after it is held in its turn: a group has one hold at a time.
  if (verdict.approved.length > 0) return { held: new Set(all), ...consumes };
  return holdAll(all, stoppedBy, { plan, context });
}

interface Judged {
  readonly plan: Plan;
  readonly context: GuardContext;
}

async function heldNow(state: GroupState, { ports }: Lane): Promise<HeldRemovals | undefined> {
  if (state.hold === undefined) return undefined;
  const users = await ports.groups.readHeld(state.ref, state.hold);
  return users === undefined ? undefined : { hold: state.hold, users };
}

async function reserve(
  removals: number,
  { plan, context }: Judged,
): Promise<{ reservation?: GuardReservation; stoppedBy?: Hold['rule'] }> {
  const { state, lane, intent, current } = context;
  const { ports, connection } = lane;
  const limits = connection.settings.guard;
  if (limits === null) return {};
  const { connection: name, group } = state.ref;
  const reservation = { connection: name, group, intent, atMs: ports.clock(), removals };
  const recent = await ports.guard.reserve(reservation);
  const size = current?.users.size ?? 0;
  const judgement = judgeRemovals({ limits, size, removals, deletesGroup: plan.action === 'delete', recent });
  if (judgement.allowed) return { reservation };
  await ports.guard.cancel(reservation);
  return { stoppedBy: judgement.rule };
}

/** Records a hold over exactly these users; a hold over the same set stays as it is, decision included. */
async function holdAll(
  users: readonly PlatformUserId[],
  rule: Hold['rule'],
  { plan, context }: Judged,
): Promise<Guarded> {
  const { state, lane, current } = context;
  const held = new Set(users);
  const digest = digestOf(state, plan, users);
  if (state.hold?.digest !== digest) {
    const nowMs = lane.ports.clock();
    const size = current?.users.size ?? 0;
    await lane.ports.groups.hold(
      state,
      {
        digest,
        rule,
        removes: held.size,
        keeps: size - held.size,
        share: size === 0 ? 0 : held.size / size,
        createdAtMs: nowMs,
        expiresAtMs: nowMs + HOLD_LIFE_MS,
        decision: { kind: 'waiting' },
        chunks: 0,
        hash: '',
      },
      held,
    );
  }
  return { held };
}

/** What a person approves: these removals, from this platform group, by this kind of write. */
function digestOf(state: GroupState, plan: Plan, users: readonly PlatformUserId[]): string {
  const action = plan.action === 'delete' ? 'delete' : 'remove';
  const set = JSON.stringify([state.platformId ?? null, action, [...users].sort()]);
  return createHash('sha256').update(set).digest('hex');
}
