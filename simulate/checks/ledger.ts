import type { ClientWrite, HeldGroup, PlatformWrite, SimulatedPlatform } from '../platform/platform.ts';

/** A change of a platform group. A change without an initiator was made by groupsync. */
type Entry = PlatformWrite & Partial<Pick<ClientWrite, 'initiator'>>;
export type Change = Entry & { readonly sizeBefore: number; readonly spokeIdBefore: string | null };

interface Past {
  /** The client that last added each user: `us` is groupsync, `them` is another client. */
  readonly addedBy: Map<string, 'us' | 'them'>;
  readonly changes: Change[];
  spokeId: string | null;
}

export type Ledger = ReturnType<typeof createLedger>;

export function createLedger({ writes, clientWrites, groups }: SimulatedPlatform) {
  const pasts = new Map<string, Past>();
  const known = { writes: 0, clientWrites: 0 };
  return {
    pasts: pasts as ReadonlyMap<string, Past>,
    catchUp(): readonly Change[] {
      const news: Entry[] = [...writes.slice(known.writes), ...clientWrites.slice(known.clientWrites)];
      Object.assign(known, { writes: writes.length, clientWrites: clientWrites.length });
      news.sort((a, b) => a.atMs - b.atMs);
      for (const id of [...groups.keys(), ...news.map((entry) => entry.id)]) {
        if (pasts.has(id)) continue;
        const ofGroup = news.filter((entry) => entry.id === id);
        pasts.set(id, pastOf(groups.get(id), ofGroup));
      }
      return news.map((entry) => take(entry, pasts.get(entry.id) as Past));
    },
  };
}

/** Returns the state of a group before its new changes. The changes are undone in reverse order. */
function pastOf(held: HeldGroup | undefined, news: readonly Entry[]): Past {
  const users = new Set(held?.users);
  for (const { action, added, removed } of news.toReversed()) {
    for (const user of added) users.delete(user);
    for (const user of removed) users.add(user);
    if (action === 'create') users.clear();
  }
  const addedBy = new Map([...users].map((user) => [user, 'them'] as const));
  return { addedBy, changes: [], spokeId: (news[0] ?? held)?.spokeId ?? null };
}

function take(entry: Entry, past: Past): Change {
  const change = { ...entry, sizeBefore: past.addedBy.size, spokeIdBefore: past.spokeId };
  past.changes.push(change);
  past.spokeId = entry.spokeId;
  for (const user of entry.removed) past.addedBy.delete(user);
  for (const user of entry.added) past.addedBy.set(user, asked(entry).includes(user) ? 'us' : 'them');
  return change;
}

const asked = ({ initiator, sent }: Entry) => (initiator === undefined ? (sent.users ?? []) : []);

/** Returns the users that a write requested and added. Users that the platform added by itself are left out. */
export const addedOnRequest = (change: Entry) => change.added.filter((user) => asked(change).includes(user));

/** Returns the users that a write requested to remove, and removed. */
export const removedOnRequest = ({ action, removed, sent }: Entry) =>
  removed.filter((user) => action === 'delete' || sent.users?.includes(user) === false);
