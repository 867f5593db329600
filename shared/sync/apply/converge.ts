import { policyFor } from '../../contract/group-policy.ts';
import { hasDeparted } from '../../domain/group.ts';
import { intentId } from '../../domain/ids.ts';
import type { View } from '../../domain/view.ts';
import { type DraftInput, draftPlan } from '../../plan/draft.ts';
import type { Plan } from '../../plan/plan.ts';
import type { GroupState, MemberCounts, SettledState } from '../ports/groups.ts';
import type { DriftSettlement } from '../ports/logs.ts';
import { closeDrift } from './close-drift.ts';
import { countsOf } from './counts.ts';
import { execute } from './execute.ts';
import type { Execution } from './execution.ts';
import { guardRemovals } from './guard-removals.ts';
import type { Lane } from './lane.ts';
import { letGo } from './let-go.ts';
import { newnessOf, stillWaived } from './newness.ts';
import { observe } from './observe.ts';
import { markPending } from './pending.ts';
import { settledState } from './settled-state.ts';
import type { Step } from './step.ts';
import { readWanted, type Wanted } from './wanted.ts';

/** What is done with a plan: carried out, or, by a dry run, only looked at. */
export type CarryOut = (plan: Plan, execution: Execution) => Promise<Step>;

/** One round for a group without an open intent: read, plan, guard, and at most one write. */
export async function converge(state: GroupState, lane: Lane, carryOut: CarryOut = execute): Promise<Step> {
  if (state.released) {
    if (state.platformId !== undefined) return letGo(state, 'a person released this group', lane);
    return settleAs('excluded', { state, lane });
  }
  // By the last name it had: a deletion takes the name along, and must find the group under the policy it had.
  const treatment = policyFor(lane.connection.settings, state.ref.group, state.registers.name?.value);
  if (treatment.excluded) return settleAs('excluded', { state, lane });
  if (state.suspect !== undefined) return observe(state, lane);

  const wanted = await readWanted(state, lane);
  await markPending(state, wanted, lane);
  if (wanted.state === 'unnamed' && !hasDeparted(state.registers)) {
    return settleAs('unnamed', { state, lane, ending: 'open' });
  }
  const current = await readCurrent(state, lane);
  if (current === 'unreadable') return observe(state, lane);

  if (treatment.drift !== 'restore' && isLeftDeleted(state, wanted))
    return settleAs('in_sync', { state, lane });

  const { settings } = lane.connection;
  const input: Omit<DraftInput, 'held'> = {
    wanted: wanted.group,
    current,
    membership: settings.membership,
    mode: treatment.mode,
    onGroupDeleted: settings.onGroupDeleted,
    whole: state.takeOver,
    whyNot: wanted.whyNot,
    waiver:
      treatment.drift === 'restore' ? undefined : await stillWaived(state, current?.waiver, { wanted, lane }),
  };
  const unguarded = draftPlan({ ...input, held: new Set() });
  if (unguarded.action === 'release') return letGo(state, 'the directory deleted this group', lane);
  if (needsFreshLook(unguarded, lane)) {
    const look = await observe(state, lane);
    if (look.kind !== 'in_step') return look;
  }
  const intent = intentId(lane.ports.newId());
  const guarded = await guardRemovals(unguarded, { state, lane, intent, current });
  const plan = draftPlan({ ...input, held: guarded.held });
  if (plan.action === 'none') {
    const settled = settledState(wanted, guarded);
    const counts = countsOf(wanted, plan.after);
    // A group that is only watched shows no difference because nobody draws one up.
    const ending = treatment.mode === 'report' ? 'report' : ENDING[settled];
    return settleAs(settled, { state, lane, counts, ending });
  }
  return carryOut(plan, { state, lane, intent, wanted, guarded });
}

/** What is in step needs no further look at the platform; a write that could take somebody away does. */
const needsFreshLook = (plan: Plan, { connection }: Lane): boolean =>
  plan.action === 'delete' ||
  (connection.settings.membership === 'additive' && (plan.action === 'patch' || plan.action === 'put'));

/** Somebody deleted the platform's group, the policy let that stand, and the directory has not spoken since. */
function isLeftDeleted(state: GroupState, wanted: Wanted): boolean {
  const { deletionWaiver, registers } = state;
  if (deletionWaiver === undefined || wanted.state !== 'present') return false;
  if (state.platformId !== undefined) return false;
  const word = deletionWaiver.policy === 'adopt' ? registers.upserted : newnessOf(state, wanted).newest;
  return word <= deletionWaiver.seen;
}

async function readCurrent(state: GroupState, { ports }: Lane): Promise<View | undefined | 'unreadable'> {
  if (state.platformId === undefined) return undefined;
  const view = state.view === undefined ? undefined : await ports.groups.readView(state.ref, state.view);
  return view ?? 'unreadable';
}

type Ending = DriftSettlement | 'open';

const NOBODY: MemberCounts = { wanted: 0, applied: 0, pending: 0 };

interface Settling {
  readonly state: GroupState;
  readonly lane: Lane;
  readonly counts?: MemberCounts;
  readonly ending?: Ending;
}

/** How differences that were to be put right end with the group: a hold only delays that. */
const ENDING: Readonly<Record<SettledState, Ending>> = {
  in_sync: 'restore',
  deleted: 'restore',
  excluded: 'report',
  held: 'open',
  unnamed: 'restore',
};

async function settleAs(
  settled: SettledState,
  { state, lane, counts = NOBODY, ending = ENDING[settled] }: Settling,
): Promise<Step> {
  if (ending !== 'open') await closeDrift(state, lane, ending);
  await lane.ports.groups.settle(state, settled, { counts, driftClosed: ending !== 'open' });
  return { kind: 'in_step' };
}
