/** Mutants that no test can notice, each with the reason: they say the same in other words. */
export const SURVIVORS: ReadonlyMap<string, string> = new Map([]);
