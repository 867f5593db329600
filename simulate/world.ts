import type { Item } from '../shared/store/table.ts';
import type { Cloud } from './cloud.ts';
import type { QueuedMessage } from './queues.ts';

/** What belongs to a simulation run, and is as an invariant check may look at it. */
type Shown = 'run' | 'nowMs' | 'under' | 'platforms' | 'directory' | 'runLog';

/** What an invariant check may look at: raw items, the platforms' truth, and what the people of the simulation run said and did. */
export interface Seen extends Pick<Cloud, Shown> {
  /** The table's items as they are stored, by `pk` and `sk` with a space between. */
  readonly items: ReadonlyMap<string, Item>;
  /** The current connections, without removed ones and with those connected again. */
  readonly connections: Pick<Cloud['connections'], 'get' | 'values'>;
  readonly operators: { readonly actions: Readonly<Cloud['actions']> };
  readonly secretsManager: Pick<Cloud['secretsManager'], 'stored' | 'ever'>;
  readonly queues: Readonly<Record<'events' | 'eventsDlq' | 'apply' | 'applyDlq', readonly QueuedMessage[]>>;
  readonly table: Pick<Cloud['table'], 'largest' | 'widest'>;
  readonly lambdas: Pick<Cloud['lambdas'], 'diedMs'>;
  /** When a message last named each group (`connection group`), be there anything new in it or not. */
  readonly lastMessageMs: ReadonlyMap<string, number>;
  /** When workers at each group died, or could not write what they had done. */
  readonly cutOffMs: ReadonlyMap<string, readonly number[]>;
}
