import type { SimulatedPlatform } from '../platform/platform.ts';
import { originalName } from '../simulation-run.ts';
import type { Seen } from '../world.ts';

export const hasReturned = (name: string): boolean => originalName(name) !== name;

/**
 * Returns whether this connection replaced a removed connection of the same company, and cannot find the earlier groups,
 * because the platform shows no external ids. A group with an unchanged name then waits (`name_clash`). A group with
 * another name is created a second time.
 */
export const mayNotFindEarlierGroups = (name: string, { traits }: Pick<SimulatedPlatform, 'traits'>) =>
  hasReturned(name) && !traits.echoSpokeId;

/** Returns the time of the first completed `connect` of this name; 0 if there was none. */
export const connectedAtMs = ({ operators }: Seen, name: string): number =>
  operators.actions.find(({ kind, connection, done }) => done && kind === 'connect' && connection === name)
    ?.atMs ?? 0;
