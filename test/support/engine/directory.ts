import fc from 'fast-check';
import type { IncomingMessage } from '../../../shared/sync/ingest/accept.ts';
import { type RawEvent, readDirectory } from '../reading.ts';
import { type PersonSpec, START_MS } from './world.ts';

const GROUPS = ['g1', 'g2'];
const MEMBERS = ['m1', 'm2', 'm3', 'm4', 'm5'];

/** The people of the company. The member m4 has no person, and the person of m5 is not an employee yet. */
export const PEOPLE: readonly PersonSpec[] = [
  { role: 'r1', email: 'm1@acme.test' },
  { role: 'r2', email: 'm2@acme.test' },
  { role: 'r3', email: 'm3@acme.test' },
  { role: 'r5', email: 'm5@acme.test', state: 'HIRED' },
];

const USER_OF: Readonly<Record<string, string>> = {
  'm1@acme.test': 'u-r1',
  'm2@acme.test': 'u-r2',
  'm3@acme.test': 'u-r3',
};

interface Move {
  readonly kind: number;
  readonly group: string;
  readonly members: readonly string[];
  readonly withEmail: boolean;
  readonly second: number;
  readonly index: number;
}

const move: fc.Arbitrary<Move> = fc.record({
  kind: fc.nat({ max: 13 }),
  group: fc.constantFrom(...GROUPS),
  members: fc.uniqueArray(fc.constantFrom(...MEMBERS), { minLength: 1, maxLength: 3 }),
  withEmail: fc.boolean(),
  /** The range is a few seconds, so that many events have equal times. */
  second: fc.nat({ max: 9 }),
  index: fc.nat({ max: 1 }),
});

/**
 * Draws streams of events about two groups and five members, with many equal times, deletions, parts and repetitions.
 */
export const directoryEvents = (most: number): fc.Arbitrary<readonly RawEvent[]> =>
  fc.array(move, { minLength: 1, maxLength: most }).map((moves) => moves.map(eventOf));

function eventOf({ kind, group, members, withEmail, second, index }: Move, position: number): RawEvent {
  const listed = members.map((id) => ({ id, ...(withEmail ? { email: `${id}@acme.test` } : {}) }));
  const [first = 'm1'] = members;
  const of = (type: string, data: RawEvent['data']): RawEvent => ({
    specversion: '1.0',
    id: `e${position}`,
    source: 'test',
    type: `directory.${type}`,
    time: new Date(START_MS - 60_000 + second * 1_000).toISOString(),
    data,
  });
  const name = `Group ${group} ${index}`;
  if (kind < 3) return of('group.upserted', { group: { id: group, name } });
  if (kind === 3) return of('group.deleted', { group: { id: group } });
  if (kind < 7) return of('group.member.added', { group: { id: group }, members: listed });
  if (kind < 9) return of('group.member.removed', { group: { id: group }, members: listed });
  // Half of the snapshots contain no name. If such a snapshot creates a deleted group again, the group has no name.
  const stated = { id: group, ...(index === 0 ? { name } : {}) };
  if (kind === 9) return of('group.snapshot', { group: stated, members: listed });
  if (kind === 10) {
    const part = { snapshotId: 's1', index, count: 2 };
    return of('group.snapshot', { group: { id: group, name }, members: listed, part });
  }
  if (kind === 11) return of('user.deleted', { user: { id: first } });
  return of('user.upserted', { user: { id: first, email: `${first}@acme.test` } });
}

/** Returns the final groups of the platform that the reference model expects. */
export function expectedGroups(
  events: readonly RawEvent[],
): ReadonlyMap<string, { readonly name: string; readonly users: readonly string[] }> {
  const { groups, emails } = readDirectory(events);
  const expected = new Map<string, { name: string; users: string[] }>();
  for (const [id, { name, members }] of groups) {
    if (name === undefined) continue;
    const users = [...members].flatMap((member) => USER_OF[emails.get(member) ?? ''] ?? []);
    expected.set(id, { name, users: users.sort() });
  }
  return expected;
}

export const messagesOf = (events: readonly RawEvent[]): readonly IncomingMessage[] =>
  events.map((event, position) => ({
    messageId: `${event.id}-${position}`,
    body: JSON.stringify(event),
    sentAtMs: START_MS,
  }));
