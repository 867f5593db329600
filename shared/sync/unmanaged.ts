import { platformGroupId } from '../domain/ids.ts';
import type { ClaimStore } from './ports/claims.ts';

/** Those of the platform's groups that no directory group of the company owns. */
export async function unmanagedOf<Group extends { readonly id: string }>(
  groups: readonly Group[],
  company: string,
  claims: Pick<ClaimStore, 'owners'>,
): Promise<readonly Group[]> {
  if (groups.length === 0) return [];
  const ids = [...new Set(groups.map(({ id }) => platformGroupId(id)))];
  const { now } = await claims.owners(company, ids);
  return groups.filter(({ id }) => !now.has(platformGroupId(id)));
}
