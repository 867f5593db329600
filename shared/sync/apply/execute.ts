import type { IntentId, PlatformGroupId, PlatformUserId, VersionToken } from '../../domain/ids.ts';
import type { ObservedGroup, View } from '../../domain/view.ts';
import type { Plan } from '../../plan/plan.ts';
import type { GroupState, Intent, LinkedGroup, ViewPointer, WriteAction } from '../ports/groups.ts';
import { didNotHappen, PlatformFailure } from '../ports/platform.ts';
import { CREATE_DEADLINE_MS } from '../tuning.ts';
import { adoptExisting } from './adopt-existing.ts';
import { auditWritten } from './audit-entry.ts';
import { closeDrift } from './close-drift.ts';
import { countsOf } from './counts.ts';
import { giveUp } from './failure.ts';
import type { Guarded } from './guard-removals.ts';
import { missing } from './observe.ts';
import { linkTo, shows, viewOf } from './observed.ts';
import type { Lane } from './ports.ts';
import { settleIntent } from './settle-intent.ts';
import type { Step } from './step.ts';
import type { Wanted } from './wanted.ts';

export interface Execution {
  readonly state: GroupState;
  readonly lane: Lane;
  readonly intent: IntentId;
  readonly wanted: Wanted;
  readonly guarded: Guarded;
}

/** Carries out a plan: chunks of the view, intent, call, audit, flip. */
export async function execute(plan: Plan, execution: Execution): Promise<Step> {
  const { state, lane } = execution;
  let known: readonly PlatformGroupId[] = [];
  if (plan.action === 'create') {
    const found = await adoptExisting(state, plan, lane);
    if (found.step !== undefined) return found.step;
    known = found.known;
  }
  const intent = await openIntent(plan, known, execution);
  if (intent === undefined) return { kind: 'overtaken' };
  try {
    const observed = await call(plan, intent, execution);
    return await confirm(plan, { intent, observed, execution });
  } catch (cause) {
    if (!(cause instanceof PlatformFailure)) throw cause;
    return afterFailure(cause, intent, execution);
  }
}

async function openIntent(
  plan: Plan,
  known: readonly PlatformGroupId[],
  { state, lane: { ports }, intent: id }: Execution,
): Promise<Intent | undefined> {
  const view =
    plan.after === undefined ? undefined : await ports.groups.prepareView(state.ref, id, plan.after);
  const intent: Intent = {
    id,
    action: plan.action as WriteAction,
    atMs: ports.clock(),
    name: plan.after?.name ?? '',
    spokeId: plan.after?.spokeId ?? '',
    known,
    ...(view === undefined ? {} : { view }),
    ...(state.platformId === undefined ? {} : { platformId: state.platformId }),
    ...(state.version === undefined ? {} : { versionBefore: state.version }),
  };
  return (await ports.groups.openIntent(state, intent)) ? intent : undefined;
}

/** @returns the group as the platform answered it; undefined after a deletion */
async function call(
  plan: Plan,
  intent: Intent,
  { state, lane: { platform, ports } }: Execution,
): Promise<ObservedGroup | undefined> {
  const { groups } = platform;
  const id = state.platformId as PlatformGroupId;
  const version = state.version as VersionToken;
  if (plan.after === undefined) {
    await groups.delete(id);
    return undefined;
  }
  const { name, spokeId, users } = plan.after;
  const whole = { name, spokeId: spokeId ?? '', users: [...users.keys()] };
  switch (plan.action) {
    case 'create':
      if (ports.clock() - intent.atMs > CREATE_DEADLINE_MS) {
        throw new PlatformFailure(
          'unreached',
          'a creation was not sent: its look at the platform was too old',
          {},
        );
      }
      return groups.create(whole);
    case 'put':
      return groups.put(id, whole, version);
    default:
      return groups.patch(id, changedFields(plan, whole), version);
  }
}

function changedFields(plan: Plan, whole: { name: string; spokeId: string; users: PlatformUserId[] }) {
  const kinds = new Set(plan.changes.map(({ kind }) => kind));
  return {
    ...(kinds.has('rename') ? { name: whole.name } : {}),
    ...(kinds.has('set_spoke_id') ? { spokeId: whole.spokeId } : {}),
    ...(kinds.has('add_member') || kinds.has('remove_member') ? { users: whole.users } : {}),
  };
}

interface Confirmation {
  readonly intent: Intent;
  readonly observed: ObservedGroup | undefined;
  readonly execution: Execution;
}

async function confirm(plan: Plan, { intent, observed, execution }: Confirmation): Promise<Step> {
  const { state, lane, wanted, guarded } = execution;
  const { ports, connection } = lane;
  if (observed !== undefined && plan.action === 'create') {
    await ports.claims.claim(connection.company, observed.id as PlatformGroupId, state.ref);
  }
  const shown = observed === undefined ? undefined : viewOf(observed, plan.after);
  const refused = await markRefused(plan, shown, execution);
  const platform = observed && (await linkAs(intent.view, plan.after, { observed, execution }));
  const nowMs = ports.clock();
  await ports.audit.record(
    state.ref,
    auditWritten(intent, plan, {
      nowMs,
      version: observed?.version ?? null,
      cause: guarded.consumes === undefined ? `rev ${state.rev}` : `approval of hold ${guarded.consumes}`,
      outcome: 'written',
    }),
  );
  if (guarded.held.size === 0) await closeDrift(state, lane);
  const counts = countsOf(wanted, shown);
  const flipped = await ports.groups.flip(state.ref, {
    intent: intent.id,
    seen: state,
    nowMs,
    settled: guarded.held.size > 0 ? 'held' : observed === undefined ? 'deleted' : 'in_sync',
    counts: { ...counts, pending: counts.pending + refused },
    ...(platform === undefined ? {} : { platform }),
    ...(plan.action === 'create' ? { createdAtMs: nowMs } : {}),
    ...(guarded.consumes === undefined ? {} : { consumedHold: guarded.consumes }),
    ...(guarded.consumes !== undefined && guarded.held.size > 0 ? { unfinished: true } : {}),
  });
  if (flipped === undefined) return { kind: 'overtaken' };
  if (observed === undefined && state.platformId !== undefined) {
    await ports.claims.drop(connection.company, state.platformId, state.ref);
  }
  const added = plan.changes.filter(({ kind }) => kind === 'add_member').length;
  const write = { action: intent.action, added, removed: plan.removals.length };
  return { kind: 'written', write, clean: flipped.clean };
}

/** The prepared view serves if the platform shows just that; else what it shows is stored, whatever we had sent. */
async function linkAs(
  prepared: ViewPointer | undefined,
  after: View | undefined,
  {
    observed,
    execution: { state, lane },
  }: { readonly observed: ObservedGroup; readonly execution: Execution },
): Promise<LinkedGroup> {
  if (prepared !== undefined && after !== undefined && shows(observed, after)) {
    return { id: observed.id as PlatformGroupId, version: observed.version, view: prepared };
  }
  return linkTo(state, observed, { view: viewOf(observed, after), lane });
}

/** Users that were sent and are not in the answer: the platform will not have them, until the person changes. */
async function markRefused(
  plan: Plan,
  shown: View | undefined,
  { state, lane, wanted }: Execution,
): Promise<number> {
  if (shown === undefined || plan.after === undefined) return 0;
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

/** A write that certainly did not happen leaves no intent; any other leaves it, to be settled by a look. */
async function afterFailure(failure: PlatformFailure, intent: Intent, execution: Execution): Promise<Step> {
  const { state, lane, guarded } = execution;
  if (!didNotHappen(failure)) throw failure;
  if (guarded.reservation !== undefined) await lane.ports.guard.cancel(guarded.reservation);
  if (failure.kind === 'rejected' && (intent.action === 'patch' || intent.action === 'put')) {
    const settlement = await settleIntent(state, intent, lane);
    if (settlement.kind !== 'settled') return settlement;
    if (settlement.happened !== false) return { kind: 'conflict' };
    return rejected(failure, execution);
  }
  await lane.ports.groups.dropIntent(state.ref, intent);
  if (failure.kind === 'rejected') return rejected(failure, execution);
  if (failure.kind === 'not_found' && state.platformId !== undefined) return missing(state, lane);
  throw failure;
}

async function rejected(cause: PlatformFailure, { state, lane }: Execution): Promise<Step> {
  await giveUp(state, cause, { ports: lane.ports, code: 'platform_rejected' });
  return { kind: 'failed', cause };
}
