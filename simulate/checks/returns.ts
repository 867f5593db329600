import type { SimulatedPlatform } from '../platform/platform.ts';
import { originalName, type Traits } from '../simulation-run.ts';
import type { Seen } from '../world.ts';

export const hasReturned = (name: string): boolean => originalName(name) !== name;

interface MayAdopt {
  readonly name: string;
  readonly platform: { readonly traits: Pick<Traits, 'echoSpokeId'> };
}

/**
 * Returns whether this connection replaced a removed connection of the same company, and cannot find the earlier groups,
 * because the platform shows no external ids. A group with an unchanged name then waits (`name_clash`). A group with
 * another name is created a second time.
 */
export const mayNotFindEarlierGroups = ({ name, platform }: MayAdopt): boolean =>
  hasReturned(name) && !platform.traits.echoSpokeId;

/** Returns the time of the first completed `connect` of this name; 0 if there was none. */
export const connectedAtMs = ({ operators }: Seen, name: string): number =>
  operators.actions.find(({ kind, connection, done }) => done && kind === 'connect' && connection === name)
    ?.atMs ?? 0;

interface Creations {
  readonly name: string;
  readonly platform: Pick<SimulatedPlatform, 'calls'>;
  readonly one: { readonly atMs: number };
  readonly later: { readonly atMs: number };
}

/** The maximum age of the platform's list from which the engine decides to create a group. */
const LIST_AGE_MS = 65_000;

/**
 * Returns whether the new connection created a second group because the platform's list lacked the group of the removed
 * connection. The new connection can find that group only by the list.
 */
export function wasUnlisted(seen: Seen, { name, platform, one, later }: Creations): boolean {
  const sinceMs = connectedAtMs(seen, name);
  if (!hasReturned(name) || one.atMs >= sinceMs || later.atMs < sinceMs) return false;
  return platform.calls.some(
    ({ method, route, atMs, platformFaults }) =>
      method === 'GET' &&
      route === '/groups' &&
      platformFaults.some(
        (platformFault) => platformFault === 'list_cut' || platformFault === 'list_denies',
      ) &&
      atMs <= later.atMs &&
      later.atMs - atMs <= LIST_AGE_MS,
  );
}
