import type { ConnectionName } from '../../domain/ids.ts';
import type { ReaderHealth, Source, SourceState } from '../../domain/source.ts';

export interface Receipt {
  readonly source: Source;
  readonly nowMs: number;
  /** How often the source is scheduled, if groupsync itself schedules it. */
  readonly everyMinutes?: number | undefined;
}

/** When each source of a connection was last received. */
export interface SourceStore {
  /**
   * Records that something was received. A worker sends at most one write a minute for each source, and of the writes of all
   * workers one a minute takes effect: at most 43,200 write units a month for a source that is always busy and one worker,
   * about $0.03. A quiet source costs nothing.
   */
  noteReceipt(connection: ConnectionName, receipt: Receipt): Promise<void>;
  /** Records since when a first receipt is expected; an earlier time stays. */
  noteAwaited(connection: ConnectionName, source: Source, nowMs: number): Promise<void>;
  /** Replaces what the reader of the directory found before. */
  noteReader(connection: ConnectionName, health: ReaderHealth): Promise<void>;
  /** Sources of which anything is stored. */
  read(connection: ConnectionName): Promise<readonly SourceState[]>;
}
