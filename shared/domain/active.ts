import type { Register } from './register.ts';

/**
 * The attribute of a user that is `false` while the account is disabled in the directory. The memberships of a disabled
 * user stay stored, and count again when the account is enabled. The deletion of a user ends the memberships. The name
 * contains a colon, so that no producer sets the attribute by accident.
 */
export const ACTIVE_ATTRIBUTE = 'scim:active';

export const isActive = (attributes: ReadonlyMap<string, Register<string>>): boolean =>
  attributes.get(ACTIVE_ATTRIBUTE)?.value !== 'false';
