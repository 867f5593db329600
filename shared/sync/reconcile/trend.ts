import { HOUR_MS } from '../../domain/duration.ts';
import type { ConnectionName } from '../../domain/ids.ts';
import type { Ports } from '../ports/bundles.ts';
import type { GroupSummary } from '../ports/group-index.ts';

const MOST_HOURS = 24;

export type TrendPorts = Pick<Ports, 'index' | 'trends' | 'clock'>;

/** Stores once in each hour how many groups and memberships need work, for the charts of the console. */
export async function recordTrend(connection: ConnectionName, { index, trends, clock }: TrendPorts) {
  const atMs = Math.floor(clock() / HOUR_MS) * HOUR_MS;
  const earlier = await trends.read(connection);
  if (earlier.some((hour) => hour.atMs >= atMs)) return;
  const now = { atMs, waiting: 0, held: 0, failed: 0, pending: 0 };
  for await (const groups of index.all(connection, 'unsettled')) {
    for (const kind of groups.map(kindOf)) if (kind !== undefined) now[kind] += 1;
  }
  for await (const members of index.pending(connection)) now.pending += members.length;
  const lastDay = earlier.filter((hour) => hour.atMs > atMs - MOST_HOURS * HOUR_MS);
  await trends.write(connection, [...lastDay, now]);
}

function kindOf({ holdWaits, failedAtMs, dirtySinceMs }: GroupSummary) {
  if (holdWaits) return 'held';
  if (failedAtMs !== undefined) return 'failed';
  return dirtySinceMs === undefined ? undefined : 'waiting';
}
