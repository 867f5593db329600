import type { GroupState, GuardRecord, Intent, Uncertain } from '../../domain/group-state.ts';
import type { PlatformGroupId, PlatformUserId } from '../../domain/ids.ts';
import type { ObservedGroup, View } from '../../domain/view.ts';
import { judgeAnswer, type Outcome, showsWrite } from '../../plan/answer.ts';
import { countsOf } from '../../plan/counts.ts';
import { SETTLED } from '../../plan/decide/settle.ts';
import type { Write } from '../../plan/decision.ts';
import type { Reservation, Wanted } from '../../plan/facts.ts';
import { mayPrecedeWriteForMs } from '../../plan/foreign.ts';
import type { Flip } from '../ports/groups.ts';
import { retireClaim } from '../retire-claim.ts';
import { auditOf, originOf } from './audit.ts';
import { closeDrift, linkTo, recordForeign } from './foreign.ts';
import { ALL_MEMBERS, learn } from './load.ts';
import { isUnfinished, type Performed, type Round, type Step, SUPERSEDED, type Turn } from './turn.ts';
import { readRecord, storeMoved, withUncertain } from './uncertain.ts';

/** An attempt that has reached its write; all facts for the write have been read. */
export interface Writing {
  readonly write: Write;
  readonly intent: Intent;
  /** As read, with the open intent. */
  readonly round: Round & { readonly wanted: Wanted };
  readonly turn: Turn;
}

export const recordOf = ({ intent, atMs, removals }: Reservation): GuardRecord => ({
  intent,
  atMs,
  removals,
});

/**
 * The platform has answered: its answer becomes the group's view, and the intent ends. Members that were sent and are
 * not shown stay wanted until a later fetch. Members that are shown and were not sent come from another client.
 */
export async function confirmWrite(
  answered: ObservedGroup | undefined,
  writing: Writing,
): Promise<Performed> {
  const observed = await shownAfter(answered, writing);
  const { write, intent, round, turn } = writing;
  const { ports } = turn;
  const { state } = round;
  const { outcome, wanted } = await judged(observed, writing);
  const { foreign, view, unshown } = outcome;
  await markUnshown(unshown, state, wanted, turn);
  await markTaken(outcome.view, state, wanted, turn);
  const found = foreign && (await recordForeign(foreign, state, turn));
  if (foreign !== undefined && found === undefined) return SUPERSEDED;
  const platform =
    observed && view && (await linkTo(state, observed, view, turn, preparedIn(writing, outcome)));
  const uncertain = await stillUncertain(observed, outcome, writing);
  const nowMs = ports.clock();
  const ending = { atMs: nowMs, versionAfter: observed?.version ?? null, outcome: 'written' } as const;
  const origin = originOf(state, wanted, write.consumes);
  const audited = await turn.record(state, auditOf(intent, outcome.changes, origin, ending));
  // Before the commit, which may leave the group clean: after a crash in between, the open intent is settled again.
  if (observed === undefined) await retireDeleted(state, turn);
  const driftClosed = closesDrift(write, outcome);
  if (driftClosed) await closeDrift(state, turn);
  const flipped = await ports.groups.flip(state.ref, {
    intent: intent.id,
    seen: state,
    writtenAtMs: nowMs,
    calledMs: turn.calledMs(),
    wakeAtMs: nowMs + ports.coalesceMs,
    driftClosed,
    settled: outcome.isUndone ? undefined : settledBy(write, wanted),
    counts: countsOf(wanted, view, unshown),
    hasRemoved: write.plan.removals.length > outcome.kept.length,
    ...(platform && { platform }),
    ...(intent.action === 'create' && { createdAtMs: nowMs }),
    found: { ...found, ...(found && { flapDamping: foreign?.flapDamping }), audited, uncertain },
    ...leftovers(writing, outcome),
  });
  if (flipped === undefined) return SUPERSEDED;
  await giveBackKept(outcome, writing);
  return { step: written(writing, outcome, flipped.clean) };
}

const written = ({ write, intent }: Writing, outcome: Outcome, clean: boolean): Step => ({
  kind: 'written',
  write: {
    action: intent.action,
    added: outcome.changes.filter(({ kind }) => kind === 'add_member').length,
    removed: write.plan.removals.length - outcome.kept.length,
  },
  clean,
  isContested: outcome.foreign !== undefined,
  undone: outcome.trouble,
});

/** The stored view of a new group, if the platform shows exactly that. */
const preparedIn = ({ intent }: Writing, { isAsPrepared }: Outcome) =>
  intent.action === 'create' && isAsPrepared ? intent.change : undefined;

/** The write leaves no difference that another client made. */
const closesDrift = ({ held, left }: Write, { foreign, isUndone }: Outcome): boolean =>
  held.size === 0 && foreign === undefined && !isUndone && left === undefined;

async function retireDeleted({ platformId, ref }: GroupState, { connection, ports }: Turn): Promise<void> {
  if (platformId !== undefined) await retireClaim(connection.company, platformId, ref, ports);
}

/** The record of uncertain writes after this write. */
function stillUncertain(
  observed: ObservedGroup | undefined,
  outcome: Outcome,
  { write, intent, round, turn }: Writing,
): Promise<Uncertain | undefined> | undefined {
  const { view } = outcome;
  if (observed === undefined || view === undefined || isCertain(outcome, round.state)) return undefined;
  const record = mayTakeEffect(observed, outcome, intent)
    ? withUncertain(intent, { ...round, after: write.plan.after }, turn.ports.clock(), { isAnswered: true })
    : readRecord(round);
  return storeMoved(record, round, { observed, view }, turn);
}

/** Earlier writes were answered, and this write is shown completely, so no earlier write can still take effect. */
const isCertain = ({ isAsPrepared }: Outcome, { uncertain }: GroupState): boolean =>
  isAsPrepared && uncertain?.isAnswered === true;

/**
 * After a successful write the platform may still show the state from before, even with the new version: the write may
 * still take effect.
 */
const mayTakeEffect = (
  observed: ObservedGroup | undefined,
  { unshown, isUndone, trouble }: Outcome,
  { versionBefore }: Intent,
): boolean =>
  unshown.length > 0 || trouble !== undefined || (isUndone && observed?.version === versionBefore);

async function judged(
  observed: ObservedGroup | undefined,
  { write, round, turn }: Writing,
): Promise<{ readonly outcome: Outcome; readonly wanted: Wanted }> {
  let known = round;
  for (;;) {
    const judgement = judgeAnswer(write.plan, observed, known);
    const { wanted } = known;
    const isAnswered = !('kind' in judgement);
    // If the answer differs from the write, its meaning depends on the persons of all members.
    if (isAnswered && (judgement.isAsPrepared || !wanted.isPart)) return { outcome: judgement, wanted };
    const question = isAnswered || wanted.isPart ? ALL_MEMBERS : judgement;
    known = await learn(question, known, turn);
  }
}

const settledBy = ({ held }: Write, { state }: Wanted) => (held.size > 0 ? 'held' : SETTLED[state]);

/** Ends the marks of members that the platform had refused or not shown, and that are in the group now. */
async function markTaken(view: View | undefined, { ref }: GroupState, { standing }: Wanted, { ports }: Turn) {
  for (const [user, some] of standing) {
    if (view?.users.has(user) !== true) continue;
    for (const { member, wasRefused, unshown } of some) {
      if (wasRefused || unshown) await ports.groups.markPending(ref, member, undefined);
    }
  }
}

/** Such members are still sent. A mark keeps its age, and ends when a later fetch shows the member. */
async function markUnshown(
  users: readonly PlatformUserId[],
  { ref }: GroupState,
  { standing, registers }: Wanted,
  { ports }: Turn,
): Promise<void> {
  const atMs = ports.clock();
  const marks = new Map(registers.map(({ member, pending }) => [member, pending]));
  for (const { member, revision } of users.flatMap((user) => standing.get(user) ?? [])) {
    const before = marks.get(member);
    const sinceMs = before?.cause === 'refused' ? before.sinceMs : atMs;
    await ports.groups.markPending(ref, member, { cause: 'refused', sinceMs, unshown: { revision, atMs } });
  }
}

/**
 * The group after the write. An answer that does not show what was sent may be older than the write, so the group is
 * fetched. A fetch that may show a version from before the write proves nothing.
 */
async function shownAfter(
  answered: ObservedGroup | undefined,
  { write: { plan }, intent, round, turn }: Writing,
): Promise<ObservedGroup | undefined> {
  if (answered === undefined || showsWrite(plan, answered)) return answered;
  const fetched = await turn.platform.groups.get(answered.id as PlatformGroupId);
  const state = { ...round.state, version: answered.version };
  const known = { ...round, state, nowMs: turn.ports.clock() };
  const isUnproven =
    fetched === undefined ||
    fetched.version === intent.versionBefore ||
    (!showsWrite(plan, fetched) && mayPrecedeWriteForMs(fetched, known) > 0);
  return isUnproven ? answered : fetched;
}

/** The approval that the write used up, and whether the group stays dirty after it. */
function leftovers(
  { write: { consumes, left }, intent, round: { rejected, state }, turn: { trial } }: Writing,
  outcome: Outcome,
): Partial<Flip> {
  const { kept, foreign, isUndone, unshown } = outcome;
  // An approval of removals that did not happen stays.
  const isUsedUp = consumes !== undefined && kept.length === 0;
  const isEnded = isCertain(outcome, state);
  // An earlier write may still take effect, so the group is fetched once more.
  const isLookedFor = rejected !== undefined || (state.uncertain !== undefined && !isEnded);
  // The hold was about another platform group, which this one replaces.
  const isHeldBefore = intent.action === 'create' && (state.hold ?? state.approval) !== undefined;
  const isLeft = [
    foreign !== undefined,
    isUndone,
    isLookedFor,
    isHeldBefore,
    left !== undefined,
    unshown.length > 0,
    isUnfinished(trial),
  ].includes(true);
  return {
    ...(isEnded && { isCertain: true }),
    ...(isUsedUp && { consumedHold: consumes }),
    ...(isLeft && { unfinished: true }),
  };
}

/** The guard stops counting removals that did not happen; otherwise they would hold the leavers of other groups. */
async function giveBackKept({ kept }: Outcome, { write, round, turn }: Writing): Promise<void> {
  const { reservation, state } = round;
  if (kept.length === 0 || !write.isReserved || reservation === undefined) return;
  const { connection, group } = state.ref;
  const happened = Math.min(reservation.removals, write.plan.removals.length - kept.length);
  const { size } = reservation;
  const deletes = write.plan.departs ? state.platformId : undefined;
  await turn.ports.guard.reduce({ connection, group, size, deletes, ...recordOf(reservation) }, happened);
}
