import type { Register } from './register.ts';

/**
 * The attribute of a user that is `false` while the account is disabled in the directory. The memberships of a disabled
 * user stay stored, and count again when the account is enabled. The deletion of a user, in contrast, ends the
 * memberships. Producers of events do not set this attribute by accident, because its name contains a colon, and no
 * attribute of a match rule does.
 */
export const ACTIVE_ATTRIBUTE = 'scim:active';

export const isActive = (attributes: ReadonlyMap<string, Register<string>>): boolean =>
  attributes.get(ACTIVE_ATTRIBUTE)?.value !== 'false';
