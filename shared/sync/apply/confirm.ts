import { hasDeparted } from '../../domain/group.ts';
import type {
  GroupState,
  GuardRecord,
  Intent,
  LinkedGroup,
  SettledState,
  Uncertain,
} from '../../domain/group-state.ts';
import { type Step, stepFrom } from '../../domain/history.ts';
import type { PlatformGroupId, PlatformUserId } from '../../domain/ids.ts';
import type { ObservedGroup, View } from '../../domain/view.ts';
import { judgeAnswer, type Outcome, showsWrite } from '../../plan/answer.ts';
import { countsOf } from '../../plan/counts.ts';
import { SETTLED } from '../../plan/decide/settle.ts';
import type { Write } from '../../plan/decision.ts';
import { mayPrecedeWriteForMs } from '../../plan/external-change.ts';
import type { Reservation, Wanted } from '../../plan/facts.ts';
import { changeByWrite, type KnownOutcome } from '../../plan/transition.ts';
import { retireClaim } from '../retire-claim.ts';
import { auditOf, explain } from './audit.ts';
import {
  type ApplyContext,
  isUnfinished,
  type PassFacts,
  type PassResult,
  type Performed,
  SUPERSEDED,
} from './context.ts';
import { closeDrift, linkTo, recordExternal } from './external-change.ts';
import { ALL_MEMBERS, learn } from './load.ts';
import { readRecord, storeMoved, withUncertain } from './uncertain.ts';

/** A write whose facts have been read and whose intent is open. */
export interface Writing {
  readonly write: Write;
  readonly intent: Intent;
  readonly facts: PassFacts & { readonly wanted: Wanted };
  readonly context: ApplyContext;
}

export const recordOf = ({ intent, atMs, removals }: Reservation): GuardRecord => ({
  intent,
  atMs,
  removals,
});

/**
 * Commits a write that the platform has answered. The answer becomes the group's view, and the intent ends. If the
 * answer lacks a sent user, the member is marked, and stays wanted. If the answer shows any other user, the platform
 * has kept a removed user, or the platform or another client has added the user.
 */
export async function confirmWrite(
  answered: ObservedGroup | undefined,
  writing: Writing,
): Promise<Performed> {
  const observed = await shownAfter(answered, writing);
  const { write, intent, facts, context } = writing;
  const { ports } = context;
  const { state } = facts;
  const { outcome, wanted } = await judged(observed, writing);
  const { external, view, hidden } = outcome;
  await markHidden(hidden, state, wanted, context);
  await markTaken(outcome.view, state, wanted, context);
  const found = external && (await recordExternal(external, state, context));
  if (external !== undefined && found === undefined) return SUPERSEDED;
  const platform =
    observed && view && (await linkTo(state, observed, view, context, preparedIn(writing, outcome)));
  const uncertain = await stillUncertain(observed, outcome, writing);
  const nowMs = ports.clock();
  const step = stepOf(platform, outcome, writing);
  const result = { atMs: nowMs, versionAfter: observed?.version ?? null, outcome: 'written', step } as const;
  const explained = await explain(outcome.changes, { ...facts, wanted }, write.consumes, context);
  const audited = await context.record(state, auditOf(intent, explained, result));
  // The claim is retired before the commit. After the commit the group may be clean, so apply would not read it again.
  // After a crash between the two writes, the next pass settles the open intent again.
  if (observed === undefined) await retireDeleted(state, context);
  const driftClosed = closesDrift(write, outcome);
  if (driftClosed) await closeDrift(state, context);
  const { isCertain, ...rest } = leftovers(writing, outcome);
  const made: KnownOutcome = {
    writtenAtMs: nowMs,
    calledMs: context.calledMs(),
    driftClosed,
    settled: outcome.isUndone ? undefined : settledBy(write, wanted, state),
    counts: countsOf(wanted, view, hidden),
    hasRemoved: write.plan.removals.length > outcome.kept.length,
    isCertain,
    platform,
    ...(intent.action === 'create' && { createdAtMs: nowMs }),
    found: { ...found, ...(found && { flapDamping: external?.flapDamping }), audited, uncertain },
  };
  const committed = await ports.groups.commit(state.ref, {
    ...made,
    ...rest,
    intent: intent.id,
    seen: state,
    change: changeByWrite(state, made),
    wakeAtMs: nowMs + ports.coalesceMs,
  });
  if (committed === undefined) return SUPERSEDED;
  await giveBackKept(outcome, writing);
  return { result: written(writing, outcome, committed.clean) };
}

function stepOf(platform: LinkedGroup | undefined, { view, external }: Outcome, writing: Writing): Step {
  const { intent, facts } = writing;
  const differences = external?.external.differences ?? [];
  return stepFrom(facts.state, facts.views?.base, platform && { link: platform, view }, {
    sinceMs: intent.atMs,
    external: differences.flatMap(({ before, after }) => [before ?? [], after ?? []].flat()),
  });
}

const written = ({ write, intent }: Writing, outcome: Outcome, clean: boolean): PassResult => ({
  kind: 'written',
  write: {
    action: intent.action,
    added: outcome.changes.filter(({ kind }) => kind === 'add_member').length,
    removed: write.plan.removals.length - outcome.kept.length,
  },
  clean,
  isExternallyChanged: outcome.external !== undefined,
  undone: outcome.error,
});

/** Returns the location of the stored view of a creation, if the platform shows exactly this view. */
const preparedIn = ({ intent }: Writing, { isAsPrepared }: Outcome) =>
  intent.action === 'create' && isAsPrepared ? intent.change : undefined;

const closesDrift = ({ held, withheld, isUnrestated }: Write, { external, isUndone }: Outcome): boolean =>
  held.size === 0 && !isUnrestated && external === undefined && !isUndone && withheld === undefined;

async function retireDeleted({ link, ref }: GroupState, { connection, ports }: ApplyContext): Promise<void> {
  if (link !== undefined) await retireClaim(connection.company, link.id, ref, ports);
}

function stillUncertain(
  observed: ObservedGroup | undefined,
  outcome: Outcome,
  { write, intent, facts, context }: Writing,
): Promise<Uncertain | undefined> | undefined {
  const { view } = outcome;
  if (observed === undefined || view === undefined || isCertain(outcome, facts.state)) return undefined;
  const record = mayTakeEffect(observed, outcome, intent)
    ? withUncertain(intent, { ...facts, after: write.plan.after }, context.ports.clock(), {
        isAnswered: true,
      })
    : readRecord(facts);
  return storeMoved(record, facts, { observed, view }, context);
}

/**
 * Whether the earlier uncertain writes can no longer take effect. This is certain if the platform has answered them,
 * and now shows the present write completely.
 */
const isCertain = ({ isAsPrepared }: Outcome, { uncertain }: GroupState): boolean =>
  isAsPrepared && uncertain?.isAnswered === true;

/**
 * Whether a write with a successful answer may still take effect later. The answer may show the state from before the
 * write, even with the new version.
 */
const mayTakeEffect = (
  observed: ObservedGroup | undefined,
  { hidden, isUndone, error }: Outcome,
  { versionBefore }: Intent,
): boolean => hidden.length > 0 || error !== undefined || (isUndone && observed?.version === versionBefore);

async function judged(observed: ObservedGroup | undefined, { write, facts, context }: Writing) {
  let known = facts;
  for (;;) {
    const judgement = judgeAnswer(write.plan, observed, known);
    const { wanted } = known;
    const isAnswered = !('kind' in judgement);
    // If the answer differs from the write, the function needs all members to explain the difference.
    if (isAnswered && (judgement.isAsPrepared || !wanted.isPart)) return { outcome: judgement, wanted };
    const question = isAnswered || wanted.isPart ? ALL_MEMBERS : judgement;
    known = await learn(question, known, context);
  }
}

/** A write for a deleted group that is no part of the deletion means that the deletion is held. */
function settledBy(
  { held, isWaiting, plan, isUnrestated }: Write,
  { state }: Wanted,
  { registers }: GroupState,
): SettledState {
  if (held.size > 0 || isWaiting || (hasDeparted(registers) && !plan.departs)) return 'held';
  return isUnrestated && state === 'present' ? 'unrestated' : SETTLED[state];
}

/** Ends the marks of members that are in the group now, and that the platform had refused or not shown. */
async function markTaken(
  view: View | undefined,
  { ref }: GroupState,
  { membersByUser }: Wanted,
  { ports }: ApplyContext,
) {
  for (const [user, some] of membersByUser) {
    if (view?.users.has(user) !== true) continue;
    for (const { member, wasRefused, hidden } of some) {
      if (wasRefused || hidden) await ports.groups.markPending(ref, member, undefined);
    }
  }
}

/**
 * Marks members that the write sent, and that the platform does not show. Later writes still send these members. A
 * later mark does not change the time of the first mark. The mark ends when an answer or a fetch shows the member.
 */
async function markHidden(
  users: readonly PlatformUserId[],
  { ref }: GroupState,
  { membersByUser, registers }: Wanted,
  { ports }: ApplyContext,
): Promise<void> {
  const atMs = ports.clock();
  const marks = new Map(registers.map(({ member, pending }) => [member, pending]));
  for (const { member, revision } of users.flatMap((user) => membersByUser.get(user) ?? [])) {
    const before = marks.get(member);
    const sinceMs = before?.cause === 'refused' ? before.sinceMs : atMs;
    await ports.groups.markPending(ref, member, { cause: 'refused', sinceMs, hidden: { revision, atMs } });
  }
}

/**
 * Returns the group after the write. If the answer does not show the sent content, it may show the state from before
 * the write. So the group is fetched. The result is the fetched group, except after a 404 or if it may precede the
 * answer.
 */
async function shownAfter(
  answered: ObservedGroup | undefined,
  { write: { plan }, intent, facts, context }: Writing,
): Promise<ObservedGroup | undefined> {
  if (answered === undefined || showsWrite(plan, answered)) return answered;
  const fetched = await context.platform.groups.get(answered.id as PlatformGroupId);
  const now = { ...facts, nowMs: context.ports.clock() };
  const isUnproven =
    fetched === undefined ||
    fetched.version === intent.versionBefore ||
    (!showsWrite(plan, fetched) && mayPrecedeWriteForMs(fetched, now, answered.version) > 0);
  return isUnproven ? answered : fetched;
}

/** Returns whether the group stays dirty, whether uncertain writes end, and the approval that is used up. */
function leftovers(
  { write: { consumes, withheld, plan }, intent, facts, context: { bisection } }: Writing,
  outcome: Outcome,
) {
  const { rejected, state } = facts;
  const { kept, external, isUndone, hidden } = outcome;
  // The approval stays if the platform kept some of the users that the write removes.
  const isEnded = isCertain(outcome, state);
  // A later pass fetches the group after a refused write, and while an earlier write may still take effect.
  const needsFetchLater = rejected !== undefined || (state.uncertain !== undefined && !isEnded);
  // These holds are about the previous platform group, which the new platform group replaces.
  const isHeldBefore = intent.action === 'create' && state.removals !== undefined;
  const staysDirty = [
    external !== undefined,
    isUndone,
    needsFetchLater,
    isHeldBefore,
    withheld !== undefined,
    hidden.length > 0,
    isUnfinished(bisection),
    // The next decision releases the group.
    plan.departs && intent.action === 'patch',
  ].includes(true);
  return {
    isCertain: isEnded,
    ...(kept.length === 0 && { consumes }),
    ...(staysDirty && { unfinished: true }),
  };
}

/**
 * Reduces the guard's reservation by the removals that the platform did not make. Otherwise these removals would count
 * towards the limit of the connection.
 */
async function giveBackKept({ kept }: Outcome, { write, facts, context }: Writing): Promise<void> {
  const { reservation, state } = facts;
  if (kept.length === 0 || !write.isReserved || reservation === undefined) return;
  const { ref, link } = state;
  const happened = Math.min(reservation.removals, write.plan.removals.length - kept.length);
  const { size } = reservation;
  const record = { ...ref, platformId: link?.id, size, ...recordOf(reservation) };
  await context.ports.guard.reduce(record, happened);
}
