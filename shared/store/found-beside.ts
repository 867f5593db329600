import type { GroupState } from '../domain/group-state.ts';
import type { FoundForeign } from '../sync/ports/groups.ts';
import type { Attributes } from './table.ts';

/** Bounds of lists on the group item: far more than ever stand open, far less than an item holds. */
const MAX_OPEN_DRIFT = 500;
const MAX_UNATTRIBUTED = 100;

/** What a look found of others' doing, as attributes of the group item: joined with what stands open there. */
export const foundBeside = (
  seen: GroupState,
  { openDrift = [], unattributed = [], deletionWaiver, contest, audited }: FoundForeign = {},
): Attributes => ({
  ...(openDrift.length === 0 ? {} : { openDrift: merged(seen.openDrift, openDrift, MAX_OPEN_DRIFT) }),
  ...(unattributed.length === 0
    ? {}
    : { unattributed: merged(seen.unattributed, unattributed, MAX_UNATTRIBUTED) }),
  ...(deletionWaiver === undefined ? {} : { deletionWaiver: { ...deletionWaiver } }),
  ...(contest === undefined ? {} : { contest: { ...contest } }),
  ...(audited === undefined ? {} : { lastAudit: audited }),
});

const merged = (before: readonly string[], more: readonly string[], most: number): readonly string[] =>
  [...new Set([...before, ...more])].slice(-most);
