import type { DirectoryWorld } from '../exchange.ts';

/** Returns a new identifier of an assertion or a proof. Okta accepts each identifier once. */
export type NewId = () => string;

/** Creates unique identifiers. Each has the number of the call and a random part, which differs between processes. */
export function createIds({ clock, random }: Pick<DirectoryWorld, 'clock' | 'random'>): NewId {
  let issued = 0;
  return () => {
    issued += 1;
    const chance = Array.from({ length: 4 }, () => Math.floor(random() * 2 ** 32).toString(36));
    return [clock(), issued, ...chance].join('-');
  };
}
