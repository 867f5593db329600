import { FIELD_NAMES, type FieldChange, GROUP_FIELDS } from '../domain/group-fields.ts';
import type { MemberId, PlatformUserId } from '../domain/ids.ts';
import type { View } from '../domain/view.ts';

/** One difference between the platform and the wanted state. No code depends on the reason. */
export type PlanChange =
  | Changed<'create_group', null, string>
  | Changed<'delete_group' | 'release_group', string, null>
  | Changed<FieldChange, string | null, string | null>
  | (Changed<'add_member', null, PlatformUserId> & { readonly member: MemberId | null })
  | (Changed<'remove_member', PlatformUserId, null> & { readonly member: MemberId | null });

interface Changed<Kind, Before, After> {
  readonly kind: Kind;
  readonly before: Before;
  readonly after: After;
  readonly reason: string;
}

export type PlanAction = 'none' | 'create' | 'patch' | 'put' | 'delete' | 'release';

/** The change that apply will make to one group. The same input gives the same bytes. */
export interface Plan {
  readonly action: PlanAction;
  /** The changes, sorted by kind, then by user. */
  readonly changes: readonly PlanChange[];
  /** The group after the write; undefined if the directory group then has no platform group. */
  readonly after: View | undefined;
  /** Users that the plan removes, sorted. A plan that deletes the group removes all users. */
  readonly removals: readonly PlatformUserId[];
  /** Whether the plan carries out the deletion of the directory group. */
  readonly departs: boolean;
}

export const NO_PLAN = (after: View | undefined): Plan => ({
  action: 'none',
  changes: [],
  after,
  removals: [],
  departs: false,
});

const KINDS: readonly PlanChange['kind'][] = [
  'create_group',
  'delete_group',
  'release_group',
  ...FIELD_NAMES.map((field) => GROUP_FIELDS[field].change),
  'add_member',
  'remove_member',
];

export function compareText(a: string, b: string): number {
  if (a < b) return -1;
  return a > b ? 1 : 0;
}

export function sortChanges(changes: readonly PlanChange[]): readonly PlanChange[] {
  return [...changes].sort(
    (a, b) =>
      KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) ||
      compareText(a.before ?? '', b.before ?? '') ||
      compareText(a.after ?? '', b.after ?? ''),
  );
}
