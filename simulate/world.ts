import type { Item } from '../shared/store/table.ts';
import type { Cloud } from './cloud.ts';
import type { QueuedMessage } from './queues.ts';

/** The parts of the cloud that invariant checks may read unchanged. */
type Shown = 'run' | 'nowMs' | 'under' | 'platforms' | 'sources' | 'directory' | 'runLog';

/**
 * The input of invariant checks: raw items, the true state of the platforms, and the events and actions of the
 * run.
 */
export interface Seen extends Pick<Cloud, Shown> {
  /** The table's items as they are stored, by `pk` and `sk` with a space between. */
  readonly items: ReadonlyMap<string, Item>;
  /**
   * The current connections: removed connections are missing, and connections that were connected again are included.
   */
  readonly connections: Pick<Cloud['connections'], 'get' | 'values'>;
  readonly operators: { readonly actions: Readonly<Cloud['actions']> };
  readonly secretsManager: Pick<Cloud['secretsManager'], 'stored' | 'ever'>;
  readonly queues: Readonly<Record<'events' | 'eventsDlq' | 'apply' | 'applyDlq', readonly QueuedMessage[]>>;
  readonly table: Pick<Cloud['table'], 'largest' | 'widest'>;
  readonly lambdas: Pick<Cloud['lambdas'], 'diedMs'>;
  /** The time of the last message about each group (`connection group`), including messages without a change. */
  readonly lastMessageMs: ReadonlyMap<string, number>;
  /** The times at which workers of each group crashed, or could not store their result. */
  readonly cutOffMs: ReadonlyMap<string, readonly number[]>;
}
