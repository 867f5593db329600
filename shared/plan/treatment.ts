import { type GroupTreatment, policyFor } from '../contract/group-policy.ts';
import type { Facts } from './facts.ts';

/** Returns the policy for a group by its last known name, also after the deletion of the group. */
export const treatmentOf = ({ settings, state: { ref, registers } }: Facts): GroupTreatment =>
  policyFor(settings, ref.group, registers.name?.value);
