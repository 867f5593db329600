import type { GroupId } from '../../domain/ids.ts';
import type { ScimResource } from '../ports/scim.ts';
import type { ScimContext } from './context.ts';
import { nextRevision } from './revision.ts';

const MAX_RACES = 50;

/**
 * The next revision of a group whose members change by something else than a request to it.
 * @returns nothing where the group is no SCIM resource
 */
export async function touchGroup(
  group: GroupId,
  { ports, connection }: ScimContext,
): Promise<readonly ScimResource[]> {
  const target = { type: 'Group', id: group } as const;
  const advanced = await ports.scim.advance(connection, target, { nowMs: ports.clock(), isChange: true });
  if (advanced !== undefined) return [advanced];
  for (let race = 0; race < MAX_RACES; race += 1) {
    const [before] = await ports.scim.read(connection, 'Group', [group]);
    if (before?.state !== 'live') return [];
    const after = { ...nextRevision(before, ports.clock()), settled: before.settled };
    if (await ports.scim.save(connection, after, before)) return [after];
  }
  throw new Error(`gave up after ${MAX_RACES} concurrent writes of one group`);
}
