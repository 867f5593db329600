/**
 * Returns the normal form of an external id: Unicode NFC, lower case, no white space at the ends. Two external ids
 * count as equal if their normal forms are equal, because a platform may store an id in another form.
 */
export const foldSpokeId = (spokeId: string): string => spokeId.normalize('NFC').trim().toLowerCase();
