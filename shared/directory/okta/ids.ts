import type { DirectoryWorld } from '../exchange.ts';

/** Returns a new identifier of an assertion or a proof. Okta accepts each identifier once. */
export type NewId = () => string;

/** Creates identifiers that are unique: within this process by a number, and between processes by a random part. */
export function createIds({ clock, random }: Pick<DirectoryWorld, 'clock' | 'random'>): NewId {
  let issued = 0;
  return () => {
    issued += 1;
    const chance = Array.from({ length: 4 }, () => Math.floor(random() * 2 ** 32).toString(36));
    return [clock(), issued, ...chance].join('-');
  };
}
