import { holdsOf } from '../domain/hold.ts';
import { type GroupRef, groupId, platformGroupId } from '../domain/ids.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';
import type { Connection } from '../sync/ports/connections.ts';
import { mapConcurrently } from '../sync/tuning.ts';
import { followGroups } from './follow.ts';
import { Refused } from './names.ts';
import { adoptGroup } from './ownership.ts';
import { type AdoptionPair, digestOfAll } from './platform-groups.ts';

interface Adoptions {
  readonly pairs: readonly (AdoptionPair & { readonly digest?: string | null | undefined })[];
  /** Why the person also approves exactly these removals; undefined: they wait. */
  readonly reason: string | undefined;
}

export type Adoption = Awaited<ReturnType<typeof adoptShown>>[number];

/** How long to wait until apply has recorded the removals of an adopted group. */
const RECORDED_WITHIN_MS = 10_000;

/**
 * Adopts the groups, and approves the removals of their previews.
 * @returns the outcome of each pair. `isApproved` is false if the removals differ from those of the preview.
 * @throws Refused if another person must approve the removals
 */
export async function adoptShown(connection: Connection, { pairs, reason }: Adoptions, ports: ToolPorts) {
  const { name } = connection;
  if (reason !== undefined) refuseApproval(connection);
  const approves = async (ref: GroupRef, digest: string, why: string) => {
    await followGroups([ref], ports, { timeoutMs: RECORDED_WITHIN_MS });
    const holds = holdsOf((await ports.groups.read(ref)) ?? {});
    const waiting = holds.flatMap((hold) => (hold.decision.kind === 'waiting' ? hold.digest : []));
    if (digestOfAll(waiting) !== digest) return false;
    for (const one of waiting) {
      const request = { reason: why, digest: one };
      const { kind } = await ports.decisions.hold({ ...ref, isApproved: true, request });
      if (kind !== 'decided') return false;
    }
    return true;
  };
  return mapConcurrently(1, pairs, async ({ group, platformId, digest }) => {
    const ref = { connection: name, group: groupId(group) };
    const outcome = await adoptGroup(ref, platformGroupId(platformId), ports);
    const mustApprove = outcome.kind === 'adopted' && reason !== undefined && digest != null;
    const isApproved = mustApprove ? await approves(ref, digest, reason) : true;
    return { ref, platformId, outcome, isApproved };
  });
}

/** @throws Refused if another person must approve the removals of an adoption */
export function refuseApproval({ name, settings }: Connection): void {
  if (!settings.fourEyes) return;
  throw new Refused(
    `nothing was changed: your adoption causes these removals, and ${name} requires a second approver (setting fourEyes). Adopt without approving them`,
  );
}
