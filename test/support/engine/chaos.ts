import type { AwsFault } from '../../../simulate/engine.ts';
import type { Random } from '../../../simulate/random.ts';
import { CALL_FAULTS, type CallFault } from './platform.ts';
import type { Faults, World } from './world.ts';

interface ChaosOptions {
  readonly random: Random;
  readonly budget: number;
  readonly platform?: readonly CallFault[];
  readonly table?: readonly AwsFault[];
  /** Whether another client changes managed groups, and creates groups that resemble them. */
  readonly foreign?: boolean;
  /** The probability that a late write takes effect at the next effect of a worker. It is at most a minute late. */
  readonly lateness?: number;
}

export const ALL_CALL_FAULTS = Object.keys(CALL_FAULTS) as readonly CallFault[];
export const ALL_TABLE_FAULTS: readonly AwsFault[] = ['throttled', 'unheard', 'echo'];

/** Draws a limited number of faults and their times from the seed, so that each run ends without work. */
export class Chaos implements Faults {
  left: number;
  readonly #options: ChaosOptions;

  constructor(options: ChaosOptions) {
    this.#options = options;
    this.left = options.budget;
  }

  platform(call: string): CallFault {
    const { platform = [], random } = this.#options;
    // Each new worker checks its credential with `me`. Faults of this call would use up most of the budget.
    if (call === 'me') return 'none';
    // A late write takes effect. A late read has no effect, so it is not drawn.
    const possible = platform.filter((fault) => fault !== 'lost_late' || isWrite(call));
    return this.#draws(0.25, possible) ? random.pick(possible) : 'none';
  }

  table(): AwsFault {
    const { table = [], random } = this.#options;
    return this.#draws(0.02, table) ? random.pick(table) : 'none';
  }

  queue(): boolean {
    return !this.#draws(0.05, this.#options.table ?? []);
  }

  /** Called before each effect. Lets late writes take effect and other clients act. */
  meddle({ platform }: World): void {
    const { random, foreign = false, lateness = 0.1 } = this.#options;
    if (platform.lateCount > 0 && random.chance(lateness)) platform.doLate(random.below(8));
    if (!foreign || this.left <= 0 || !random.chance(0.02)) return;
    this.left -= 1;
    const groups = [...platform.groups.values()];
    if (groups.length === 0) return;
    const { id, users } = random.pick(groups);
    const changes = [
      { users: [...users, `stranger-${random.below(2)}`] },
      { users: users.slice(1) },
      { name: 'Renamed by another' },
    ];
    platform.changeAsOther(id, random.pick(changes));
    if (random.chance(0.1)) platform.deleteAsOther(id);
  }

  #draws(probability: number, possible: readonly unknown[]): boolean {
    if (this.left <= 0 || possible.length === 0 || !this.#options.random.chance(probability)) return false;
    this.left -= 1;
    return true;
  }
}

const isWrite = (call: string) => ['create', 'patch', 'put', 'delete'].includes(call);
