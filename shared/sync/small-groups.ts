import type { ConnectionName } from '../domain/ids.ts';
import type { GroupIndex } from './ports/bundles.ts';

/** Counts the synced groups of a connection that have fewer members than `minSize`, as the index shows them. */
export async function countSmallGroups(
  connection: ConnectionName,
  minSize: number,
  { index }: { readonly index: Pick<GroupIndex, 'all'> },
): Promise<number> {
  let count = 0;
  for await (const page of index.all(connection)) {
    count += page.filter(
      ({ settled, applied = minSize }) => (settled === 'in_sync' || settled === 'held') && applied < minSize,
    ).length;
  }
  return count;
}
