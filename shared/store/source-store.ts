import type { ConnectionName } from '../domain/ids.ts';
import { type ReaderHealth, type Source, SourceState } from '../domain/source.ts';
import type { Receipt } from '../sync/ports/sources.ts';
import { OF_THIS_SCHEMA, plain, understood } from './item-form.ts';
import { connectionKey, SOURCE_PREFIX, sourceKey } from './keys.ts';
import { any, itemsOf, less, missing, type Table } from './table.ts';

/** The minimum time between two recorded receipts of a source. */
const RECORDED_EVERY_MS = 60_000;

export function createSourceStore(table: Table) {
  /** The time of this worker's last write, by connection and source. */
  const sentMs = new Map<string, number>();
  return {
    /**
     * Records that a source sent data. Each worker sends at most one write a minute for each source. Among the writes of
     * all workers, one a minute takes effect. With one worker, a source that is always busy costs at most 43,200 write
     * units a month, about $0.03.
     */
    async noteReceipt(connection: ConnectionName, { source, nowMs, everyMinutes }: Receipt) {
      const name = `${connection} ${source}`;
      if (nowMs - (sentMs.get(name) ?? Number.NEGATIVE_INFINITY) < RECORDED_EVERY_MS) return;
      sentMs.set(name, nowMs);
      // The condition fails if another worker has recorded a receipt in the last minute. That receipt then stays.
      await table.update(
        sourceKey(connection, source),
        { set: { ...OF_THIS_SCHEMA, ...plain({ source, receivedMs: nowMs, everyMinutes }) } },
        any(missing('receivedMs'), less('receivedMs', nowMs - RECORDED_EVERY_MS + 1)),
      );
    },

    /** Records the time from which a first receipt is expected. An earlier recorded time stays. */
    async noteAwaited(connection: ConnectionName, source: Source, nowMs: number): Promise<void> {
      await table.update(sourceKey(connection, source), {
        set: { ...OF_THIS_SCHEMA, source },
        setIfMissing: { awaitedMs: nowMs },
      });
    },

    /** Replaces the stored health of the directory reader. */
    async noteReader(connection: ConnectionName, { stopped, shortGroups, flips }: ReaderHealth) {
      const found = { stopped, shortGroups, flips };
      await table.update(sourceKey(connection, 'directory'), {
        set: { ...OF_THIS_SCHEMA, ...plain({ source: 'directory', ...found }) },
        remove: Object.entries(found).flatMap(([name, value]) => (value === undefined ? [name] : [])),
      });
    },

    async read(connection: ConnectionName): Promise<readonly SourceState[]> {
      const items = await itemsOf(table, { partition: connectionKey(connection).pk, prefix: SOURCE_PREFIX });
      return items.map((item) => understood(SourceState, item, `a source at ${item.pk}`));
    },
  };
}
