import type { MemberCounts, SettledState } from '../../domain/group-state.ts';
import type { Decision, DriftEnding } from '../decision.ts';
import type { Wanted } from '../facts.ts';

const NO_MEMBERS: MemberCounts = { wanted: 0, applied: 0, pending: 0 };

/** What a group shows once its plan is carried out, be that by a write or because there was nothing to write. */
export const SETTLED: Readonly<Record<Wanted['state'], SettledState>> = {
  present: 'in_sync',
  absent: 'deleted',
  unnamed: 'unnamed',
};

/** How differences that were to be put right end with the group: a hold only delays that. */
const ENDING: Readonly<Record<SettledState, DriftEnding>> = {
  in_sync: 'restore',
  deleted: 'restore',
  excluded: 'report',
  held: 'open',
  unnamed: 'restore',
};

export const settle = (
  as: SettledState,
  {
    counts = NO_MEMBERS,
    ending = ENDING[as],
  }: { readonly counts?: MemberCounts; readonly ending?: DriftEnding } = {},
): Extract<Decision, { kind: 'settle' }> => ({ kind: 'settle', as, counts, ending });
