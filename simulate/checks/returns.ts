import { originalName } from '../draw-returns.ts';
import type { SimulatedPlatform } from '../platform/platform.ts';
import type { Traits } from '../simulation-run.ts';
import type { Seen } from '../world.ts';

export const hasReturned = (name: string): boolean => originalName(name) !== name;

interface MayAdopt {
  readonly name: string;
  readonly settings: { readonly adoptExisting: string };
  readonly platform: { readonly traits: Pick<Traits, 'echoSpokeId'> };
}

/**
 * A connection that returned under another name finds the groups of the removed one by external ids that are shown, and only
 * if it may adopt; by name only while they are called so. Else it makes others, and those of before stay (docs/cli.md).
 */
export const mayFindNoneOfBefore = ({ name, settings, platform }: MayAdopt): boolean =>
  hasReturned(name) && (settings.adoptExisting === 'never' || !platform.traits.echoSpokeId);

/** The time when an operator first connected this name; 0 if it existed from the start. */
export const connectedAtMs = ({ operators }: Seen, name: string): number =>
  operators.actions.find(({ kind, connection, done }) => done && kind === 'connect' && connection === name)
    ?.atMs ?? 0;

interface Creations {
  readonly name: string;
  readonly platform: Pick<SimulatedPlatform, 'calls'>;
  readonly one: { readonly atMs: number };
  readonly later: { readonly atMs: number };
}

/** The engine creates a group from a list of this age. */
const LIST_AGE_MS = 65_000;

/**
 * Whether the removed connection created the first group, and a list without it led the returned connection to create the
 * second one. Only the list shows the id of the first group to the returned connection.
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
