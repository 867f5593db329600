import pMap from 'p-map';
import type { GroupState, Intent } from '../../domain/group-state.ts';
import { HOLD_LIFE_MS, type Hold } from '../../domain/hold.ts';
import { intentId, type PlatformGroupId } from '../../domain/ids.ts';
import type { Decision } from '../../plan/decide.ts';
import type { Wanted } from '../../plan/facts.ts';
import { isOurCreation, viewOf } from '../../plan/foreign.ts';
import { retireClaim } from '../retire-claim.ts';
import { DOUBT_MS, WRITES_IN_FLIGHT } from '../tuning.ts';
import { foundOf, OURSELVES } from './audit.ts';
import { holdDigest, learn, type Reading, readFormer } from './facts.ts';
import { absorb, clearSuspicion, closeDrift, linkTo, recordLanded, unlink } from './foreign.ts';
import { AGAIN, CONFLICT, OVERTAKEN, type Performed, type Round, type Turn } from './turn.ts';
import { performWrite, refuse, unreserve } from './write.ts';

type Of<Kind extends Decision['kind']> = Extract<Decision, { kind: Kind }>;

/** Carries out one decision, in the fixed order of its effects. */
export async function perform(decision: Decision, round: Round, turn: Turn): Promise<Performed> {
  const { state } = round;
  const { ports } = turn;
  const reading = readingOf(state, turn);
  switch (decision.kind) {
    case 'read':
    case 'look':
    case 'list': {
      const known = await learn(decision, round, reading);
      if (known.wanted !== undefined && round.wanted === undefined)
        await markPending({ ...known, wanted: known.wanted }, turn);
      return { round: known };
    }
    case 'reserve':
      return reserve(decision, round, turn);
    case 'hold':
      return hold(decision, round, turn);
    case 'drop_hold': {
      await ports.groups.dropHold(state);
      const { hold: _, ...without } = state;
      return { round: { ...round, state: without, held: undefined } };
    }
    case 'write':
      if (!decision.isReserved) return performWrite(decision, await unreserved(round, turn), turn, reading);
      return performWrite(decision, round, turn, reading);
    case 'drop':
      return drop(decision, round, turn);
    case 'confirm':
      return confirm(decision, round, turn);
    case 'confirm_gone':
      return confirmGone(decision, state, turn);
    case 'absorb':
      await unreserve(round, turn);
      return absorb(decision, state, turn);
    case 'clear':
      return clearSuspicion(decision, state, turn);
    case 'forget':
      return (await ports.groups.absorb(state, undefined)) ? AGAIN : OVERTAKEN;
    case 'miss':
      await ports.groups.noteMissing(state, ports.clock());
      return { step: { kind: 'wait', waitMs: decision.waitMs, why: decision.why } };
    case 'unlink':
      return unlink(decision, state, turn);
    case 'release':
      return letGo(decision, state, turn);
    case 'adopt':
      return adopt(decision, round, turn);
    case 'fail':
      return refuse(round, turn);
    case 'wait':
      if (decision.noting !== undefined && !(await ports.groups.noteMiss(state.ref, decision.noting)))
        return OVERTAKEN;
      return { step: { kind: 'wait', waitMs: decision.waitMs, why: decision.why } };
    case 'settle':
      return settle(decision, await unreserved(round, turn), turn);
  }
}

const readingOf = ({ ref }: GroupState, { connection, platform, ports }: Turn): Reading => ({
  connection,
  platform,
  ports,
  claim: (id) => ports.claims.claim(connection.company, id, ref),
});

/** Writes which members have to wait and why, where that has changed; the wait's age is kept while the cause is. */
async function markPending(
  { state: { ref }, wanted, views }: Round & { readonly wanted: Wanted },
  { ports }: Turn,
): Promise<void> {
  const { registers, pending, standing } = wanted;
  const sinceMs = ports.clock();
  // Whoever is tried again counts as refused until the platform takes them.
  const isTried = new Set(
    [...standing].flatMap(([user, some]) =>
      views?.base?.users.has(user) ? [] : some.flatMap((one) => (one.wasRefused ? [one.member] : [])),
    ),
  );
  const changed = registers.filter(
    ({ member, pending: mark }) => mark?.cause !== pending.get(member)?.cause && !isTried.has(member),
  );
  await pMap(
    changed,
    ({ member }) => {
      const mark = pending.get(member);
      return ports.groups.markPending(ref, member, mark === undefined ? undefined : { ...mark, sinceMs });
    },
    { concurrency: WRITES_IN_FLIGHT },
  );
}

/**
 * A reservation is put before the sum is read:
 *
 *     worker A   puts 60 ──▶ reads 60 + 60 ──▶ over the limit: takes its own back, holds
 *     worker B        puts 60 ──▶ reads 60 + 60 ──▶ the same
 *
 * so two at once may both be held, which is safe, but never both be let through.
 */
async function reserve({ removals, replaces }: Of<'reserve'>, round: Round, turn: Turn): Promise<Performed> {
  const { ports } = turn;
  const { connection, group } = round.state.ref;
  const before = await unreserved(round, turn);
  const record = { intent: intentId(ports.newId()), atMs: ports.clock(), removals };
  const recent = await ports.guard.reserve({ connection, group, ...record }, replaces);
  return { round: { ...before, reservation: { ...record, recent } } };
}

/** Removals that are held, or are no more, leave the guard's book. */
async function unreserved(round: Round, { ports }: Turn): Promise<Round> {
  const { reservation, state } = round;
  if (reservation === undefined) return round;
  await ports.guard.cancel({ connection: state.ref.connection, ...reservation });
  return { ...round, reservation: undefined };
}

async function hold(decision: Of<'hold'>, round: Round, turn: Turn): Promise<Performed> {
  const { state } = round;
  const users = new Set(decision.users);
  const held = holdOf(decision, state, turn.ports.clock());
  const before = await unreserved(round, turn);
  await turn.ports.groups.hold(state, held, users);
  const about = decision.deletes ? 'delete' : 'remove';
  return { round: { ...before, state: { ...state, hold: held }, held: { users, about } } };
}

/** A hold as it is recorded; where its set lies the store fills in. */
export function holdOf(
  { users, size, rule, deletes }: Of<'hold'>,
  { platformId }: GroupState,
  nowMs: number,
): Hold {
  return {
    digest: holdDigest(platformId, deletes ? 'delete' : 'remove', users),
    rule,
    removes: users.length,
    keeps: size - users.length,
    share: size === 0 ? 0 : users.length / size,
    createdAtMs: nowMs,
    expiresAtMs: nowMs + HOLD_LIFE_MS,
    decision: { kind: 'waiting' },
    chunks: 0,
    hash: '',
  };
}

async function drop({ intent, owed }: Of<'drop'>, round: Round, turn: Turn): Promise<Performed> {
  const { intent: _, unsettledRemovals: __, ...state } = round.state;
  // What the platform has refused cannot land any more, and a deletion explains no difference.
  const mayLand = round.rejected === undefined && intent.action !== 'delete';
  const doubtUntilMs = mayLand ? turn.ports.clock() + DOUBT_MS : undefined;
  if (!(await turn.ports.groups.dropIntent(state.ref, intent, { owed, doubtUntilMs }))) return OVERTAKEN;
  if (round.rejected === undefined) return AGAIN;
  await unreserve(round, turn);
  const left = owed === undefined ? state : { ...state, unsettledRemovals: owed };
  return { round: { ...round, state: left, reservation: undefined } };
}

/** The group is left dirty: what the directory wants now may be something else again. */
async function confirm(
  { intent, observed, view }: Of<'confirm'>,
  { state, rejected }: Round,
  turn: Turn,
): Promise<Performed> {
  const { ports } = turn;
  const platform = await linkTo(state, observed, view, turn);
  const nowMs = ports.clock();
  const audited = await turn.record(state, foundOf(intent, nowMs, observed.version, true));
  const flipped = await ports.groups.flip(state.ref, {
    ...settledNow(intent, state, nowMs),
    found: { audited },
    platform,
    settled: 'in_sync',
    counts: state.counts ?? { wanted: 0, applied: 0, pending: 0 },
    ...(intent.action === 'create' ? { createdAtMs: intent.atMs } : {}),
  });
  if (flipped === undefined) return OVERTAKEN;
  // The client repeats what a server declined to serve (503, Retry-After); should that have been done after all, the
  // repetition met its own version, and the removals stay in the guard's book.
  return rejected === undefined ? AGAIN : CONFLICT;
}

const settledNow = ({ id, consumes }: Intent, seen: GroupState, nowMs: number) => ({
  intent: id,
  seen,
  nowMs,
  unfinished: true,
  ...(consumes === undefined ? {} : { consumedHold: consumes }),
});

async function confirmGone(
  { intent }: Of<'confirm_gone'>,
  state: GroupState,
  turn: Turn,
): Promise<Performed> {
  const { ports, connection } = turn;
  const nowMs = ports.clock();
  const audited = await turn.record(state, foundOf(intent, nowMs, null, true));
  // Before the flip: afterwards nobody would look for it.
  if (intent.platformId !== undefined)
    await ports.claims.drop(connection.company, intent.platformId, state.ref);
  const flipped = await ports.groups.flip(state.ref, {
    ...settledNow(intent, state, nowMs),
    found: { audited },
    settled: 'deleted',
    counts: { wanted: 0, applied: 0, pending: 0 },
  });
  return flipped === undefined ? OVERTAKEN : AGAIN;
}

/** The platform's group stays as it is, without an owner from now on: nothing is sent. */
async function letGo({ reason }: Of<'release'>, state: GroupState, turn: Turn): Promise<Performed> {
  const { ports } = turn;
  const { platformId, version = null } = state;
  const audited = await turn.record(state, {
    atMs: ports.clock(),
    intent: intentId(ports.newId()),
    action: 'release',
    changes: [{ kind: 'release_group', before: platformId ?? null, after: null, reason }],
    changeCount: 1,
    versionBefore: version,
    versionAfter: version,
    actor: OURSELVES,
    cause: `rev ${state.rev}`,
    outcome: 'written',
  });
  return (await ports.groups.absorb(state, undefined, { audited })) ? AGAIN : OVERTAKEN;
}

/** Claim, then look, then link: the next round plans from what is there, and sends the whole group. */
async function adopt({ candidates }: Of<'adopt'>, round: Round, turn: Turn): Promise<Performed> {
  const { ports, platform, connection } = turn;
  const { state } = round;
  for (const candidate of candidates) {
    const id = candidate.id as PlatformGroupId;
    if (!(await ports.claims.claim(connection.company, id, state.ref))) continue;
    const observed = await platform.groups.get(id);
    if (observed !== undefined) {
      const former = await readFormer(state, id, ports);
      const link = await linkTo(state, observed, viewOf(observed, former), turn);
      const made = state.doubt?.intent;
      const isMade = made?.action === 'create' && isOurCreation(observed, made, round.views?.doubted);
      const found = await recordLanded(isMade ? made : undefined, observed, state, turn);
      return (await ports.groups.absorb(state, link, found)) ? AGAIN : OVERTAKEN;
    }
    await retireClaim(connection.company, id, state.ref, ports);
  }
  return { round: { ...round, isNothingAdoptable: true } };
}

async function settle(
  { as, counts, ending }: Of<'settle'>,
  { state }: Round,
  turn: Turn,
): Promise<Performed> {
  if (ending !== 'open') await closeDrift(state, turn, ending);
  await turn.ports.groups.settle(state, as, { counts, driftClosed: ending !== 'open' });
  return { step: { kind: 'in_step' } };
}
