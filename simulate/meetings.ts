import { DAY_MS } from './simulation-run.ts';

/** Two features meet if the second one takes effect on the same group at most this long after the first one. */
const WEEK_MS = 7 * DAY_MS;

/** A feature that took effect. Without a group, it took effect on every group of the connection. */
interface Touch {
  readonly atMs: number;
  readonly connection: string;
  readonly group?: string | undefined;
  readonly feature: string;
}

export interface Meetings {
  /** `FIRST > SECOND`: both took effect on one group, in this order. */
  readonly pairs: readonly string[];
  /** `STATE > SECOND > REMOVAL`: the same for a feature with state, another feature, and a removal. */
  readonly triples: readonly string[];
}

/** Which features have state (a decision, a move, a pause, an adoption, a change of mode), and which ones remove. */
interface Roles {
  readonly hasState: (feature: string) => boolean;
  readonly removes: (feature: string) => boolean;
}

type Times = Map<string, number>;

/** Records which features met on a group. Call `touch` in the order of time. */
export function createMeetings({ hasState, removes }: Roles) {
  const pairs = new Set<string>();
  const triples = new Set<string>();
  /** For each connection and group, the last time of each feature and of each pair that began with state. */
  const groups = new Map<string, { readonly last: Times; readonly open: Times }>();
  const everywhere = new Map<string, Times>();

  const at = (connection: string, group: string) => {
    const key = `${connection} ${group}`;
    const known = groups.get(key) ?? { last: new Map(everywhere.get(connection)), open: new Map() };
    groups.set(key, known);
    return known;
  };

  function meet({ last, open }: ReturnType<typeof at>, { feature, atMs }: Touch): void {
    if (removes(feature)) {
      for (const [pair, pairMs] of open) if (atMs - pairMs <= WEEK_MS) triples.add(`${pair} > ${feature}`);
    }
    for (const [first, firstMs] of last) {
      if (first === feature || atMs - firstMs > WEEK_MS) continue;
      const pair = `${first} > ${feature}`;
      pairs.add(pair);
      if (hasState(first)) open.set(pair, atMs);
    }
    last.set(feature, atMs);
  }

  return {
    touch(touch: Touch): void {
      const { connection, group, feature, atMs } = touch;
      if (group !== undefined) {
        meet(at(connection, group), touch);
        return;
      }
      const known = everywhere.get(connection) ?? new Map<string, number>();
      everywhere.set(connection, known.set(feature, atMs));
      for (const [key, of] of groups) if (key.startsWith(`${connection} `)) meet(of, touch);
    },
    meetings: (): Meetings => ({ pairs: [...pairs], triples: [...triples] }),
  };
}
