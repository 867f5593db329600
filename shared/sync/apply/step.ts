import type { GroupError, WriteAction } from '../ports/groups.ts';

export interface WriteMade {
  readonly action: WriteAction;
  readonly added: number;
  readonly removed: number;
}

/** How one round of apply ended. */
export type Step =
  /** Something was learnt or settled: read the group again. */
  | { readonly kind: 'again' }
  /** The same, but because somebody else had changed the group. */
  | { readonly kind: 'conflict' }
  /** Nothing can be decided before this long. */
  | { readonly kind: 'wait'; readonly ms: number; readonly error?: Omit<GroupError, 'atMs'> }
  /** Another worker has the group in hand. */
  | { readonly kind: 'overtaken' }
  /** The platform shows what is wanted, as far as it may. */
  | { readonly kind: 'in_step' }
  | {
      readonly kind: 'written';
      readonly write: WriteMade;
      readonly clean: boolean;
      /** The answer shows what somebody else did meanwhile. */
      readonly isContested: boolean;
      /** What the platform answered 200 to and did not do: tried again, ever more rarely. */
      readonly undone?: Omit<GroupError, 'atMs'>;
    }
  /** The platform will not have it, and waiting cannot mend that. */
  | { readonly kind: 'failed'; readonly cause: unknown };
