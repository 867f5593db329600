import type { ProbeReport } from '../../contract/answers/connect.ts';
import type { SettingDifference } from '../../contract/change-setting.ts';
import type { DecisionRequest } from '../../contract/decision.ts';
import type { Hold } from '../../domain/hold.ts';

export type HoldOutcome =
  | { readonly kind: 'decided'; readonly hold: Hold }
  | { readonly kind: 'no_hold' }
  /** The hold has changed since the operator read it. The operator must read the new hold. */
  | { readonly kind: 'changed'; readonly hold: Hold | undefined };

export interface DecidedRequests {
  readonly changed: readonly SettingDifference[];
  /** The number of groups that are marked dirty for a new plan. */
  readonly replanned: number;
}

export type DecidedHold =
  | HoldOutcome
  /** Nothing was changed. The directory deleted the group, so all removals must be decided together. */
  | { readonly kind: 'all_or_none' };

/**
 * Decisions of operators. A deployed function checks the identity of the operator and performs the decision. So
 * operators need no write access to the table.
 */
export interface Decisions {
  /** @throws Refused if the operator has no right to decide */
  hold(decision: Omit<Extract<DecisionRequest, { about: 'hold' }>, 'about'>): Promise<DecidedHold>;
  /** @throws Refused if the operator has no right to decide */
  settings(
    decision: Omit<Extract<DecisionRequest, { about: 'settings' }>, 'about'>,
  ): Promise<DecidedRequests>;
  probe(order: Omit<Extract<DecisionRequest, { about: 'probe' }>, 'about'>): Promise<ProbeReport>;
}
