import type { ConnectionName } from '../domain/ids.ts';
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

/** How fresh each source of a connection is. */
export const readFreshness = async (
  { name, settings }: Pick<Connection, 'name' | 'settings'>,
  { sources, clock }: SourcePorts,
): Promise<readonly Freshness[]> => freshnessOf(settings, await sources.read(name), clock());

/**
 * How fresh each source of a connection is. If something is expected of a source that was never received, the time of this is
 * recorded once, so that it can become late too.
 */
export async function watchSources(
  { name, settings }: Pick<Connection, 'name' | 'settings'>,
  { sources, clock }: SourcePorts,
): Promise<readonly Freshness[]> {
  const states = await sources.read(name);
  const nowMs = clock();
  const freshness = freshnessOf(settings, states, nowMs);
  const isAwaited = (source: string) =>
    states.some((one) => one.source === source && one.awaitedMs !== undefined);
  for (const { source, receivedMs } of freshness) {
    if (receivedMs === undefined && !isAwaited(source)) await sources.noteAwaited(name, source, nowMs);
  }
  return freshness;
}
