import { type GroupTreatment, policyFor } from '../contract/group-policy.ts';
import type { Facts } from './facts.ts';

/**
 * Returns the policy for a group by its last known name. After a deletion, the policy for the old name still applies.
 */
export const treatmentOf = ({ settings, state: { ref, registers } }: Facts): GroupTreatment =>
  policyFor(settings, ref.group, registers.name?.value);
