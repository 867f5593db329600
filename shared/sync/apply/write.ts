import { eachField, FIELD_NAMES, GROUP_FIELDS } from '../../domain/group-fields.ts';
import type { GroupState, GuardRecord, Intent, WriteAction } from '../../domain/group-state.ts';
import { intentId, type PlatformGroupId, type PlatformUserId, type VersionToken } from '../../domain/ids.ts';
import { CALL_BEGINS_WITHIN_MS } from '../../domain/promise.ts';
import { isWhole, type ListedGroup, type ObservedGroup, type View } from '../../domain/view.ts';
import { judgeAnswer, type Outcome } from '../../plan/answer.ts';
import { countsOf, type Decision, SETTLED, type Write } from '../../plan/decide.ts';
import type { Reservation, Wanted } from '../../plan/facts.ts';
import { isOurCreation } from '../../plan/foreign.ts';
import { judgeRemovals, NOTHING_REMOVED, suspectsAt } from '../../plan/guard.ts';
import { meaningOf } from '../../plan/meaning.ts';
import { isListed } from '../../plan/names.ts';
import { compareText, type Plan } from '../../plan/plan.ts';
import type { Flip } from '../ports/groups.ts';
import { type GroupFields, PlatformFailure } from '../ports/platform.ts';
import { MAX_REFUSALS, SUSPECTS } from '../tuning.ts';
import { auditOf, originOf } from './audit.ts';
import { ALL_MEMBERS, learn } from './facts.ts';
import { giveUp, searchedBefore } from './failure.ts';
import { closeDrift, linkTo, recordForeign } from './foreign.ts';
import { OVERTAKEN, type Performed, type Round, type Trial, type Turn } from './turn.ts';

/** A round with the write that it has come to: what was read for it is there. */
interface Writing {
  readonly write: Write;
  readonly intent: Intent;
  /** As read, with the open intent. */
  readonly round: Round & { readonly wanted: Wanted };
  readonly turn: Turn;
}

/** Carries out a plan: chunks of the view, intent, call, audit, flip. */
export async function performWrite(write: Write, round: Round, turn: Turn): Promise<Performed> {
  const { state, wanted } = round;
  const { ports } = turn;
  if (wanted === undefined) throw new Error('expected a write to be planned from what the directory wants');
  const { connection } = state.ref;
  const intent = await openIntent(write, round, turn);
  if (intent === undefined) {
    await unreserved(round, turn);
    return OVERTAKEN;
  }
  if (write.isReserved && state.unsettledRemovals !== undefined) {
    await ports.guard.cancel({ connection, ...state.unsettledRemovals });
  }
  turn.opened(intent.id);
  const writing = { write, intent, round: { ...round, wanted, state: { ...state, intent } }, turn };
  let observed: ObservedGroup | undefined;
  try {
    observed = await call(write.plan, intent, state, turn);
  } catch (cause) {
    if (!(cause instanceof PlatformFailure)) throw cause;
    return afterFailure(cause, writing);
  }
  // A look that fails from here on says nothing of the write: the intent stays, to be settled.
  if (intent.action !== 'create' || observed === undefined || (await isCreated(observed, writing)))
    return confirmWrite(observed, writing);
  const message = `expected a new group, but the answer is about ${observed.id}, which is another one`;
  throw new PlatformFailure('unavailable', message, {});
}

/**
 * What was there before a POST is not what it made, nor is another one beside a group as we sent it, nor what is another
 * directory group's by now: what the POST made is looked for. Any other name is what the platform made of ours.
 */
async function isCreated(observed: ObservedGroup, { write, intent, round, turn }: Writing): Promise<boolean> {
  const isIt = ({ id }: ListedGroup) => id === observed.id;
  if (round.listed && isListed(round.listed.groups, observed.id)) return false;
  const fits = (group: ListedGroup) => isWhole(group) && isOurCreation(group, intent, write.plan.after);
  if (!fits(observed)) {
    const groups = await turn.platform.groups.list(0);
    if (groups.some((group) => !isIt(group) && fits(group))) return false;
  }
  return turn.claim(observed.id as PlatformGroupId);
}

async function openIntent(
  { plan, known, consumes, isReserved }: Write,
  { state, reservation }: Round,
  { ports, connection: { settings } }: Turn,
): Promise<Intent | undefined> {
  const id = reservation?.intent ?? intentId(ports.newId());
  const view = plan.after && (await ports.groups.prepareView(state, id, plan.after, settings.membership));
  const intent: Intent = {
    id,
    action: plan.action as WriteAction,
    atMs: ports.clock(),
    name: plan.after?.name ?? '',
    spokeId: plan.after?.spokeId ?? '',
    known,
    ...(isReserved && reservation !== undefined ? { reserved: recordOf(reservation) } : {}),
    ...(consumes === undefined ? {} : { consumes }),
    ...(view === undefined ? {} : { view }),
    ...(state.platformId === undefined ? {} : { platformId: state.platformId }),
    ...(state.version === undefined ? {} : { versionBefore: state.version }),
  };
  return (await ports.groups.openIntent(state, intent)) ? intent : undefined;
}

const recordOf = ({ intent, atMs, removals }: Reservation): GuardRecord => ({ intent, atMs, removals });

/** @returns the group as the platform answered it; undefined after a deletion */
async function call(
  plan: Plan,
  intent: Intent,
  state: GroupState,
  { platform: { groups }, ports }: Turn,
): Promise<ObservedGroup | undefined> {
  const id = state.platformId as PlatformGroupId;
  const version = state.version as VersionToken;
  // Whoever finds the intent knows by its age whether the call may still be under way.
  if (ports.clock() - intent.atMs > CALL_BEGINS_WITHIN_MS) {
    const message = 'a write was not sent: its look at the group was too old';
    throw new PlatformFailure('unreached', message, {});
  }
  if (plan.after === undefined) {
    await groups.delete(id);
    return undefined;
  }
  const { after } = plan;
  const whole = { ...eachField((field) => after[field] ?? ''), users: [...after.users.keys()] };
  switch (plan.action) {
    case 'create':
      return groups.create(whole);
    case 'put':
      return groups.put(id, whole, version);
    default:
      return groups.patch(id, changedFields(plan, whole), version);
  }
}

function changedFields(plan: Plan, whole: Required<GroupFields>): GroupFields {
  const kinds = new Set(plan.changes.map(({ kind }) => kind));
  const changed = FIELD_NAMES.filter((field) => kinds.has(GROUP_FIELDS[field].change));
  return {
    ...Object.fromEntries(changed.map((field) => [field, whole[field]])),
    ...(kinds.has('add_member') || kinds.has('remove_member') ? { users: whole.users } : {}),
  };
}

/**
 * A write that certainly did not happen leaves no intent; any other leaves it, to be settled by a look. Whichever 4xx it
 * was: if the version is not the one that we sent, it was a conflict, else a refusal, so the round goes on with a look.
 */
async function afterFailure(
  cause: PlatformFailure,
  { write, intent, round, turn }: Writing,
): Promise<Performed> {
  const { action } = intent;
  const called = action === 'patch' || action === 'put' ? 'change' : action;
  const { happened, next } = meaningOf(cause, called);
  if (happened === 'unknown') throw cause;
  const { ref, unsettledRemovals, platformId } = round.state;
  // Removals that stand in the guard's book for an earlier write as well, which may yet happen: the next takes them over.
  const owed = write.isReserved && unsettledRemovals !== undefined ? intent.reserved : undefined;
  const refused: Round = {
    ...round,
    look: undefined,
    rejected: { owed, name: nameIn(write.plan) },
    refused: { write, intent, cause },
  };
  if (next === 'compare' && needsLook(cause, write.plan, turn.trial)) return { round: refused };
  await turn.ports.groups.dropIntent(ref, intent, { owed });
  await unreserve(refused, turn);
  const { intent: _, ...state } = round.state;
  if (next === 'refuse' || next === 'compare') return { round: { ...refused, state } };
  if (next !== 'gone' || platformId === undefined) throw cause;
  return { round: { ...refused, state, look: 'gone' } };
}

/**
 * Whether somebody else was faster. Of the parts of a write that was looked at already, only the last is looked at again:
 * before one user is taken for refused.
 */
const needsLook = ({ status = 0 }: PlatformFailure, plan: Plan, { refusals, hasWritten }: Trial): boolean =>
  CONFLICTS.has(status) || (hasWritten ? additionsIn(plan).length === 1 : refusals === 0);

const CONFLICTS: ReadonlySet<number> = new Set([409, 412]);

const additionsIn = ({ changes }: Plan): readonly PlatformUserId[] =>
  changes.flatMap((change) => (change.kind === 'add_member' ? [change.after] : []));

/** A whole group is sent with its name, be that new or not. */
const nameIn = ({ action, changes, after }: Plan): string | undefined =>
  action === 'put' || changes.some(({ kind }) => kind === 'create_group' || kind === 'rename')
    ? after?.name
    : undefined;

/** The removals of a write that will not happen leave the guard's book, unless they are owed for an earlier one. */
export async function unreserve(round: Round, turn: Turn): Promise<void> {
  if (round.refused?.write.isReserved === true && round.rejected?.owed === undefined)
    await unreserved(round, turn);
}

/** Removals that are held, or are no more, leave the guard's book. */
export async function unreserved(round: Round, { ports }: Turn): Promise<Round> {
  const { reservation, state } = round;
  if (reservation === undefined) return round;
  await ports.guard.cancel({ connection: state.ref.connection, ...reservation });
  return { ...round, reservation: undefined };
}

/** Told in the audit; what can be sent without the additions, or by halves of them, is tried so. */
export async function refuse(
  { firstly }: Extract<Decision, { kind: 'fail' }>,
  round: Round,
  turn: Turn,
): Promise<Performed> {
  const { state, refused, wanted } = round;
  const { ports } = turn;
  if (refused === undefined) throw new Error('expected a write that the platform has refused');
  const { write, intent, cause } = refused;
  const audited = await turn.record(
    state,
    auditOf(intent, write.plan.changes, originOf(state, wanted, write.consumes), {
      atMs: ports.clock(),
      versionAfter: intent.versionBefore ?? null,
      outcome: 'rejected',
    }),
  );
  const additions = additionsIn(write.plan);
  const wasRefused = (user: PlatformUserId) => wanted?.standing.get(user)?.some((one) => one.wasRefused);
  const isKnown = additions.length > 0 && additions.every(wasRefused);
  // It may be a conflict that does not show yet: the search for refused users would find some, or spend the hour's calls.
  if (firstly !== undefined && !turn.trial.hasWritten && !isKnown) return { step: firstly };
  const trial =
    narrowed(additions, write.plan.changes.length > additions.length, { ...turn.trial, isKnown }) ??
    nextSuspects(write, round, turn.trial);
  if (trial === undefined || wanted === undefined) {
    if (firstly !== undefined) return { step: firstly };
    const isGivenUp = await giveUp({ ...state, calledMs: turn.calledMs() }, cause, { ports, audited });
    return isGivenUp ? { step: { kind: 'failed', cause } } : OVERTAKEN;
  }
  if (trial === 'refused') await markRefused(additions, state, wanted, turn);
  const { lots, refusals } = turn.trial;
  const next = trial === 'refused' ? { ...turn.trial, lots: lots.slice(1), refusals: refusals + 1 } : trial;
  return { step: { kind: 'narrowed', trial: next } };
}

/**
 * What to try after a refusal. The first lot is the one that is tried next, unless there is something else to be sent.
 * @returns `refused` where it is certainly this one user; undefined where it is not the additions, or nobody can tell
 */
function narrowed(
  additions: readonly PlatformUserId[],
  hasOthers: boolean,
  { isKnown, ...trial }: Trial & { readonly isKnown: boolean },
): Trial | 'refused' | undefined {
  const { lots, refusals, hasWritten } = trial;
  const again = (waiting: Trial['lots']): Trial => ({ ...trial, lots: waiting, refusals: refusals + 1 });
  // Nothing at all was taken: it is the group that is refused.
  if (additions.length === 0 || (!hasWritten && refusals + 1 >= MAX_REFUSALS)) return undefined;
  if (hasOthers) return again([additions, ...lots]);
  if (additions.length === 1 && (hasWritten || isKnown)) return 'refused';
  if (additions.length === 1 && lots.length === 0) return undefined;
  const middle = Math.ceil(additions.length / 2);
  const halves = [additions.slice(0, middle), additions.slice(middle)].filter(({ length }) => length > 0);
  const [next = [], ...rest] = lots;
  // Until something was taken each try is half of what waits: no two have anybody in common, so few refused spoil few tries.
  if (!hasWritten && next.length > 1)
    return again([next.slice(Math.ceil(next.length / 2)), ...rest, ...halves]);
  return again([...lots, ...halves].slice(1));
}

/**
 * A leaver does not wait for some who may be in the group no more, as far as the platform is concerned: who they are
 * shows when the write is taken without them. They are added again at once, and only refused by themselves left out.
 * @returns undefined where nobody leaves, or everybody was tried
 */
function nextSuspects(
  { plan }: Write,
  { state, settings: { guard: limits }, views, wanted }: Round,
  { lots, refusals, suspects, leftOut, hasWritten }: Trial,
): Trial | undefined {
  const leavers = plan.removals.filter((user) => leftOut?.includes(user) !== true).length;
  if (leavers === 0) return undefined;
  const inside = [...(views?.base?.users.keys() ?? [])];
  const staying = inside.filter((user) => wanted?.group?.users.has(user)).sort(compareText);
  const judged = { limits, size: inside.length, deletesGroup: false, recent: NOTHING_REMOVED };
  const mayLeave = (count: number) => judgeRemovals({ ...judged, removals: count + leavers }).allowed;
  const tried = suspects + (leftOut === undefined ? 0 : 1);
  const next = suspectsAt(staying, searchedBefore(state) + tried, mayLeave);
  if (next === undefined) return undefined;
  const waiting = leftOut === undefined ? lots : lots.slice(1);
  const trial = { lots: [next, ...waiting], hasWritten, leftOut: next, suspects: tried };
  return { ...trial, refusals: tried < SUSPECTS ? Math.min(refusals + 1, MAX_REFUSALS - 1) : MAX_REFUSALS };
}

/**
 * The platform has answered: what it shows becomes the group's view, and the intent is over. Members that were sent and
 * are not shown were refused; what is shown and was not sent is somebody else's.
 */
async function confirmWrite(observed: ObservedGroup | undefined, writing: Writing): Promise<Performed> {
  const { write, intent, round, turn } = writing;
  const { ports } = turn;
  const { state } = round;
  const { outcome, wanted } = await judged(observed, writing);
  const { foreign, view } = outcome;
  const refused = await markRefused(outcome.refused, state, wanted, turn);
  await markTaken(outcome.view, state, wanted, turn);
  const found = foreign && (await recordForeign(foreign, state, turn));
  if (foreign !== undefined && found === undefined) return OVERTAKEN;
  // The prepared view serves where the platform shows just that.
  const how = { prepared: outcome.isAsPrepared ? intent.view : undefined, done: intent };
  const platform = observed && view && (await linkTo(state, observed, view, turn, how));
  const nowMs = ports.clock();
  const ending = { atMs: nowMs, versionAfter: observed?.version ?? null, outcome: 'written' } as const;
  const origin = originOf(state, wanted, write.consumes);
  const audited = await turn.record(state, auditOf(intent, outcome.changes, origin, ending));
  if (observed === undefined) await dropClaim(state, state, turn);
  const driftClosed = write.held.size === 0 && foreign === undefined && !outcome.isUndone;
  if (driftClosed) await closeDrift(state, turn);
  const counts = countsOf(wanted, view);
  const flipped = await ports.groups.flip(state.ref, {
    intent: intent.id,
    seen: state,
    nowMs,
    calledMs: turn.calledMs(),
    wakeAtMs: nowMs + ports.coalesceMs,
    driftClosed,
    settled: outcome.isUndone ? undefined : settledBy(write, wanted),
    counts: { ...counts, pending: counts.pending + refused },
    ...(platform === undefined ? {} : { platform }),
    ...(intent.action === 'create' ? { createdAtMs: nowMs } : {}),
    found: { ...found, ...(found && { contest: foreign?.contest }), audited },
    ...leftovers(writing, outcome),
  });
  if (flipped === undefined) return OVERTAKEN;
  await giveBackKept(outcome, writing);
  return {
    step: {
      kind: 'written',
      write: {
        action: intent.action,
        added: outcome.changes.filter(({ kind }) => kind === 'add_member').length,
        removed: write.plan.removals.length - outcome.kept.length,
      },
      clean: flipped.clean,
      isContested: foreign !== undefined,
      undone: outcome.trouble,
    },
  };
}

/** Before the flip, which may leave nothing to be done: a crash in between is settled by a look. */
export async function dropClaim(
  { platformId }: Pick<Intent, 'platformId'>,
  { ref }: GroupState,
  { ports, connection }: Turn,
): Promise<void> {
  if (platformId !== undefined) await ports.claims.drop(connection.company, platformId, ref);
}

async function judged(
  observed: ObservedGroup | undefined,
  { write, round, turn }: Writing,
): Promise<{ readonly outcome: Outcome; readonly wanted: Wanted }> {
  let known = round;
  for (;;) {
    const judgement = judgeAnswer(write.plan, observed, known);
    const { wanted } = known;
    const isAnswered = !('kind' in judgement);
    // What an answer means that is not what was sent hangs on who all the members are.
    if (isAnswered && (judgement.isAsPrepared || !wanted.isPart)) return { outcome: judgement, wanted };
    const question = isAnswered || wanted.isPart ? ALL_MEMBERS : judgement;
    if (question.kind === 'reserve') throw new Error('expected an answer to be judged without the guard');
    known = await learn(question, known, turn);
  }
}

const settledBy = ({ held }: Write, { state }: Wanted) => (held.size > 0 ? 'held' : SETTLED[state]);

/** Members whom the platform had refused, and has in the group now. */
async function markTaken(view: View | undefined, { ref }: GroupState, { standing }: Wanted, { ports }: Turn) {
  for (const [user, some] of standing) {
    if (view?.users.has(user) !== true) continue;
    for (const { member, wasRefused } of some) {
      if (wasRefused) await ports.groups.markPending(ref, member, undefined);
    }
  }
}

async function markRefused(
  users: readonly PlatformUserId[],
  { ref }: GroupState,
  wanted: Wanted,
  { ports }: Turn,
): Promise<number> {
  const refused = users.flatMap((user) => wanted.standing.get(user) ?? []);
  for (const { member, revision } of refused) {
    const mark = { cause: 'refused' as const, sinceMs: ports.clock(), personRevision: revision };
    await ports.groups.markPending(ref, member, mark);
  }
  return refused.length;
}

/** What the write used up, and why the group is not clean after it. */
function leftovers(
  { write: { consumes }, intent, round: { rejected, state }, turn: { trial } }: Writing,
  { kept, foreign, isUndone }: Outcome,
): Partial<Flip> {
  // An approval of removals that did not happen stays.
  const isUsedUp = consumes !== undefined && kept.length === 0;
  // An earlier write that may land yet is looked for once more, or its view would explain what others do for good.
  const isLookedFor = rejected !== undefined || state.doubt !== undefined;
  // What was held of another platform group, which this one replaces.
  const isHeldBefore = intent.action === 'create' && (state.hold ?? state.approval) !== undefined;
  const isUnfinished =
    foreign !== undefined || isUndone || isLookedFor || isHeldBefore || trial.lots.length > 0;
  return { ...(isUsedUp ? { consumedHold: consumes } : {}), ...(isUnfinished ? { unfinished: true } : {}) };
}

/** Removals that did not happen leave the guard's book, else they would hold up everybody's leavers. */
async function giveBackKept({ kept }: Outcome, { write, round, turn }: Writing): Promise<void> {
  const { reservation, state } = round;
  if (kept.length === 0 || !write.isReserved || reservation === undefined) return;
  const { connection, group } = state.ref;
  const happened = Math.min(reservation.removals, write.plan.removals.length - kept.length);
  const { size } = reservation;
  await turn.ports.guard.reduce({ connection, group, size, ...recordOf(reservation) }, happened);
}
