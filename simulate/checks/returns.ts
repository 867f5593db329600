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
 * Returns whether a connection that returned under another name may fail to find the groups of the removed connection.
 * This happens if the connection may not adopt, or if the platform hides external ids and a name has changed. The
 * connection then creates new groups, and the earlier groups stay (docs/cli.md).
 */
export const mayFindNoneOfBefore = ({ name, settings, platform }: MayAdopt): boolean =>
  hasReturned(name) && (settings.adoptExisting === 'never' || !platform.traits.echoSpokeId);

/** Returns the time when an operator first connected this name; 0 if the connection existed from the start. */
export const connectedAtMs = ({ operators }: Seen, name: string): number =>
  operators.actions.find(({ kind, connection, done }) => done && kind === 'connect' && connection === name)
    ?.atMs ?? 0;

interface Creations {
  readonly name: string;
  readonly platform: Pick<SimulatedPlatform, 'calls'>;
  readonly one: { readonly atMs: number };
  readonly later: { readonly atMs: number };
}

/** The engine creates a group only from a list that is at most this old. */
const LIST_AGE_MS = 65_000;

/**
 * Returns whether the returned connection created the group a second time because a list did not show the group of the
 * removed connection. The returned connection can find that group only by the list.
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
