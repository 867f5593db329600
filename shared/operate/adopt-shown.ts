import { type GroupRef, groupId, platformGroupId } from '../domain/ids.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';
import type { Connection } from '../sync/ports/connections.ts';
import { followGroups } from './follow.ts';
import { adoptGroup } from './ownership.ts';
import type { AdoptionPair } from './platform-groups.ts';
import { Refused } from './refused.ts';

interface Adoptions {
  /** The pairs, each with the digest of the removals that its preview showed. */
  readonly pairs: readonly (AdoptionPair & { readonly digest?: string | null | undefined })[];
  /** Why the person also approves exactly these removals; undefined: they wait. */
  readonly reason: string | undefined;
}

/** How long to wait until apply has recorded the removals of an adopted group. */
const RECORDED_WITHIN_MS = 10_000;

/**
 * Adopts the groups, and approves the removals of their previews.
 * @returns a line for each pair that was not adopted, or whose removals still wait
 * @throws Refused if another person must approve the removals
 */
export async function adoptShown(
  { name, settings }: Connection,
  { pairs, reason }: Adoptions,
  ports: ToolPorts,
): Promise<readonly string[]> {
  if (reason !== undefined && settings.fourEyes)
    throw new Refused(
      'nothing was changed: your adoption causes these removals, and another person must approve them (setting fourEyes). Adopt without a reason',
    );
  const approves = async (ref: GroupRef, digest: string, why: string) => {
    await followGroups([ref], ports, { timeoutMs: RECORDED_WITHIN_MS });
    const request = { reason: why, digest };
    return (await ports.decisions.hold({ ...ref, isApproved: true, request })).kind === 'decided';
  };
  const failed: string[] = [];
  for (const { group, platformId, digest } of pairs) {
    const ref = { connection: name, group: groupId(group) };
    const { kind } = await adoptGroup(ref, platformGroupId(platformId), ports);
    if (kind !== 'adopted') failed.push(`${platformId}: ${kind.replaceAll('_', ' ')}`);
    else if (reason !== undefined && digest != null && !(await approves(ref, digest, reason)))
      failed.push(`${platformId}: adopted, but its removals still wait`);
  }
  return failed;
}
