import type * as z from 'zod';
import { groupId } from '../../domain/ids.ts';
import type { DirectoryGroup, DirectoryPage } from '../../sync/ports/directory.ts';
import { unlessMissing } from '../steps.ts';
import { type Api, pathOf } from './api.ts';
import { type List, listPages, PAGE_SIZE } from './lists.ts';
import { Group } from './schemas.ts';

/** Returns the request for the list of all groups, or of the groups that match a filter. */
export const groupList = (query: {
  readonly filter?: string;
  readonly expand?: string;
}): List<typeof Group> => ({
  operation: 'listGroups',
  path: pathOf(['groups'], { ...query, limit: PAGE_SIZE }),
  item: Group,
  isFixed: true,
});

/** Lists the groups of every type: Okta groups, app groups and built-in groups. */
export async function* groupPages(api: Api): AsyncGenerator<DirectoryPage<DirectoryGroup>> {
  for await (const { items, asOfMs } of listPages(api, groupList({ expand: 'stats' }))) {
    yield { items: items.map(groupOf), asOfMs };
  }
}

/**
 * Finds a group by its id. The list is requested first, because only the list counts the users. The list can begin with
 * empty pages. An empty list does not prove that the group does not exist.
 */
export async function findGroup(api: Api, id: string): Promise<DirectoryGroup | undefined> {
  const filter = `id eq ${JSON.stringify(id)}`;
  for await (const { items } of listPages(api, groupList({ filter, expand: 'stats' }))) {
    const listed = items.find((group) => group.id === id);
    if (listed !== undefined) return groupOf(listed);
  }
  return unlessMissing(async () => {
    const found = await api.one({ operation: 'getGroup', path: pathOf(['groups', id]), body: Group });
    return groupOf(found.body);
  });
}

/** Returns a group. Groups of Okta have no address, so the id takes its place. */
const groupOf = ({ id, profile, _embedded }: z.infer<typeof Group>): DirectoryGroup => ({
  id: groupId(id),
  name: profile.name,
  address: id,
  userCount: _embedded?.stats?.usersCount ?? undefined,
});
