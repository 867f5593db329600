import { platformGroupId } from '../domain/ids.ts';
import { findRemovedOwners } from './claim-group.ts';
import type { ConnectionStore, Ports } from './ports/bundles.ts';

/** Returns the platform groups that have no owner. An owner whose connection was removed does not count. */
export async function unmanagedOf<Group extends { readonly id: string }>(
  groups: readonly Group[],
  company: string,
  ports: {
    readonly claims: Pick<Ports['claims'], 'owners'>;
    readonly connections: Pick<ConnectionStore, 'current'>;
  },
): Promise<readonly Group[]> {
  if (groups.length === 0) return [];
  const ids = [...new Set(groups.map(({ id }) => platformGroupId(id)))];
  const { now } = await ports.claims.owners(company, ids);
  const isOfRemoved = await findRemovedOwners(now, ports);
  return groups.filter(({ id }) => {
    const owner = now.get(platformGroupId(id));
    return owner === undefined || isOfRemoved(owner);
  });
}
