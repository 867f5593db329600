import { defined } from '../../domain/defined.ts';
import { contentId, stepFrom } from '../../domain/history.ts';
import { intentId } from '../../domain/ids.ts';
import type { Decision } from '../../plan/decision.ts';
import type { Facts, Reservation, Wanted } from '../../plan/facts.ts';
import { EMPTIED_ALWAYS, isEmptied } from '../../plan/guard.ts';
import { changeByDrop, changeByFetch, changed, noted } from '../../plan/transition.ts';
import type { RecentReservations } from '../ports/guard.ts';
import { type AuditLink, entryOf, OURSELVES } from '../ports/logs.ts';
import { PlatformFailure } from '../ports/platform.ts';
import type { Reading } from '../reading.ts';
import { countSmallGroups } from '../small-groups.ts';
import { mapConcurrently, WRITES_IN_FLIGHT } from '../tuning.ts';
import { adopt } from './adopt.ts';
import { unfoundOf } from './audit.ts';
import { fail, retry } from './bisect.ts';
import type { ApplyContext, PassFacts, Performed } from './context.ts';
import { AGAIN, SUPERSEDED, unlessSuperseded } from './context.ts';
import { closeDrift, unlink, withViews } from './external-change.ts';
import { giveUp, reportFieldFailure } from './failure.ts';
import { hold } from './hold.ts';
import { learn } from './load.ts';
import { observe } from './observe.ts';
import { stillOwed, storeRecord, withUncertain } from './uncertain.ts';
import { performWrite, unreserve, unreserved } from './write.ts';

type Of<Kind extends Decision['kind']> = Extract<Decision, { kind: Kind }>;

type Performer<Kind extends Decision['kind']> = (
  decision: Of<Kind>,
  facts: PassFacts,
  context: ApplyContext,
) => Promise<Performed>;

const PERFORMERS: { readonly [Kind in Decision['kind']]: Performer<Kind> } = {
  read,
  reserve,
  hold,
  write: async (decision, facts, context) =>
    performWrite(decision, decision.isReserved ? facts : await unreserved(facts, context), context),
  drop,
  abandon,
  observe,
  mark,
  unlink,
  release: endReleasedLink,
  adopt,
  fail,
  retry,
  note,
  wait: async ({ yields = false, ...why }, facts, context) => {
    if (yields) await unreserved(facts, context);
    return { result: why };
  },
  settle,
};

export const perform = (decision: Decision, facts: PassFacts, context: ApplyContext): Promise<Performed> =>
  (PERFORMERS[decision.kind] as Performer<Decision['kind']>)(decision, facts, context);

async function read(decision: Of<'read'>, facts: PassFacts, context: ApplyContext): Promise<Performed> {
  const known = await learn(decision, facts, context);
  if (known.wanted !== undefined && facts.wanted === undefined)
    await markPending({ ...known, wanted: known.wanted }, context);
  return { facts: known };
}

/** Stores the changed marks of pending members. A mark with the same cause as before keeps its time. */
async function markPending(
  { state: { ref }, wanted, views }: PassFacts & { readonly wanted: Wanted },
  { ports }: ApplyContext,
): Promise<void> {
  const { registers, pending, membersByUser } = wanted;
  const sinceMs = ports.clock();
  // A refused member that apply tries again stays refused until the platform shows the member.
  const isTried = new Set(
    [...membersByUser].flatMap(([user, some]) =>
      views?.base?.users.has(user)
        ? []
        : some.flatMap(({ member, wasRefused, hidden }) => (wasRefused || hidden ? [member] : [])),
    ),
  );
  const changed = registers.filter(
    ({ member, pending: mark }) => mark?.cause !== pending.get(member)?.cause && !isTried.has(member),
  );
  await mapConcurrently(WRITES_IN_FLIGHT, changed, ({ member }) => {
    const mark = pending.get(member);
    return ports.groups.markPending(ref, member, mark === undefined ? undefined : { ...mark, sinceMs });
  });
}

/**
 * Reserves the removals with the guard. The reservation is stored before the sum is read. So two concurrent workers
 * never exceed the limit together, but both may have to hold their removals:
 *
 *     worker A   stores 60 ──▶ reads 60 + 60 ──▶ over the limit: cancels its reservation, holds
 *     worker B        stores 60 ──▶ reads 60 + 60 ──▶ the same
 */
async function reserve(
  { removals, size, deletes, replaces }: Of<'reserve'>,
  facts: PassFacts,
  context: ApplyContext,
): Promise<Performed> {
  const { ports } = context;
  const { ref, lastWriteAtMs, link } = facts.state;
  const before = await unreserved(facts, context);
  const record = { intent: intentId(ports.newId()), atMs: ports.clock(), removals, size };
  const reservation = { ...ref, ...record, platformId: link?.id, ...(deletes && { deletes: link?.id }) };
  const reserved = await ports.guard.reserve(reservation, replaces, lastWriteAtMs);
  const recent = await withGroupCounts(reserved, size, facts, context);
  return { facts: { ...before, reservation: { ...record, deletes, recent } } };
}

/**
 * Adds the numbers of groups to the removals of the hour. The claims are read to count the managed groups, but only if
 * the deletions of other groups already reach the limit. Otherwise the number of managed groups is incomplete. A deleted
 * group may still have a claim, so the function counts each group only once. In the same way, the index is read to count
 * the small groups only if this group is small and other small groups were already emptied.
 */
export async function withGroupCounts(
  { deleted, losses, ...recent }: RecentReservations,
  size: number,
  { state: { link }, settings: { guard } }: Pick<Facts, 'state' | 'settings'>,
  { connection, ports }: Reading,
): Promise<Reservation['recent']> {
  const emptiedGroups = guard === null ? 0 : losses.filter((loss) => isEmptied(loss, guard)).length;
  const smallGroups =
    guard === null || size >= guard.minSize || emptiedGroups < EMPTIED_ALWAYS
      ? 0
      : await countSmallGroups(connection.name, guard.minSize, ports);
  const others = [...deleted].filter((id) => id !== link?.id);
  const isMany = guard !== null && others.length >= guard.deletedGroups;
  const claims = isMany ? await ports.claims.claimedBy(connection.company, connection.name) : [];
  const managed = new Set<string>([...claims.map(({ id }) => id), ...others]);
  if (link !== undefined) managed.add(link.id);
  return {
    ...recent,
    deletedGroups: others.length,
    managedGroups: managed.size,
    emptiedGroups,
    smallGroups,
  };
}

async function note(decision: Of<'note'>, facts: PassFacts, { ports }: ApplyContext): Promise<Performed> {
  const { what } = decision;
  const [nowMs, { ref }] = [ports.clock(), facts.state];
  if (what === 'missing') await ports.groups.noteMissing(facts.state, nowMs);
  else if (!(await ports.groups.noteTry(ref, what))) return SUPERSEDED;
  return { facts: noted(facts, decision, nowMs) };
}

async function drop(decision: Of<'drop'>, facts: PassFacts, context: ApplyContext): Promise<Performed> {
  if (facts.rejected !== undefined) return dropRefused(decision, facts, context);
  return (await dropUncertain(decision, facts, context)) === undefined ? SUPERSEDED : AGAIN;
}

async function abandon(
  { drop: dropping, why }: Of<'abandon'>,
  facts: PassFacts,
  context: ApplyContext,
): Promise<Performed> {
  const audited = await dropUncertain(dropping, facts, context);
  if (audited === undefined) return SUPERSEDED;
  const { intent: _, ...state } = facts.state;
  const cause = new PlatformFailure('rejected', why.message, {});
  const failed = { ...state, calledMs: context.calledMs() };
  const isGivenUp = await giveUp(failed, cause, { ports: context.ports, audited });
  return isGivenUp ? { result: { kind: 'failed', cause } } : SUPERSEDED;
}

/** Drops the intent of a refused write, because the write can no longer take effect. */
async function dropRefused(
  { intent, owed }: Of<'drop'>,
  facts: PassFacts,
  context: ApplyContext,
): Promise<Performed> {
  const { state } = facts;
  const change = changeByDrop({ uncertain: stillOwed(state.uncertain, owed) });
  if (!(await context.ports.groups.dropIntent(state.ref, intent, change, true))) return SUPERSEDED;
  await unreserve(facts, context);
  return { facts: { ...facts, state: changed(state, change), reservation: undefined } };
}

/** Drops the intent of a write that may take effect late. @returns the audit entry; undefined if the intent has ended */
async function dropUncertain(
  { intent, owed }: Of<'drop'>,
  facts: PassFacts,
  context: ApplyContext,
): Promise<AuditLink | undefined> {
  const { intent: _, ...state } = facts.state;
  const known = await withViews(facts, context);
  const nowMs = context.ports.clock();
  const write = { ...known, after: known.views?.prepared };
  const how = defined({ removals: owed, consumes: intent.consumes });
  const record = withUncertain(intent, write, nowMs, how);
  // The entry is stored before the intent ends. If two late writes undo each other, their entries are the only record
  // of them.
  const next = state.link && { link: state.link, view: write.after };
  const step = next && stepFrom(state, known.views?.base, next, { sinceMs: intent.atMs });
  const audited = await context.record(state, unfoundOf(intent, nowMs, record.untilMs, step));
  const uncertain = await storeRecord(record, state, known.views, context);
  const change = changeByDrop({ uncertain, audited });
  return (await context.ports.groups.dropIntent(state.ref, intent, change)) ? audited : undefined;
}

/** Stores the view with other marks. Version and content of the platform group do not change. */
async function mark({ view }: Of<'mark'>, { state }: PassFacts, { ports }: ApplyContext): Promise<Performed> {
  if (state.link === undefined) return AGAIN;
  const pointer = await ports.groups.prepareView(state, intentId(ports.newId()), view);
  const same = defined({ digest: state.link.view.digest, sameAs: contentId(state.link.view) });
  const marked = { ...pointer, ...same };
  const link = { ...state.link, view: marked };
  return unlessSuperseded(ports.groups.storeObserved(state, { link }));
}

/** Ends the link, without a request to the platform. The platform group stays as it is. */
async function endReleasedLink(
  { reason }: Of<'release'>,
  facts: PassFacts,
  context: ApplyContext,
): Promise<Performed> {
  const { ports, platform } = context;
  const { state, nowMs, views } = await withViews(facts, context);
  const { id = null, version = null } = state.link ?? {};
  const change = { kind: 'release_group', before: id, after: null, reason };
  const audited = await context.record(state, {
    ...entryOf('release', [change], ports),
    versionBefore: version,
    versionAfter: version,
    actor: OURSELVES,
    cause: `rev ${state.rev}`,
    step: stepFrom(state, views?.base, undefined, { sinceMs: nowMs }),
  });
  platform.groups.forgetList();
  return unlessSuperseded(ports.groups.storeObserved(state, changeByFetch(state, undefined, { audited })));
}

async function settle(
  { as, counts, driftOutcome, againAtMs, failing }: Of<'settle'>,
  facts: PassFacts,
  context: ApplyContext,
): Promise<Performed> {
  const { state } = await unreserved(facts, context);
  const { ref, uncertain } = state;
  // The uncertain writes had no effect before their deadline, so they can no longer take effect.
  if (uncertain?.removals !== undefined && context.ports.clock() >= uncertain.untilMs)
    await context.ports.guard.cancel({ connection: ref.connection, ...uncertain.removals });
  // The failure is not reported yet if apply will read the group again.
  const failed =
    againAtMs === undefined && failing ? await reportFieldFailure(failing, state, context) : undefined;
  if (driftOutcome !== 'open') await closeDrift(state, context, driftOutcome);
  const driftClosed = driftOutcome !== 'open';
  const settled = await context.ports.groups.settle(state, as, {
    counts,
    driftClosed,
    isUnwritten: driftOutcome === 'report',
    againAtMs,
    failing: failed,
    calledMs: context.calledMs(),
  });
  // If the group changed during this pass, another pass must follow. The worker that changed the group sent no message,
  // because the wake-up of this pass was still stored.
  return { result: { kind: settled ? 'in_sync' : 'again' } };
}
