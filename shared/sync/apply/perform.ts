import type { GroupState } from '../../domain/group-state.ts';
import { HOLD_LIFE_MS, type Hold } from '../../domain/hold.ts';
import { intentId } from '../../domain/ids.ts';
import type { Decision, EndHold, StartHold } from '../../plan/decision.ts';
import type { Facts, Reservation, Wanted } from '../../plan/facts.ts';
import { type HeldSets, mayCoverRejected } from '../../plan/hold.ts';
import { atOnce } from '../gather.ts';
import type { RecentReservations } from '../ports/guard.ts';
import { type AuditLink, entryOf, OURSELVES } from '../ports/logs.ts';
import { PlatformFailure } from '../ports/platform.ts';
import type { Reading } from '../reading.ts';
import { WRITES_IN_FLIGHT } from '../tuning.ts';
import { adopt } from './adopt.ts';
import { originOf, unfoundOf } from './audit.ts';
import { giveUp, reportFieldFailure } from './failure.ts';
import { closeDrift, unlink } from './foreign.ts';
import { holdDigest, learn } from './load.ts';
import { refuse } from './narrow.ts';
import { observe } from './observe.ts';
import type { Performed, Round, Turn } from './turn.ts';
import { AGAIN, SUPERSEDED, unlessSuperseded } from './turn.ts';
import { stillOwed, storeRecord, withUncertain } from './uncertain.ts';
import { performWrite, unreserve, unreserved } from './write.ts';

type Of<Kind extends Decision['kind']> = Extract<Decision, { kind: Kind }>;

type Performer<Kind extends Decision['kind']> = (
  decision: Of<Kind>,
  round: Round,
  turn: Turn,
) => Promise<Performed>;

/** How each decision is carried out. */
const PERFORMERS: { readonly [Kind in Decision['kind']]: Performer<Kind> } = {
  read,
  reserve,
  hold: (decision, round, turn) =>
    decision.ends === undefined ? startHold(decision, round, turn) : endHold(decision, round, turn),
  write: async (decision, round, turn) =>
    performWrite(decision, decision.isReserved ? round : await unreserved(round, turn), turn),
  drop,
  observe,
  unlink,
  release: letGo,
  adopt,
  fail: refuse,
  wait: async ({ noting, yields = false, ...why }, round, turn) => {
    const { state } = yields ? await unreserved(round, turn) : round;
    const { groups, clock } = turn.ports;
    if (noting === 'missing') await groups.noteMissing(state, clock());
    const isStill = typeof noting !== 'object' || (await groups.noteMiss(state.ref, noting));
    return isStill ? { step: why } : SUPERSEDED;
  },
  settle,
};

/** Carries out one decision, in the fixed order of its effects. */
export const perform = (decision: Decision, round: Round, turn: Turn): Promise<Performed> =>
  (PERFORMERS[decision.kind] as Performer<Decision['kind']>)(decision, round, turn);

async function read(decision: Of<'read'>, round: Round, turn: Turn): Promise<Performed> {
  const known = await learn(decision, round, turn);
  if (known.wanted !== undefined && round.wanted === undefined)
    await markPending({ ...known, wanted: known.wanted }, turn);
  return { round: known };
}

/** Writes which members have to wait and why, where that has changed; the wait's age is kept while the cause is. */
async function markPending(
  { state: { ref }, wanted, views }: Round & { readonly wanted: Wanted },
  { ports }: Turn,
): Promise<void> {
  const { registers, pending, standing } = wanted;
  const sinceMs = ports.clock();
  // A member who is tried again counts as refused until the platform shows the member.
  const isTried = new Set(
    [...standing].flatMap(([user, some]) =>
      views?.base?.users.has(user)
        ? []
        : some.flatMap(({ member, wasRefused, unshown }) => (wasRefused || unshown ? [member] : [])),
    ),
  );
  const changed = registers.filter(
    ({ member, pending: mark }) => mark?.cause !== pending.get(member)?.cause && !isTried.has(member),
  );
  await atOnce(WRITES_IN_FLIGHT, changed, ({ member }) => {
    const mark = pending.get(member);
    return ports.groups.markPending(ref, member, mark === undefined ? undefined : { ...mark, sinceMs });
  });
}

/**
 * A reservation is put before the sum is read:
 *
 *     worker A   puts 60 ──▶ reads 60 + 60 ──▶ over the limit: takes its own back, holds
 *     worker B        puts 60 ──▶ reads 60 + 60 ──▶ the same
 *
 * so two at once may both be held, which is safe, but never both be let through.
 */
async function reserve(
  { removals, size, deletes, replaces }: Of<'reserve'>,
  round: Round,
  turn: Turn,
): Promise<Performed> {
  const { ports } = turn;
  const { ref, lastWriteAtMs, platformId } = round.state;
  const before = await unreserved(round, turn);
  const record = { intent: intentId(ports.newId()), atMs: ports.clock(), removals, size };
  const reservation = { ...ref, ...record, ...(deletes && { deletes: platformId }) };
  const reserved = await ports.guard.reserve(reservation, replaces, lastWriteAtMs);
  const recent = await withDeletions(reserved, round, turn);
  return { round: { ...before, reservation: { ...record, deletes, recent } } };
}

/**
 * Adds the deleted groups to the removals of the hour. The claims are counted only once there are so many deletions that
 * their number matters. The claim of a deleted group may have ended already, or may still be stored.
 */
export async function withDeletions(
  { deleted, ...recent }: RecentReservations,
  { state: { platformId }, settings: { guard } }: Pick<Facts, 'state' | 'settings'>,
  { connection, ports }: Reading,
): Promise<Reservation['recent']> {
  const others = [...deleted].filter((id) => id !== platformId);
  const isMany = guard !== null && others.length >= guard.deletedGroups;
  const claimed = isMany ? await ports.claims.claimedBy(connection.company, connection.name) : [];
  const managed = new Set([...claimed, ...others, ...(platformId === undefined ? [] : [platformId])]);
  return { ...recent, deletedGroups: others.length, managedGroups: managed.size };
}

async function startHold(decision: StartHold, round: Round, turn: Turn): Promise<Performed> {
  const { state } = round;
  const sets = heldBy(decision, round, turn.ports.clock());
  const before = await unreserved(round, turn);
  await turn.ports.groups.hold(state, sets, await recordHold(sets.hold.hold, true, round, turn));
  return { round: { ...before, ...withHeld(decision, state, sets) } };
}

/** The facts after a hold was recorded. */
export function withHeld<State extends GroupState>(
  { deletes }: StartHold,
  { approval: _, ...state }: State,
  { hold, approval }: HeldSets,
) {
  const about = deletes ? 'delete' : 'remove';
  const approved = approval && ({ users: approval.users, about } as const);
  return {
    state: { ...state, hold: hold.hold, ...(approval && { approval: approval.hold }) },
    held: { users: hold.users, about, approved },
  } as const;
}

async function endHold({ ends }: EndHold, round: Round, turn: Turn): Promise<Performed> {
  const { hold, approval } = round.state;
  const ended = ends.includes('hold') ? (hold ?? approval) : approval;
  await turn.ports.groups.dropHold(round.state, ends, await recordHold(ended, false, round, turn));
  return { round: { ...round, state: withoutHold(round.state, ends), held: undefined } };
}

export const withoutHold = ({ hold, approval, ...state }: GroupState, ends: EndHold['ends']): GroupState => ({
  ...state,
  ...(hold && !ends.includes('hold') && { hold }),
  ...(approval && !ends.includes('approval') && { approval }),
});

/** Before it is done; where another change of the group comes first, the next look finds the same again. */
function recordHold(hold: Hold | undefined, made: boolean, round: Round, turn: Turn): Promise<AuditLink> {
  const { state, wanted } = round;
  const said = hold === undefined ? null : `${hold.removes} to go, ${hold.keeps} stay`;
  const [before, after] = made ? [null, said] : [said, null];
  const reason = made ? `more than the rule ${hold?.rule} allows` : 'it is about nothing any more';
  const entry = entryOf(made ? 'hold' : 'drop_hold', { kind: 'hold', before, after, reason }, turn.ports);
  return turn.record(state, { ...entry, ...originOf(state, wanted) });
}

type HoldFacts = Pick<Round, 'state' | 'held' | 'settings'>;

/**
 * The hold to record, with the approved removals next to it. Both are stored in one write, so the hold is visible at
 * every moment. The store adds the location of the sets.
 */
export function heldBy(decision: StartHold, round: HoldFacts, nowMs: number): HeldSets {
  const { users, approved, deletes, size } = decision;
  const { platformId, hold, approval } = round.state;
  const permission = hold?.decision.kind === 'approved' ? hold : approval;
  const removes = approved.length;
  const digest = holdDigest(platformId, deletes ? 'delete' : 'remove', approved);
  return {
    hold: { hold: holdOf(decision, round, nowMs), users: new Set(users) },
    approval:
      permission === undefined || removes === 0
        ? undefined
        : {
            hold: { ...permission, digest, removes, keeps: size - removes, share: removes / size },
            users: new Set(approved),
          },
  };
}

function holdOf(
  { users, approved, size, rule, share, deletes }: StartHold,
  { state: { platformId, hold }, held, settings }: HoldFacts,
  nowMs: number,
): Hold {
  const isAfter = hold && mayCoverRejected(hold) && users.some((user) => held?.users?.has(user) ?? true);
  return {
    digest: holdDigest(platformId, deletes ? 'delete' : 'remove', users),
    rule,
    removes: users.length,
    keeps: size - users.length - approved.length,
    share: share ?? (size === 0 ? 0 : users.length / size),
    createdAtMs: nowMs,
    expiresAtMs: nowMs + HOLD_LIFE_MS,
    decision: { kind: 'waiting' },
    ...(isAfter && { afterRejection: true as const }),
    ...((settings.fourEyes || hold?.fourEyes === true) && { fourEyes: true as const }),
    chunks: 0,
    hash: '',
  };
}

function drop(decision: Of<'drop'>, round: Round, turn: Turn): Promise<Performed> {
  return (round.rejected === undefined ? dropUncertain : dropRefused)(decision, round, turn);
}

/** A write that the platform refused can no longer take effect. */
async function dropRefused({ intent, owed }: Of<'drop'>, round: Round, turn: Turn): Promise<Performed> {
  const { intent: _, ...state } = round.state;
  const uncertain = stillOwed(state.uncertain, owed);
  const isOver = await turn.ports.groups.dropIntent(state.ref, intent, { uncertain, isRefused: true });
  if (!isOver) return SUPERSEDED;
  await unreserve(round, turn);
  return {
    round: { ...round, state: { ...state, ...(uncertain && { uncertain }) }, reservation: undefined },
  };
}

async function dropUncertain(
  { intent, owed, failing }: Of<'drop'>,
  round: Round,
  turn: Turn,
): Promise<Performed> {
  const { intent: _, ...state } = round.state;
  const known =
    round.views === undefined ? await learn({ kind: 'read', what: ['views'] }, round, turn) : round;
  const nowMs = turn.ports.clock();
  const write = { ...known, after: known.views?.prepared };
  const record = withUncertain(intent, write, nowMs, owed === undefined ? {} : { removals: owed });
  // Must come before the intent ends: two late writes that undo each other leave no other trace.
  const audited = await turn.record(state, unfoundOf(intent, nowMs, record.untilMs));
  const uncertain = await storeRecord(record, state, known.views, turn);
  if (!(await turn.ports.groups.dropIntent(state.ref, intent, { uncertain, audited }))) return SUPERSEDED;
  if (failing === undefined) return AGAIN;
  const cause = new PlatformFailure('rejected', failing.message, {});
  const failed = { ...state, calledMs: turn.calledMs() };
  const isGivenUp = await giveUp(failed, cause, { ports: turn.ports, audited });
  return isGivenUp ? { step: { kind: 'failed', cause } } : SUPERSEDED;
}

/** The platform's group stays as it is, without an owner from now on: nothing is sent. */
async function letGo({ reason }: Of<'release'>, { state }: Round, turn: Turn): Promise<Performed> {
  const { ports, platform } = turn;
  const { platformId, version = null } = state;
  const change = { kind: 'release_group', before: platformId ?? null, after: null, reason };
  const audited = await turn.record(state, {
    ...entryOf('release', change, ports),
    ...{ versionBefore: version, versionAfter: version, actor: OURSELVES, cause: `rev ${state.rev}` },
  });
  platform.groups.forgetList();
  return unlessSuperseded(ports.groups.storeObserved(state, undefined, { audited }));
}

async function settle(
  { as, counts, ending, againAtMs, failing }: Of<'settle'>,
  round: Round,
  turn: Turn,
): Promise<Performed> {
  const { state } = await unreserved(round, turn);
  const { ref, uncertain } = state;
  // The writes did not take effect, and no longer can.
  if (uncertain?.removals !== undefined && turn.ports.clock() >= uncertain.untilMs)
    await turn.ports.guard.cancel({ connection: ref.connection, ...uncertain.removals });
  // A group that will be read again is not done: the failure is reported when it is done.
  const failed =
    againAtMs === undefined && failing ? await reportFieldFailure(failing, state, turn) : undefined;
  if (ending !== 'open') await closeDrift(state, turn, ending);
  const driftClosed = ending !== 'open';
  const settled = await turn.ports.groups.settle(state, as, {
    counts,
    driftClosed,
    againAtMs,
    failing: failed,
    calledMs: turn.calledMs(),
  });
  // Settling fails if the group changed. Its author sent no message because ours was pending, so read the group again.
  return { step: { kind: settled ? 'in_sync' : 'again' } };
}
