import type { GroupId } from '../../domain/ids.ts';
import type { ScimResource } from '../ports/scim.ts';
import type { ScimContext } from './context.ts';

const MAX_RACES = 50;

/**
 * The next revision of a group whose members change by something else than a request to it.
 * @returns nothing where the group is no SCIM resource
 */
export async function touchGroup(
  group: GroupId,
  { ports, connection }: ScimContext,
): Promise<readonly ScimResource[]> {
  const advanced = await ports.scim.advance(connection, { type: 'Group', id: group }, ports.clock());
  if (advanced !== undefined) return [advanced];
  for (let race = 0; race < MAX_RACES; race += 1) {
    const [before] = await ports.scim.read(connection, 'Group', [group]);
    if (before?.state !== 'live') return [];
    const after: ScimResource = {
      ...before,
      revision: before.revision + 1,
      modifiedMs: Math.max(ports.clock(), before.modifiedMs),
    };
    if (await ports.scim.save(connection, after, before)) return [after];
  }
  throw new Error(`gave up after ${MAX_RACES} concurrent writes of one group`);
}
