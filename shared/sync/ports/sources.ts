import type { ConnectionName } from '../../domain/ids.ts';
import type { ReaderHealth, Source, SourceState } from '../../domain/source.ts';

export interface Receipt {
  readonly source: Source;
  readonly nowMs: number;
  /** The interval of the schedule, if groupsync itself schedules the source. */
  readonly everyMinutes?: number | undefined;
}

/** The last receipt of each source of a connection. */
export interface SourceStore {
  /**
   * Records that a source sent data. Each worker sends at most one write a minute for each source. Among the writes of
   * all workers, one a minute takes effect. With one worker, a source that is always busy costs at most 43,200 write
   * units a month, about $0.03.
   */
  noteReceipt(connection: ConnectionName, receipt: Receipt): Promise<void>;
  /** Records the time from which a first receipt is expected. An earlier recorded time stays. */
  noteAwaited(connection: ConnectionName, source: Source, nowMs: number): Promise<void>;
  /** Replaces the stored health of the directory reader. */
  noteReader(connection: ConnectionName, health: ReaderHealth): Promise<void>;
  read(connection: ConnectionName): Promise<readonly SourceState[]>;
}
