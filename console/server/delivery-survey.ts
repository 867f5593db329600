import { DAY_MS } from '../../shared/domain/duration.ts';
import type { ConnectionName } from '../../shared/domain/ids.ts';
import { readDeliveries } from '../../shared/operate/deliveries.ts';
import type { ToolPorts } from '../../shared/sync/ports/bundles.ts';

const MAX_SURVEYED = 1_000;

/**
 * Returns the time of the last delivery, and the refused deliveries of the last day by status or code. At most the newest
 * thousand are counted.
 */
export async function surveyDeliveries(connection: ConnectionName, ports: ToolPorts) {
  const sinceMs = ports.clock() - DAY_MS;
  const [{ deliveries }, newest] = await Promise.all([
    readDeliveries(connection, { sinceMs, limit: MAX_SURVEYED }, ports),
    readDeliveries(connection, { limit: 1 }, ports),
  ]);
  const refused = deliveries.filter(({ outcome }) => outcome === 'refused');
  const counts = new Map<string, number>();
  for (const { code, status } of refused) {
    const reason = code ?? String(status);
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return {
    lastAt: newest.deliveries[0]?.at ?? null,
    received: deliveries.length,
    refused: refused.length,
    reasons: [...counts].map(([code, count]) => ({ code, count })).sort((a, b) => b.count - a.count),
  };
}
