import type { PlatformAction, PlatformFault } from '../simulation-run.ts';
import type { PlatformOptions } from './facts.ts';

interface Lasting {
  readonly action: PlatformAction;
  readonly sinceMs: number;
  readonly untilMs: number;
  /** For a fault with a share, whether the fault affects each id. The choice stays the same while the fault lasts. */
  readonly chosen: Map<string, boolean>;
}

export type PlatformFaults = ReturnType<typeof createPlatformFaults>;

/** Creates the set of active platform faults. `fire` records that a fault took effect; platform.ts logs it with its group. */
export function createPlatformFaults({ clock, random: ofPlatform }: PlatformOptions) {
  const random = ofPlatform.fork('tempers');
  let lasting: readonly Lasting[] = [];
  let struck: string[] = [];

  const find = (platformFault: PlatformFault): Lasting | undefined =>
    lasting.length === 0
      ? undefined
      : lasting.find(({ action, untilMs }) => action.platformFault === platformFault && clock() < untilMs);
  const chance = ({ share = 1 }: PlatformAction) => share >= 1 || random.chance(share);
  const shows = (platformFault: PlatformFault): boolean => {
    const found = find(platformFault);
    return found !== undefined && chance(found.action);
  };
  const fire = (platformFault: PlatformFault): true => {
    struck.push(platformFault);
    return true;
  };

  return {
    find,
    shows,
    fire,
    strikes: (platformFault: PlatformFault): boolean => shows(platformFault) && fire(platformFault),
    begin(action: PlatformAction) {
      const sinceMs = clock();
      const still = lasting.filter(({ untilMs }) => sinceMs < untilMs);
      lasting = [...still, { action, sinceMs, untilMs: sinceMs + action.forMs, chosen: new Map() }];
    },
    calm() {
      lasting = [];
    },
    /** Returns whether the fault affects any of these ids. Without a list of ids, it affects a share of all. */
    isAbout(platformFault: PlatformFault, ...ids: readonly (string | null | undefined)[]): boolean {
      const found = find(platformFault);
      if (found === undefined) return false;
      const { action, chosen } = found;
      const { about = [] } = action;
      if (about.length > 0) return about.some((one) => ids.includes(one)) && chance(action);
      const key = ids.find((id) => typeof id === 'string') ?? '';
      const isChosen = chosen.get(key) ?? chance(action);
      chosen.set(key, isChosen);
      return isChosen;
    },
    taken(): readonly string[] {
      const taken = struck;
      if (taken.length > 0) struck = [];
      return taken;
    },
  };
}
