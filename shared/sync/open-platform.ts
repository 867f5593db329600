import type { ObservedGroup } from '../domain/view.ts';
import type { Connection } from './ports/connections.ts';
import { type Platform, PlatformFailure, type Platforms, type Trying } from './ports/platform.ts';

/**
 * Opens a connection's platform. The opened platform checks that each answer is about the requested group. Without this
 * check, an answer about another group could cause a link to the wrong platform group. After such an answer to a write,
 * its outcome is unknown.
 * @throws PlatformFailure if the platform cannot be opened. A call throws `unavailable` if its answer is about another
 * group
 */
export async function openPlatform(
  connection: Connection,
  { platforms }: { readonly platforms: Platforms },
  how?: Trying,
): Promise<Platform> {
  const platform = await platforms.open(connection);
  const { groups } = platform;
  return {
    ...platform,
    groups: {
      ...groups,
      create: (fields) => groups.create(fields, how),
      delete: (id) => groups.delete(id, how),
      get: async (id) => {
        const observed = await groups.get(id, how);
        return observed === undefined ? undefined : about(id, observed);
      },
      patch: async (id, fields, version) => about(id, await groups.patch(id, fields, version, how)),
      put: async (id, fields, version) => about(id, await groups.put(id, fields, version, how)),
    },
  };
}

function about(id: string, observed: ObservedGroup): ObservedGroup {
  if (observed.id === id) return observed;
  throw new PlatformFailure(
    'unavailable',
    `expected group ${id}, but the answer is about another group, ${observed.id}`,
    {},
  );
}
