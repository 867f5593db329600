import { originalName } from '../draw-returns.ts';
import type { Seen } from '../world.ts';
import type { Sighted } from './sight.ts';

export const hasReturned = (name: string): boolean => originalName(name) !== name;

/**
 * A connection that returned under another name finds the groups of the removed one only by external ids that are shown, and
 * only if it may adopt. It makes others beside them, and those of before stay as they are (docs/cli.md).
 */
export const findsNoneOfBefore = ({
  name,
  settings,
  platform,
}: Pick<Sighted, 'name' | 'settings' | 'platform'>): boolean =>
  hasReturned(name) && (settings.adoptExisting === 'never' || !platform.traits.echoSpokeId);

/** When an operator first connected this name; 0: it was there from the start. */
export const connectedAtMs = ({ operators }: Seen, name: string): number =>
  operators.deeds.find(({ kind, connection, done }) => done && kind === 'connect' && connection === name)
    ?.atMs ?? 0;
