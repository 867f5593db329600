import type { PlatformGroupId } from '../../domain/ids.ts';
import { mayUnlink, UNLINKED_ALWAYS } from '../../plan/guard.ts';
import type { GroupState } from '../ports/groups.ts';
import { LISTING_AGE_MS, MISSES_APART_MS, undoneBackoffMs } from '../tuning.ts';
import type { Lane } from './lane.ts';
import type { Step } from './step.ts';

type Wait = Step & { readonly kind: 'wait' };

/**
 * Why the link to a group that has just answered 404 is not given up yet. A wrong route answers so for every group, and
 * each link that is given up makes a second group of one that is still there:
 *
 *     the 404 is              | the list | unlinked this hour | then
 *     ------------------------|----------|--------------------|-------------------------------
 *     the first               | –        | –                  | noted; asked again a minute later
 *     within a minute of it   | –        | –                  | asked again after that
 *     a later one             | shows it | –                  | waits, ever longer
 *     a later one             | does not | too many           | waits, ever longer; an alarm rings
 *     a later one             | does not | few                | may be given up: undefined
 */
export async function waitBeforeUnlinking(
  state: GroupState,
  platformId: PlatformGroupId,
  lane: Lane,
): Promise<Wait | undefined> {
  const { ports, platform } = lane;
  const { missedAtMs, attempts } = state;
  const nowMs = ports.clock();
  const apartMs = Math.min(MISSES_APART_MS, ports.createSettleMs);
  if (missedAtMs === undefined) {
    await ports.groups.noteMissing(state, nowMs);
    return wait(apartMs, MISSING);
  }
  const sinceMs = nowMs - missedAtMs;
  if (sinceMs < apartMs) return wait(apartMs - sinceMs, MISSING);
  const longerMs = undoneBackoffMs(attempts, ports.random());
  const listed = await platform.groups.list(Math.min(LISTING_AGE_MS, sinceMs));
  if (listed.some(({ id }) => id === platformId)) return wait(longerMs, LISTED);
  return (await drawOnBudget(state, platformId, lane)) ? undefined : wait(longerMs, HELD);
}

/** The record is put before the others are counted, so two at once may both wait, but never both pass. */
async function drawOnBudget(
  { ref }: GroupState,
  platformId: PlatformGroupId,
  { ports, connection }: Lane,
): Promise<boolean> {
  const recent = await ports.guard.unlink(ref.connection, platformId, ports.clock());
  if (recent < UNLINKED_ALWAYS) return true;
  const links = await ports.claims.count(connection.company, ref.connection);
  if (mayUnlink({ links, recent })) return true;
  await ports.guard.keepLink(ref.connection, platformId);
  return false;
}

const wait = (ms: number, error: Wait['error'] & object): Wait => ({ kind: 'wait', ms, error });

const MISSING = { code: 'missing', message: 'the platform answers 404 for the group: it is asked again' };
const LISTED = { code: 'missing', message: 'the platform answers 404 for the group, and lists it' };
const HELD = {
  code: 'missing_held',
  message: 'the platform answers 404 for this group and too many others: none more is made anew this hour',
};

export const isUnlinkingHeld = ({ error }: Wait): boolean => error?.code === HELD.code;
