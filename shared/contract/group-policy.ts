import { matchesGlob } from './glob.ts';
import type { ConnectionSettings, Mode } from './settings.ts';

type PolicySettings = Pick<ConnectionSettings, 'groups' | 'mode'>;

export interface GroupTreatment {
  /** Whether groupsync stores the group but never writes it to the platform. */
  readonly excluded: boolean;
  readonly mode: Mode;
}

/**
 * Returns the policy of the settings for one group. A glob may match the name or the id of the group. The first
 * matching policy counts. `exclude` has priority over `include`.
 */
export function policyFor(settings: PolicySettings, id: string, name: string | undefined): GroupTreatment {
  const { include, exclude, policies } = settings.groups;
  const matches = (glob: string) => matchesGlob(glob, id) || (name !== undefined && matchesGlob(glob, name));
  return {
    excluded: !include.some(matches) || exclude.some(matches),
    mode: policies.find(({ match }) => matches(match))?.mode ?? settings.mode,
  };
}

/** Returns a function that tells whether `groups.include` and `groups.exclude` select a group. */
export const selectionOf =
  (settings: PolicySettings) =>
  ({ id, name }: { readonly id: string; readonly name: string }): boolean =>
    !policyFor(settings, id, name).excluded;

export function mayCreate(settings: PolicySettings, id: string, name: string | undefined): boolean {
  const { excluded, mode } = policyFor(settings, id, name);
  return !excluded && mode !== 'report';
}
