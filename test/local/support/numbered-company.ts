import { seededRandom } from '../../../local/platform/seeded-random.ts';
import type { RawEvent } from '../../support/reading.ts';

/**
 * Returns a company of numbered people. `u7` on the platform and `m7` in the directory have the address `p7@acme.test`.
 */
export const companyOf = (people: number) => ({
  companies: [
    {
      id: 'acme',
      name: 'Acme',
      employees: Array.from({ length: people }, (_, n) => ({
        id: `r${n}`,
        userId: `u${n}`,
        name: `Nomen Nescio ${n}`,
        workEmail: emailOf(n),
      })),
    },
  ],
  credentials: [{ token: 'token-of-acme', kind: 'oauth_app', company: 'acme' }],
});

export const emailOf = (person: number) => `p${person}@acme.test`;
export const memberOf = (person: number) => ({ id: `m${person}`, email: emailOf(person) });

interface EventOptions {
  readonly seed: string;
  readonly groups: number;
  readonly people: number;
  readonly changes: number;
  readonly endMs: number;
}

/** Draws the events of a directory, in order, with snapshots in two parts and with equal times. */
export function drawEvents({ seed, groups, people, changes, endMs }: EventOptions): RawEvent[] {
  const random = seededRandom(seed);
  const events: RawEvent[] = [];
  const addEvent = (type: string, data: RawEvent['data']) => {
    const n = events.length;
    const time = new Date(endMs - (changes + groups - n + (n % 5 === 0 ? 1 : 0)) * 1_000).toISOString();
    const event = {
      specversion: '1.0',
      id: `${seed}-${n}`,
      source: 'story',
      type: `directory.${type}`,
      time,
    };
    events.push({ ...event, sequence: String(n), data });
  };
  const group = () => `${seed}-g${random.below(groups)}`;
  const some = (most: number) => [
    ...new Map(
      Array.from({ length: 1 + random.below(most) }, () => random.below(people)).map((n) => [n, memberOf(n)]),
    ).values(),
  ];
  for (let n = 0; n < groups; n += 1) {
    addEvent('group.upserted', { group: { id: `${seed}-g${n}`, name: `Group ${n}` } });
  }
  while (events.length < changes + groups) {
    const id = group();
    const choice = random.fraction();
    if (choice < 0.5) addEvent('group.member.added', { group: { id }, members: some(6) });
    else if (choice < 0.75) addEvent('group.member.removed', { group: { id }, members: some(3) });
    else if (choice < 0.82) addEvent('group.upserted', { group: { id, name: `Name ${events.length}` } });
    else if (choice < 0.85) addEvent('group.deleted', { group: { id } });
    else if (choice < 0.88) addEvent('user.deleted', { user: { id: `m${random.below(people)}` } });
    else if (choice < 0.94) addEvent('group.snapshot', { group: { id }, members: some(20) });
    else {
      const snapshotId = `s${events.length}`;
      for (const index of [0, 1]) {
        addEvent('group.snapshot', {
          group: { id },
          members: some(10),
          part: { snapshotId, index, count: 2 },
        });
      }
    }
  }
  return events;
}

/**
 * Returns the entries in random order, and a fifth twice, because a standard queue can deliver messages in this way.
 */
export function shuffledWithDuplicates<Entry>(entries: readonly Entry[], seed: string): Entry[] {
  const random = seededRandom(seed);
  const all = [...entries, ...entries.filter(() => random.chance(0.2))];
  for (let last = all.length - 1; last > 0; last -= 1) {
    const other = random.below(last + 1);
    [all[last], all[other]] = [all[other] as Entry, all[last] as Entry];
  }
  return all;
}
