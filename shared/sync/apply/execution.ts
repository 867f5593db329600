import type { IntentId } from '../../domain/ids.ts';
import type { GroupState } from '../ports/groups.ts';
import type { Guarded } from './guard-removals.ts';
import type { Lane } from './lane.ts';
import type { Wanted } from './wanted.ts';

/** What a plan is carried out with: the group as it was read, and what was made of it. */
export interface Execution {
  readonly state: GroupState;
  readonly lane: Lane;
  readonly intent: IntentId;
  readonly wanted: Wanted;
  readonly guarded: Guarded;
}
