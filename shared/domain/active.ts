import type { Register } from './register.ts';

/**
 * An attribute of a user with the value `false` while the directory has disabled the account. Memberships stay stored,
 * and count again when the account is enabled. A deletion, in contrast, ends the memberships. No producer of events can
 * set this attribute by accident, because no attribute of a match rule contains a colon.
 */
export const ACTIVE_ATTRIBUTE = 'scim:active';

export const isActive = (attributes: ReadonlyMap<string, Register<string>>): boolean =>
  attributes.get(ACTIVE_ATTRIBUTE)?.value !== 'false';
