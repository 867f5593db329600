import type { Item } from '../shared/store/table.ts';
import type { Cloud } from './cloud.ts';
import type { QueuedMessage } from './queues.ts';

/** The parts of the simulated environment that the checks use directly. */
type Shown = 'run' | 'nowMs' | 'under' | 'platforms' | 'sources' | 'directory' | 'runLog';

/** The input of the checks: stored items, the true state of the platforms, and the run's events and actions. */
export interface Seen extends Pick<Cloud, Shown> {
  /** The stored items of the table, by key. The key is `pk` and `sk`, separated by a space. */
  readonly items: ReadonlyMap<string, Item>;
  /** The connections that exist now. This includes connections that were removed and connected again. */
  readonly connections: Pick<Cloud['connections'], 'get' | 'values'>;
  readonly operators: { readonly actions: Readonly<Cloud['actions']> };
  readonly secretsManager: Pick<Cloud['secretsManager'], 'stored' | 'ever'>;
  readonly queues: Readonly<Record<'events' | 'eventsDlq' | 'apply' | 'applyDlq', readonly QueuedMessage[]>>;
  readonly table: Pick<Cloud['table'], 'largest' | 'widest'>;
  readonly lambdas: Pick<Cloud['lambdas'], 'diedMs'>;
  /** For each group (`<connection> <group>`), the time of the last message about the group. */
  readonly lastMessageMs: ReadonlyMap<string, number>;
  /** For each group (`<connection> <group>`), the times at which a worker crashed or could not store its result. */
  readonly cutOffMs: ReadonlyMap<string, readonly number[]>;
}
