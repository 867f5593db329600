import type { ConnectionName } from '../domain/ids.ts';
import { type ReaderHealth, readerHealthOf } from '../domain/source.ts';
import { type Freshness, freshnessOf } from '../plan/freshness.ts';
import type { Ports } from './ports/bundles.ts';
import type { Connection } from './ports/connections.ts';
import type { Receipt } from './ports/sources.ts';

export type SourcePorts = Pick<Ports, 'sources' | 'clock'>;

/** Records a receipt. A failure is left out: the next receipt is recorded, and what was received is stored in any case. */
export const noteReceipt = (
  connection: ConnectionName,
  receipt: Omit<Receipt, 'nowMs'>,
  { sources, clock }: SourcePorts,
): Promise<void> => sources.noteReceipt(connection, { ...receipt, nowMs: clock() }).catch(() => {});

export interface SourcesFound {
  readonly freshness: readonly Freshness[];
  /** Empty where no directory is read. */
  readonly reader: ReaderHealth;
}

/** How fresh each source of a connection is, and what the reader of its directory found. */
export async function readSources(
  { name, settings }: Pick<Connection, 'name' | 'settings'>,
  { sources, clock }: SourcePorts,
): Promise<SourcesFound> {
  const states = await sources.read(name);
  const reader = settings.directory === null ? {} : readerHealthOf(states);
  return { freshness: freshnessOf(settings, states, clock()), reader };
}

/**
 * As `readSources`. If something is expected of a source that was never received, the time of this is recorded once, so that
 * it can become late too.
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
