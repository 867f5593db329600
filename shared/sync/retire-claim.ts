import type { GroupRef, PlatformGroupId } from '../domain/ids.ts';
import { HOPE_MS } from './attribute-drift.ts';
import type { ClaimStore } from './ports/claims.ts';

interface RetiringPorts {
  readonly claims: Pick<ClaimStore, 'retire'>;
  readonly clock: () => number;
}

/** Lets go of a platform group that is gone. Who deleted it the feed may tell only now, under the id that it had. */
export const retireClaim = (
  company: string,
  id: PlatformGroupId,
  owner: GroupRef,
  { claims, clock }: RetiringPorts,
): Promise<void> => claims.retire(company, id, { owner, untilMs: clock() + HOPE_MS });
