import type { GroupId } from '../../domain/ids.ts';
import type { ScimResource } from '../ports/scim.ts';
import type { ScimContext } from './context.ts';

/** A revision that changes what clients see; its registers are still to follow. */
export function nextRevision(before: ScimResource, nowMs: number): ScimResource {
  const revision = before.revision + 1;
  const modifiedMs = Math.max(nowMs, before.modifiedMs);
  return { ...before, revision, version: revision, modifiedMs, changedMs: modifiedMs, settled: false };
}

/**
 * A revision that changes nothing that clients see (RFC 7644 section 3.5.2.1: "the modify timestamp shall not change").
 * It states desired state anew all the same, with stamps of its own, so that whatever a crash left undone is done.
 */
export const idleRevision = (before: ScimResource, nowMs: number): ScimResource => ({
  ...nextRevision(before, nowMs),
  version: before.version,
  changedMs: before.changedMs,
});

/** One resource written by this many others between our read and our write would be a fault elsewhere. */
export const MAX_RACES = 50;

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
