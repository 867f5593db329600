import type { ConnectionName } from '../../domain/ids.ts';
import type { ScimResource } from '../ports.ts';

/** This process may show a name for this time after another process changed the name. */
const REMEMBERED_MS = 60_000;
/** The maximum number of remembered names. Before a read would exceed it, all remembered names are dropped. */
const MOST_REMEMBERED = 50_000;

interface Description {
  /** The name of the resource; undefined if the resource does not exist or is being deleted. */
  readonly display: string | undefined;
  readonly readAtMs: number;
}

/**
 * Remembers the display names of group members, so that the answer about a group needs no read of each member. The
 * process sees its own changes immediately, and changes by another process within a minute.
 */
export function createScimDescriptions(
  read: (
    connection: ConnectionName,
    type: ScimResource['type'],
    ids: readonly string[],
  ) => Promise<readonly ScimResource[]>,
) {
  const remembered = new Map<string, Description>();
  let changes = 0;
  const keyOf = (connection: ConnectionName, type: ScimResource['type'], id: string) =>
    `${connection} ${type} ${id}`;

  const readMissing = async (
    { connection, type, nowMs }: { connection: ConnectionName; type: ScimResource['type']; nowMs: number },
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, Description>> => {
    const before = changes;
    const found = new Map((await read(connection, type, ids)).map((resource) => [resource.id, resource]));
    const descriptions = new Map(
      ids.map((id) => [id, { display: displayOf(found.get(id)), readAtMs: nowMs }] as const),
    );
    // If this process changed a resource during the read, the result may be outdated, so it is not remembered.
    if (changes !== before) return descriptions;
    if (remembered.size + ids.length > MOST_REMEMBERED) remembered.clear();
    for (const [id, description] of descriptions) remembered.set(keyOf(connection, type, id), description);
    return descriptions;
  };

  const describe = async (
    connection: ConnectionName,
    type: ScimResource['type'],
    ids: readonly string[],
    nowMs: number,
  ): Promise<ReadonlyMap<string, string>> => {
    const isFresh = (one: Description | undefined): one is Description =>
      one !== undefined && nowMs - one.readAtMs < REMEMBERED_MS;
    const known = new Map(ids.map((id) => [id, remembered.get(keyOf(connection, type, id))]));
    const missing = ids.filter((id) => !isFresh(known.get(id)));
    const news =
      missing.length === 0
        ? new Map<string, Description>()
        : await readMissing({ connection, type, nowMs }, missing);
    return new Map(
      ids.flatMap((id) => {
        const display = (news.get(id) ?? known.get(id))?.display;
        return display === undefined ? [] : [[id, display] as const];
      }),
    );
  };

  return {
    describe,
    forget(connection: ConnectionName, { type, id }: Pick<ScimResource, 'type' | 'id'>): void {
      changes += 1;
      remembered.delete(keyOf(connection, type, id));
    },
  };
}

function displayOf(resource: ScimResource | undefined): string | undefined {
  if (resource?.state !== 'live') return undefined;
  const { displayName, userName } = resource.attributes;
  return String(displayName ?? userName ?? resource.id);
}
