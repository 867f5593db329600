import { type GroupTreatment, policyFor } from '../contract/group-policy.ts';
import type { Facts } from './facts.ts';

/** By the last name it had: a deletion takes the name along, and must find the group under the policy it had. */
export const treatmentOf = ({ settings, state: { ref, registers } }: Facts): GroupTreatment =>
  policyFor(settings, ref.group, registers.name?.value);
