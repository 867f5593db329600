import type { Group, Membership, User, View } from '../engine/directory.ts';
import type { Simulation } from '../engine/simulation.ts';

/** Deleted users and Microsoft 365 groups can be restored for 30 days. */
const RESTORABLE_FOR_MS = 30 * 86_400_000;

/** `deleted` means that the object can be restored, and `gone` that it cannot. */
export type Lifecycle = 'live' | 'deleted' | 'gone';

export function lifecycleOfUser({ deletedAtMs, purgedAtMs }: User, atMs: number): Lifecycle {
  if (deletedAtMs === null) return 'live';
  return purgedAtMs === null && atMs - deletedAtMs <= RESTORABLE_FOR_MS ? 'deleted' : 'gone';
}

/** Returns the state of a group. "Deleted security groups are deleted permanently" (List deletedItems). */
export function lifecycleOfGroup(group: Group, atMs: number): Lifecycle {
  const { deletedAtMs } = group;
  if (deletedAtMs === null) return 'live';
  return isUnified(group) && atMs - deletedAtMs <= RESTORABLE_FOR_MS ? 'deleted' : 'gone';
}

const groupTypes = ({ vendorFields }: Group): readonly unknown[] => {
  const types = vendorFields['groupTypes'];
  return Array.isArray(types) ? types : [];
};
export const isUnified = (group: Group) => groupTypes(group).includes('Unified');
const isDynamic = (group: Group) => groupTypes(group).includes('DynamicMembership');
export const isHidden = ({ vendorFields }: Group) => vendorFields['visibility'] === 'HiddenMembership';

const ENTRA_KINDS = ['user', 'group', 'device', 'servicePrincipal'] as const;
export type EntraKind = (typeof ENTRA_KINDS)[number];

export interface DirectMember {
  readonly id: string;
  readonly kind: EntraKind;
  /** False if the member's user or group is deleted. */
  readonly isLive: boolean;
}

/**
 * Returns the stored members of a group. Deleted users and groups keep their memberships, because they can be restored.
 * The members of a dynamic group change with an additional lag.
 */
export function membersOf(simulation: Simulation, view: View, group: Group): readonly DirectMember[] {
  const lagMs = isDynamic(group)
    ? simulation.settings().lagSeconds.dynamicMembers *
      1_000 *
      simulation.random(`dynamic/${group.id}`).fraction()
    : 0;
  const earlier = lagMs === 0 ? view : simulation.directory().viewAt(view.atMs - lagMs);
  return earlier.members(group.id).flatMap((membership) => memberOf(view, membership) ?? []);
}

function memberOf(view: View, { memberId: id, kind }: Membership): DirectMember | undefined {
  if (kind === 'user') return { id, kind, isLive: view.user(id) !== undefined };
  if (kind === 'group') return { id, kind, isLive: view.group(id) !== undefined };
  if (kind === 'device' || kind === 'servicePrincipal') return { id, kind, isLive: true };
  return undefined;
}
