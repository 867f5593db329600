import type { GroupState } from '../domain/group-state.ts';
import type { GroupRef, PlatformGroupId } from '../domain/ids.ts';
import { FEED_DELAY_MS } from './attribute-drift.ts';
import type { Ports } from './ports/bundles.ts';

/**
 * Ends the claim to a deleted or released platform group. The last owner stays stored for a day, because the feed may
 * still report the initiator of the deletion under the old id.
 */
export const retireClaim = (
  company: string,
  id: PlatformGroupId,
  owner: GroupRef,
  { claims, clock }: Pick<Ports, 'claims' | 'clock'>,
): Promise<void> => claims.retire(company, id, { owner, untilMs: clock() + FEED_DELAY_MS });

/** Ends the claim to a released platform group, except if the directory group is linked to it again. */
export async function endClaim(
  { ref, releasedPlatformId, link }: Pick<GroupState, 'ref' | 'releasedPlatformId' | 'link'>,
  company: string,
  ports: Pick<Ports, 'groups' | 'claims' | 'clock'>,
): Promise<void> {
  if (releasedPlatformId === undefined || releasedPlatformId === link?.id) return;
  await retireClaim(company, releasedPlatformId, ref, ports);
  const now = await ports.groups.read(ref);
  if (now?.link?.id === releasedPlatformId) await ports.claims.claim(company, releasedPlatformId, ref);
}
