/**
 * Returns the normal form of an external id: Unicode NFC, lower case, no white space at the ends. Ids are compared in
 * this form, because a platform may store an id differently.
 */
export const foldSpokeId = (spokeId: string): string => spokeId.normalize('NFC').trim().toLowerCase();
