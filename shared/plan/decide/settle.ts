import type { MemberCounts, SettledState } from '../../domain/group-state.ts';
import type { Decision, DriftOutcome } from '../decision.ts';
import type { Wanted } from '../facts.ts';

const NO_MEMBERS: MemberCounts = { wanted: 0, applied: 0, pending: 0 };

/** The state of a group whose plan was performed, or which needed no write. */
export const SETTLED: Readonly<Record<Wanted['state'], SettledState>> = {
  present: 'in_sync',
  absent: 'deleted',
  unnamed: 'unnamed',
};

/**
 * The outcome of open drift when the group settles. A hold only delays the restoration, so the drift of a held group
 * stays open.
 */
const DRIFT_OUTCOME: Readonly<Record<SettledState, DriftOutcome>> = {
  in_sync: 'restore',
  deleted: 'restore',
  excluded: 'report',
  held: 'open',
  unnamed: 'restore',
  name_clash: 'open',
  unrestated: 'open',
};

export const settle = (
  as: SettledState,
  {
    counts = NO_MEMBERS,
    driftOutcome = DRIFT_OUTCOME[as],
  }: { readonly counts?: MemberCounts; readonly driftOutcome?: DriftOutcome } = {},
): Extract<Decision, { kind: 'settle' }> => ({ kind: 'settle', as, counts, driftOutcome });
