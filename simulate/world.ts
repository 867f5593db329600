import type { Item } from '../shared/store/table.ts';
import type { DirectoryRecord } from './directory.ts';
import type { ConnectionSpec, Life } from './life.ts';
import type { OperatorRecord } from './operators.ts';
import type { SimulatedPlatform } from './platform/platform.ts';
import type { QueuedMessage } from './queues.ts';
import type { Chronicle } from './told.ts';
import type { Vault } from './vault.ts';

/** What an oracle may look at: raw items, the platforms' truth, and what the people of the life said and did. */
export interface Seen {
  readonly life: Life;
  readonly nowMs: () => number;
  /** The table's items as they are stored, by `pk` and `sk` with a space between. */
  readonly items: ReadonlyMap<string, Item>;
  /** Items of one partition whose sort key begins so. */
  readonly under: <Form>(partition: string, prefix: string) => readonly Form[];
  /** By company. */
  readonly platforms: ReadonlyMap<string, SimulatedPlatform>;
  /** Connections as they are now; one that was removed is not there, one connected anew is. */
  readonly connections: ReadonlyMap<string, ConnectionSpec>;
  readonly directory: DirectoryRecord;
  readonly operators: OperatorRecord;
  readonly vault: Pick<Vault, 'stored'>;
  readonly queues: Readonly<Record<'events' | 'eventsDlq' | 'apply' | 'applyDlq', readonly QueuedMessage[]>>;
  readonly table: {
    /** Bytes of the largest item ever written, and its key. */
    readonly largest: { readonly bytes: number; readonly key: string };
    /** Items that queries of one partition and prefix have read, at most, by kind of prefix (`A#`, `DRIFT#`, `M#` …). */
    readonly widest: ReadonlyMap<string, number>;
  };
  /** When a message last named each group (`connection group`), be there anything new in it or not. */
  readonly saidMs: ReadonlyMap<string, number>;
  /** When workers at each group died, or could not write what they had done. */
  readonly cutOffMs: ReadonlyMap<string, readonly number[]>;
  readonly chronicle: Chronicle;
}
