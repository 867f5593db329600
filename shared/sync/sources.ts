import type { ConnectionName } from '../domain/ids.ts';
import { type ReaderHealth, readerHealthOf } from '../domain/source.ts';
import { type Freshness, freshnessOf } from '../plan/freshness.ts';
import type { Ports } from './ports/bundles.ts';
import type { Connection } from './ports/connections.ts';
import type { Receipt } from './ports/sources.ts';

export type SourcePorts = Pick<Ports, 'sources' | 'clock'>;

/**
 * Records that a source sent data. An error of this write is ignored, because the received data is already stored, and
 * the next receipt writes a newer time.
 */
export const noteReceipt = (
  connection: ConnectionName,
  receipt: Omit<Receipt, 'nowMs'>,
  { sources, clock }: SourcePorts,
): Promise<void> => sources.noteReceipt(connection, { ...receipt, nowMs: clock() }).catch(() => {});

export interface SourcesFound {
  readonly freshness: readonly Freshness[];
  /** The findings of the reader; empty if no directory is read. */
  readonly reader: ReaderHealth;
}

export async function readSources(
  { name, settings }: Pick<Connection, 'name' | 'settings'>,
  { sources, clock }: SourcePorts,
): Promise<SourcesFound> {
  const states = await sources.read(name);
  const reader = settings.directory === null ? {} : readerHealthOf(states);
  return { freshness: freshnessOf(settings, states, clock()), reader };
}

/**
 * Returns the same as `readSources`. For an expected source that has never sent data, it also records the present time
 * once. So such a source also becomes late.
 */
export async function watchSources(
  connection: Pick<Connection, 'name' | 'settings'>,
  ports: SourcePorts,
): Promise<SourcesFound> {
  const found = await readSources(connection, ports);
  for (const { source, receivedMs, isAwaited } of found.freshness) {
    if (receivedMs !== undefined || isAwaited) continue;
    await ports.sources.noteAwaited(connection.name, source, ports.clock());
  }
  return found;
}
