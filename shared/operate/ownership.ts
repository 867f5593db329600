import { renderName } from '../contract/name-template.ts';
import { groupName, hasDeparted } from '../domain/group.ts';
import { type GroupState, READS_BEHIND_MS } from '../domain/group-state.ts';
import { stepFrom } from '../domain/history.ts';
import { type GroupRef, intentId, type PlatformGroupId } from '../domain/ids.ts';
import type { ObservedGroup } from '../domain/view.ts';
import { shows, viewOf } from '../plan/external-change.ts';
import { withAdoption } from '../plan/marks.ts';
import { changeByAdoption } from '../plan/transition.ts';
import { readPreviousLink } from '../sync/apply/adopt.ts';
import { claimGroup } from '../sync/claim-group.ts';
import { withCurrentOwner } from '../sync/moves.ts';
import { openPlatform } from '../sync/open-platform.ts';
import type { ToolPorts, WakePorts } from '../sync/ports/bundles.ts';
import { endClaim } from '../sync/retire-claim.ts';
import { dirtyNow } from '../sync/wake.ts';
import { doRecorded, type JournalPorts } from './journal.ts';
import { refuseMoved } from './pausing.ts';
import { requireConnection } from './settings.ts';

type OwnershipPorts = JournalPorts &
  Pick<WakePorts, 'applyQueue' | 'coalesceMs'> &
  Pick<ToolPorts, 'groups' | 'claims' | 'connections' | 'platforms' | 'createSettleMs'>;

export type AdoptOutcome =
  /** The group is linked. Apply is woken and sends the whole group. `observed` is the earlier content of the group. */
  | { readonly kind: 'adopted'; readonly observed: ObservedGroup }
  /** The connection or the directory group does not exist. An adopted platform group would be deleted. */
  | { readonly kind: 'not_in_directory' }
  /** The directory group already has another platform group, which an operator must release first. */
  | { readonly kind: 'linked'; readonly platformId: PlatformGroupId }
  /** Another directory group owns the platform group. The connection of that group still exists. */
  | { readonly kind: 'owned'; readonly owner: GroupRef }
  | { readonly kind: 'not_on_platform' }
  /** A write of the group is in progress, or may be missing in the read of the group. The operator can try again. */
  | { readonly kind: 'busy' };

/**
 * Links a platform group to this directory group, and ends a release. The claim is written first, so that only one of
 * two directory groups can adopt the same platform group (invariant 6). After the adoption, groupsync treats the
 * platform group like a group that groupsync created.
 * @throws PlatformFailure if the platform cannot be read
 */
export async function adoptGroup(
  ref: GroupRef,
  platformId: PlatformGroupId,
  ports: OwnershipPorts,
): Promise<AdoptOutcome> {
  const connection = await ports.connections.find(ref.connection);
  const seen = await ports.groups.read(ref);
  if (connection === undefined || seen === undefined || hasDeparted(seen.registers)) {
    return { kind: 'not_in_directory' };
  }
  const obstacle = await obstacleTo(seen, platformId, ports);
  if (obstacle !== undefined) return obstacle;
  const { company } = connection;
  const platform = await openPlatform(connection, ports);
  const owner = await claimGroup({ company, id: platformId, owner: ref }, ports);
  if (owner !== undefined) return { kind: 'owned', owner };
  const observed = await platform.groups.get(platformId);
  if (observed === undefined) {
    await endClaim({ ...seen, releasedPlatformId: platformId }, company, ports);
    return { kind: 'not_on_platform' };
  }
  const base =
    seen.link === undefined
      ? await readPreviousLink(seen, platformId, { connection, ports })
      : await ports.groups.readView(ref, seen.link.view);
  if (isWrittenLately(seen, platformId, ports) && (base === undefined || !shows(observed, base))) {
    await endClaim({ ...seen, releasedPlatformId: platformId }, company, ports);
    return { kind: 'busy' };
  }
  const viewId = intentId(ports.newId());
  const adopted = withAdoption(viewOf(observed, base));
  const view = await ports.groups.prepareView(seen, viewId, adopted);
  const link = { id: platformId, version: observed.version, view };
  const change = { kind: 'adopt_group', before: null, after: platformId, reason: observed.name };
  const step = stepFrom(seen, base, { link, view: adopted }, { sinceMs: ports.clock(), external: 'all' });
  const action = { action: 'adopt' as const, changes: [change], step };
  const act = async () =>
    (await ports.groups.adopt(seen, changeByAdoption(link), dirtyNow(ports))) ||
    // If the first answer was lost, the SDK repeated the write. The repeated write fails, although the group has this
    // view.
    (await ports.groups.read(ref))?.link?.view.id === viewId;
  if (!(await doRecorded(ref, action, ports, act))) {
    await endClaim({ ...seen, releasedPlatformId: platformId }, company, ports);
    return { kind: 'busy' };
  }
  // The claim is written again. A sweep between the two writes may have ended the claim, because the group had no link.
  await ports.claims.claim(company, platformId, ref);
  await ports.applyQueue.wake([ref]);
  return { kind: 'adopted', observed };
}

/** A former group of a takeover gets no other platform group, because its source sends it no changes any more. */
async function obstacleTo(
  seen: GroupState,
  platformId: PlatformGroupId,
  { groups }: OwnershipPorts,
): Promise<AdoptOutcome | undefined> {
  const { ref, link, intent } = seen;
  if (link !== undefined && link.id !== platformId) return { kind: 'linked', platformId: link.id };
  if (intent !== undefined) return { kind: 'busy' };
  const { movedTo } = await withCurrentOwner(seen, groups);
  return movedTo && { kind: 'owned', owner: { ...ref, group: movedTo } };
}

/** Whether a read may show the platform group from before groupsync's last write of it. */
function isWrittenLately(
  { link, previousLink, lastWriteAtMs = 0 }: GroupState,
  platformId: PlatformGroupId,
  { clock, createSettleMs }: OwnershipPorts,
): boolean {
  const isOwn = (link?.id ?? previousLink?.platformId) === platformId;
  return isOwn && clock() < lastWriteAtMs + Math.min(READS_BEHIND_MS, createSettleMs);
}

/**
 * Lets a group that waits with `name_clash` get a platform group of its own. The unmanaged platform group with the same
 * name stays as it is.
 * @returns false if the group does not wait with `name_clash`
 */
export async function createNamesake(ref: GroupRef, ports: OwnershipPorts): Promise<boolean> {
  const seen = await ports.groups.read(ref);
  if (seen?.settled !== 'name_clash' || seen.link !== undefined || seen.released) return false;
  const { settings } = await requireConnection(ref.connection, ports);
  const given = { name: groupName(seen.registers) ?? '', id: ref.group, connection: ref.connection };
  const name = renderName(settings.nameTemplate, given);
  const change = {
    kind: 'create_group',
    before: null,
    after: name,
    reason: 'next to a group with this name',
  };
  const action = { action: 'adopt', changes: [change] } as const;
  const act = () => ports.groups.createNamesake(ref, name, dirtyNow(ports));
  const noted = await doRecorded(ref, action, ports, act);
  if (noted) await ports.applyQueue.wake([ref]);
  return noted;
}

/**
 * Releases a group permanently. The platform group is not changed and then has no owner. Only `adoptGroup` or a
 * takeover links it again. Apply then settles an open write, and ends the link and the claim with an audit entry.
 * @returns false if the group does not exist
 * @throws Refused as `refuseMoved`
 */
export async function releaseGroup(ref: GroupRef, ports: OwnershipPorts): Promise<boolean> {
  const seen = await ports.groups.read(ref);
  if (seen === undefined) return false;
  await refuseMoved(seen, 'release', ports);
  const change = {
    kind: 'release_group',
    before: seen.link?.id ?? null,
    after: null,
    reason: 'released by an operator',
  };
  const action = { action: 'release' as const, changes: [change] };
  const released = await doRecorded(ref, action, ports, () => ports.groups.release(ref, dirtyNow(ports)));
  if (released) await ports.applyQueue.wake([ref]);
  return released;
}
