import { originalName } from '../draw-returns.ts';
import type { Traits } from '../life.ts';
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

/** When an operator first connected this name; 0: it was there from the start. */
export const connectedAtMs = ({ operators }: Seen, name: string): number =>
  operators.deeds.find(({ kind, connection, done }) => done && kind === 'connect' && connection === name)
    ?.atMs ?? 0;
