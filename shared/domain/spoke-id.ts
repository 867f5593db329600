/**
 * The form in which external ids are compared: white space at the ends, Unicode form and case do not count, because a
 * platform may store them in another form.
 */
export const foldSpokeId = (spokeId: string): string => spokeId.normalize('NFC').trim().toLowerCase();
