import type { PlatformGroupId, PlatformUserId } from '../../domain/ids.ts';
import type { ObservedGroup, View } from '../../domain/view.ts';
import { type Answer, isUndone, readAnswer, toldOf } from '../../plan/answer.ts';
import { foreignDifferences } from '../../plan/differences.ts';
import type { Plan, PlanChange } from '../../plan/plan.ts';
import type { Flip, Intent, LinkedGroup } from '../ports/groups.ts';
import { auditWritten } from './audit-entry.ts';
import { causeOf } from './cause.ts';
import { closeDrift } from './close-drift.ts';
import { countsOf } from './counts.ts';
import type { Execution } from './execution.ts';
import { type ForeignChange, hasLostSpokeId, takeForeignChange } from './foreign-change.ts';
import { linkTo, shows, viewOf } from './observed.ts';
import { settledState } from './settled-state.ts';
import type { Step } from './step.ts';

const CONFLICT: Step = { kind: 'conflict' };
const OVERTAKEN: Step = { kind: 'overtaken' };

interface Confirmation {
  readonly intent: Intent;
  readonly observed: ObservedGroup | undefined;
  readonly execution: Execution;
}

/**
 * The platform has answered: what it shows becomes the group's view, and the intent is over. Members that were sent and
 * are not shown were refused; what is shown and was not sent is somebody else's.
 */
export async function confirmWrite(plan: Plan, { intent, observed, execution }: Confirmation): Promise<Step> {
  const { state, lane, wanted, guarded } = execution;
  const { ports, connection } = lane;
  if (intent.action === 'create' && observed !== undefined && !(await claimed(observed, execution))) {
    return (await ports.groups.dropIntent(state.ref, intent, undefined)) ? CONFLICT : OVERTAKEN;
  }
  const answer = readAnswer(plan, observed);
  const shown = observed && (await shownAs(observed, answer, execution));
  const refused = await markRefused(plan, shown, execution);
  const foreign =
    observed && shown && (await foreignBeside(plan, { intent, observed, shown, answer, execution }));
  const platform =
    observed && shown && (await linkAs({ intent, plan, observed, shown, answer, foreign, execution }));
  const nowMs = ports.clock();
  await ports.audit.record(
    state.ref,
    auditWritten(intent, withoutKept(plan, answer), {
      nowMs,
      version: observed?.version ?? null,
      cause: causeOf(execution),
      outcome: 'written',
    }),
  );
  const driftClosed = guarded.held.size === 0 && foreign === undefined && !isUndone(answer);
  if (driftClosed) await closeDrift(state, lane);
  const counts = countsOf(wanted, shown);
  const flipped = await ports.groups.flip(state.ref, {
    intent: intent.id,
    seen: state,
    nowMs,
    driftClosed,
    settled: isUndone(answer) ? undefined : settledState(wanted, guarded),
    counts: { ...counts, pending: counts.pending + refused },
    ...(platform === undefined ? {} : { platform }),
    ...(intent.action === 'create' ? { createdAtMs: nowMs } : {}),
    ...leftovers(execution, foreign, answer),
  });
  if (flipped === undefined) return { kind: 'overtaken' };
  if (observed === undefined && state.platformId !== undefined) {
    await ports.claims.drop(connection.company, state.platformId, state.ref);
  }
  await giveBackKept(plan, answer, execution);
  const added = plan.changes.filter(({ kind }) => kind === 'add_member').length;
  const write = { action: intent.action, added, removed: plan.removals.length - answer.kept.length };
  const message = toldOf(answer);
  return {
    kind: 'written',
    write,
    clean: flipped.clean,
    isContested: foreign !== undefined,
    ...(message === undefined ? {} : { undone: { code: 'kept', message } }),
  };
}

/** Whoever was ours and is kept stays ours: to be taken out by a later write, also where strangers may stay. */
async function shownAs(
  observed: ObservedGroup,
  { made, kept }: Answer,
  { state: { ref, view }, lane }: Execution,
): Promise<View> {
  const isBaseNeeded = kept.length > 0 && view !== undefined;
  const base = isBaseNeeded ? await lane.ports.groups.readView(ref, view) : undefined;
  return viewOf(observed, made, base);
}

function withoutKept(plan: Plan, { kept }: Answer): Plan {
  if (kept.length === 0) return plan;
  const stays = new Set<string>(kept);
  const isDone = ({ kind, before }: PlanChange) => kind !== 'remove_member' || !stays.has(before);
  return { ...plan, changes: plan.changes.filter(isDone) };
}

/** Removals that did not happen leave the guard's book, else they would hold up everybody's leavers. */
async function giveBackKept(
  { removals }: Plan,
  { kept }: Answer,
  { guarded: { reservation }, lane }: Execution,
): Promise<void> {
  if (kept.length === 0 || reservation === undefined) return;
  const happened = Math.min(reservation.removals, removals.length - kept.length);
  await lane.ports.guard.reduce(reservation, happened);
}

/** What the write used up, and why the group is not clean after it. */
function leftovers(
  { guarded: { consumes, held } }: Execution,
  foreign: ForeignChange | undefined,
  answer: Answer,
): Partial<Flip> {
  const isMoreHeld = consumes !== undefined && held.size > 0;
  // An approval of removals that did not happen stays, unless what came after it waits for its place.
  const isUsedUp = consumes !== undefined && (answer.kept.length === 0 || isMoreHeld);
  const isUnfinished = isMoreHeld || foreign !== undefined || isUndone(answer);
  return {
    ...(isUsedUp ? { consumedHold: consumes } : {}),
    ...(isUnfinished ? { unfinished: true } : {}),
    ...(foreign === undefined ? {} : { found: foreign.found }),
  };
}

/** false where another directory group took it over between our POST and this: it is theirs, and we have none. */
const claimed = (
  { id }: ObservedGroup,
  { state, lane: { ports, connection } }: Execution,
): Promise<boolean> => ports.claims.claim(connection.company, id as PlatformGroupId, state.ref);

/**
 * What the answer to a PATCH shows beside what was sent. A platform that compares the version has refused the PATCH
 * where somebody else was faster; one that does not has let both changes through, and only here can theirs be told.
 */
async function foreignBeside(
  plan: Plan,
  { intent, observed, shown, answer: { made }, execution: { state, lane } }: Shown,
): Promise<ForeignChange | undefined> {
  if (plan.action !== 'patch' || made === undefined) return undefined;
  const isSpokeIdGone = await hasLostSpokeId(observed, made, lane);
  if (shows(observed, made) && !isSpokeIdGone) return undefined;
  // Of users that were sent, whoever is missing was refused; whoever was taken out and is shown is kept.
  const isOwnDoing = ownDoing(plan, made);
  const users = sendsUsers(plan)
    ? new Map([...shown.users].filter(([user]) => isOwnDoing(user)))
    : made.users;
  const ours = [{ ...made, users }];
  if (foreignDifferences(ours, observed, { isSpokeIdGone }).length === 0) return undefined;
  return takeForeignChange(state, observed, { ours, intent, lane });
}

const sendsUsers = ({ action, changes }: Plan): boolean =>
  action !== 'patch' || changes.some(({ kind }) => kind === 'add_member' || kind === 'remove_member');

function ownDoing({ removals }: Plan, after: View): (user: PlatformUserId) => boolean {
  const removed = new Set(removals);
  return (user) => after.users.has(user) || removed.has(user);
}

interface Shown extends Confirmation {
  readonly observed: ObservedGroup;
  readonly shown: View;
  readonly answer: Answer;
}

interface Linking extends Shown {
  readonly plan: Plan;
  readonly foreign: ForeignChange | undefined;
}

/** The prepared view serves if the platform shows just that; else what it shows is stored, whatever we had sent. */
async function linkAs({ intent, plan, observed, shown, foreign, execution }: Linking): Promise<LinkedGroup> {
  const { state, lane } = execution;
  const { view: prepared } = intent;
  const { after } = plan;
  if (prepared !== undefined && after !== undefined && foreign === undefined && shows(observed, after)) {
    return { id: observed.id as PlatformGroupId, version: observed.version, view: prepared };
  }
  return linkTo(state, observed, { view: foreign?.view ?? shown, lane });
}

/** Users that were sent and are not in the answer: the platform will not have them, until the person changes. */
async function markRefused(
  plan: Plan,
  shown: View | undefined,
  { state, lane, wanted }: Execution,
): Promise<number> {
  if (shown === undefined || plan.after === undefined || !sendsUsers(plan)) return 0;
  let refused = 0;
  for (const user of plan.after.users.keys()) {
    if (shown.users.has(user)) continue;
    for (const { member, person } of wanted.standing.get(user) ?? []) {
      refused += 1;
      await lane.ports.groups.markPending(state.ref, member, {
        cause: 'refused',
        sinceMs: lane.ports.clock(),
        personRevision: person.revision,
      });
    }
  }
  return refused;
}
