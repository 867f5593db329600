/**
 * Returns the form in which external ids are compared. The form ignores white space at the ends, Unicode form and case,
 * because a platform may store an id in another form.
 */
export const foldSpokeId = (spokeId: string): string => spokeId.normalize('NFC').trim().toLowerCase();
