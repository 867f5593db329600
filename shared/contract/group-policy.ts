import { matchesGlob } from './glob.ts';
import type { ConnectionSettings, DriftPolicy } from './settings.ts';

export interface GroupTreatment {
  /** Whether groupsync stores the group but never writes it to the platform. */
  readonly excluded: boolean;
  readonly mode: ConnectionSettings['groups']['policies'][number]['mode'];
  readonly drift: DriftPolicy;
}

/**
 * Returns the policy of the settings for one group. A glob may match the name or the id of the group. The first
 * matching policy counts. `exclude` has priority over `include`.
 */
export function policyFor(
  settings: Pick<ConnectionSettings, 'groups' | 'drift'>,
  id: string,
  name: string | undefined,
): GroupTreatment {
  const { include, exclude, policies } = settings.groups;
  const matches = (glob: string) => matchesGlob(glob, id) || (name !== undefined && matchesGlob(glob, name));
  const policy = policies.find(({ match }) => matches(match));
  return {
    excluded: !include.some(matches) || exclude.some(matches),
    mode: policy?.mode ?? 'sync',
    drift: policy?.drift ?? settings.drift,
  };
}

/** Returns a function that tells whether `groups.include` and `groups.exclude` select a group. */
export const selectionOf =
  (settings: Pick<ConnectionSettings, 'groups' | 'drift'>) =>
  ({ id, name }: { readonly id: string; readonly name: string }): boolean =>
    !policyFor(settings, id, name).excluded;

/** Whether the settings allow groupsync to create the group on the platform. */
export function mayCreate(
  settings: Pick<ConnectionSettings, 'groups' | 'drift'>,
  id: string,
  name: string | undefined,
): boolean {
  const { excluded, mode } = policyFor(settings, id, name);
  return !excluded && mode !== 'report';
}
