import { createHash } from 'node:crypto';
import { HOLD_LIFE_MS, type Hold } from '../../domain/hold.ts';
import type { IntentId, PlatformGroupId, PlatformUserId } from '../../domain/ids.ts';
import type { View } from '../../domain/view.ts';
import { judgeRemovals } from '../../plan/guard.ts';
import { type HeldRemovals, hasSay, isOver, judgeByHold } from '../../plan/hold.ts';
import type { Plan } from '../../plan/plan.ts';
import type { GroupState } from '../ports/groups.ts';
import type { GuardRecord, GuardReservation } from '../ports/guard.ts';
import type { Lane } from './lane.ts';

/** What the guard made of a plan's removals. */
export interface Guarded {
  /** May not happen now: the plan is drawn up again without them. */
  readonly held: ReadonlySet<PlatformUserId>;
  /** The approval that the write uses up. */
  readonly consumes?: string;
  /** Counted against the limits before the write; cancelled when the write certainly does not happen. */
  readonly reservation?: GuardReservation;
  /** The record that the reservation takes the place of once the write is under way. */
  readonly instead?: GuardRecord;
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
  if (plan.removals.length === 0) {
    if (state.hold !== undefined) await lane.ports.groups.dropHold(state);
    return { held: new Set() };
  }
  const current = await heldNow(state, { plan, context });
  if (state.hold !== undefined && current === undefined) await lane.ports.groups.dropHold(state);
  const verdict = judgeByHold(plan.removals, current, lane.ports.clock());
  if (verdict.superseded)
    return holdAll(plan.removals, current?.hold.rule ?? 'count', { plan, context, current });
  const consumes = verdict.approved.length > 0 ? { consumes: state.hold?.digest ?? '' } : {};
  const held = new Set(verdict.held);
  if (verdict.unjudged.length === 0) return { held, ...consumes };

  const { stoppedBy, ...reserved } = await reserve(verdict.unjudged.length, { plan, context });
  if (stoppedBy === undefined) return { held, ...consumes, ...reserved };
  const all = [...verdict.held, ...verdict.unjudged];
  // An approval is used up before what came after it is held in its turn: a group has one hold at a time.
  if (verdict.approved.length > 0) return { held: new Set(all), ...consumes };
  return holdAll(all, stoppedBy, { plan, context, current });
}

interface Judged {
  readonly plan: Plan;
  readonly context: GuardContext;
}

/**
 * The hold that is about this plan. One over another platform group, or over another kind of write, says nothing of
 * these removals: what was approved, or stopped, as removals is not a deletion, and the reverse. One whose set cannot
 * be read may be over any of them, so all are held anew.
 */
async function heldNow(
  { hold, ref, ...state }: GroupState,
  { plan, context }: Judged,
): Promise<HeldRemovals | undefined> {
  if (hold === undefined) return undefined;
  const { ports, connection } = context.lane;
  const users = await ports.groups.readHeld(ref, hold);
  if (users !== undefined && digestOf(state.platformId, plan, [...users]) !== hold.digest) return undefined;
  const current: HeldRemovals =
    users === undefined
      ? { hold: { ...hold, decision: { kind: 'waiting' }, expiresAtMs: 0 }, users: new Set(plan.removals) }
      : { hold, users };
  return hasSay(current, plan.removals, connection.settings.guard, ports.clock()) ? current : undefined;
}

interface Reserved {
  readonly reservation?: GuardReservation;
  readonly instead?: GuardRecord;
  readonly stoppedBy?: Hold['rule'];
}

async function reserve(removals: number, { plan, context }: Judged): Promise<Reserved> {
  const { state, lane, intent, current } = context;
  const { ports, connection } = lane;
  const limits = connection.settings.guard;
  if (limits === null) return {};
  const { connection: name, group } = state.ref;
  const instead = state.unsettledRemovals;
  // Either the earlier write happens yet or this one does, so the larger of the two is what is at stake.
  const atStake = Math.max(removals, instead?.removals ?? 0);
  const reservation = { connection: name, group, intent, atMs: ports.clock(), removals: atStake };
  const recent = await ports.guard.reserve(reservation, instead);
  const size = current?.users.size ?? 0;
  const deletesGroup = plan.departs;
  const judgement = judgeRemovals({ limits, size, removals: atStake, deletesGroup, recent });
  if (judgement.allowed) return { reservation, ...(instead && { instead }) };
  await ports.guard.cancel(reservation);
  return { stoppedBy: judgement.rule };
}

/** Records a hold over exactly these users; one over the same set that is not over stays as it is. */
async function holdAll(
  users: readonly PlatformUserId[],
  rule: Hold['rule'],
  { plan, context, current: before }: Judged & { readonly current: HeldRemovals | undefined },
): Promise<Guarded> {
  const { state, lane, current } = context;
  const held = new Set(users);
  const digest = digestOf(state.platformId, plan, users);
  const nowMs = lane.ports.clock();
  if (before?.hold.digest !== digest || isOver(before.hold, nowMs)) {
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
function digestOf(
  platformId: PlatformGroupId | undefined,
  plan: Plan,
  users: readonly PlatformUserId[],
): string {
  const action = plan.departs ? 'delete' : 'remove';
  const set = JSON.stringify([platformId ?? null, action, [...users].sort()]);
  return createHash('sha256').update(set).digest('hex');
}
