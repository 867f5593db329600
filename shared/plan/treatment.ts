import { type GroupTreatment, policyFor } from '../contract/group-policy.ts';
import type { Facts } from './facts.ts';

/** Returns the policy for a group by its last known name, also after the deletion of the group. */
export const treatmentOf = (facts: Pick<Facts, 'settings' | 'state'>): GroupTreatment =>
  policyFor(facts.settings, facts.state.ref.group, facts.state.registers.name?.value);
