import type { Register } from './register.ts';

/**
 * Attribute of a user that says `false` while the directory has the account switched off. Memberships stay on record
 * and count again when it is switched on; a deletion, in contrast, ends them. No producer of events can name it by
 * accident: a colon is in no attribute that match rules know.
 */
export const ACTIVE_ATTRIBUTE = 'scim:active';

export const isActive = (attributes: ReadonlyMap<string, Register<string>>): boolean =>
  attributes.get(ACTIVE_ATTRIBUTE)?.value !== 'false';
