import { setTimeout as wait } from 'node:timers/promises';
import type { SeededRandom } from '../../../local/platform/seeded-random.ts';

interface Victim {
  readonly id: string;
  readonly users: readonly string[];
}

export interface Mischief {
  readonly random: SeededRandom;
  /** The simulator's test controls. */
  readonly control: (path: string, init?: RequestInit) => Promise<unknown>;
  /** Groups of the platform that somebody else may change now. */
  readonly victims: () => Promise<readonly Victim[]>;
  /** Ids of those that the engine knows as its own by now. */
  readonly linked: () => Promise<ReadonlySet<string>>;
}

const GROUPS = '/platform/api/groups*';
const STALE_STATUSES = [409, 412, 400, 422];
/** Long enough for somebody else to be faster than the PATCH that it holds up. */
const OVERTAKEN_MS = 300;
/** So many links are given up within an hour in any case; of more the engine would wait. */
const MAX_DELETIONS = 2;

/** How the next requests go wrong: what networks, proxies and platforms under load do. */
const FAULTS: readonly object[] = [
  ...['POST', 'PATCH', 'PUT', 'DELETE'].map((method) => ({
    match: { method, path: GROUPS },
    drop: 'after',
  })),
  { match: { method: 'PATCH', path: GROUPS }, drop: 'after', times: 2 },
  { match: { method: 'PATCH', path: GROUPS }, drop: 'before' },
  { match: { path: GROUPS }, drop: 'before' },
  { match: { path: GROUPS }, retryAfter: 1 },
  { match: { method: 'PATCH', path: GROUPS }, retryAfter: 1, times: 2 },
  { match: { path: GROUPS }, status: 503, times: 2 },
  { match: { method: 'PATCH', path: GROUPS }, status: 503, retryAfter: 1 },
  { match: { method: 'PATCH', path: GROUPS }, status: 504 },
  { match: { method: 'PATCH', path: GROUPS }, body: '<html>not an answer</html>' },
];

/** Things to break, each by a call of its own: one of each kind, in the order that the seed has, then any of them. */
export async function plotMischief(mischief: Mischief) {
  const { random } = mischief;
  await post(mischief, 'settings', {
    staleVersionStatus: random.pick(STALE_STATUSES),
    enforceVersionOnPatch: random.chance(0.75),
    requireVersion: random.chance(0.5),
  });
  const faults = FAULTS.map((fault) => () => post(mischief, 'faults', [fault]));
  let deletionsLeft = MAX_DELETIONS;
  const mayDelete = () => {
    deletionsLeft -= 1;
    return deletionsLeft >= 0;
  };
  const others = [() => meddle(mischief, mayDelete), () => overtake(mischief)];
  // Groups are created first, so their answers are lost first.
  const [loseCreation = overtake, ...rest] = faults;
  const plot = [loseCreation, ...shuffled([...rest, ...others, ...others], random)];
  return {
    act: async (): Promise<void> => {
      await (plot.shift() ?? random.pick([...faults, ...others, ...others]))(mischief);
    },
    end: () => post(mischief, 'faults', []),
  };
}

const post = ({ control }: Mischief, path: string, body: object): Promise<unknown> =>
  control(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

/** Somebody else is faster with every group: whatever version we know, or are about to send, is stale. */
async function overtake(mischief: Mischief): Promise<void> {
  const fault = { match: { method: 'PATCH', path: GROUPS }, delayMs: OVERTAKEN_MS };
  await post(mischief, 'faults', [fault]);
  await wait(OVERTAKEN_MS / 2);
  for (const { id, users } of await mischief.victims()) {
    await unlessGone(post(mischief, `groups/${id}`, { users: [...users, 'overtaker'] }));
  }
}

/** Somebody else's change of one group. */
async function meddle(mischief: Mischief, mayDelete: () => boolean): Promise<void> {
  const { random, control } = mischief;
  const groups = await mischief.victims();
  if (groups.length === 0) return;
  const { id, users } = random.pick(groups);
  const changes: readonly object[] = [
    { users: [...users, `stranger-${random.below(3)}`] },
    { users: users.slice(1) },
    { users: [...users].reverse() },
    { name: `Theirs ${random.below(9)}` },
    // Of a creation whose answer was lost nothing would be left to know it by.
    { name: 'Theirs', users: [], ...((await mischief.linked()).has(id) ? { spokeId: null } : {}) },
  ];
  const isDeletion = random.chance(0.15) && mayDelete();
  const path = `groups/${id}`;
  await unlessGone(
    isDeletion ? control(path, { method: 'DELETE' }) : post(mischief, path, random.pick(changes)),
  );
}

async function unlessGone(change: Promise<unknown>): Promise<void> {
  await change.catch((error: unknown) => {
    if (!String(error).includes('404')) throw error;
  });
}

function shuffled<Entry>(entries: readonly Entry[], random: SeededRandom): readonly Entry[] {
  const all = [...entries];
  for (let last = all.length - 1; last > 0; last -= 1) {
    const other = random.below(last + 1);
    [all[last], all[other]] = [all[other] as Entry, all[last] as Entry];
  }
  return all;
}
