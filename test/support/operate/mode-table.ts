import type { DirectoryEvent } from '../engine/test-engine.ts';

export type Mode = 'authoritative' | 'additive' | 'report';

/** A group `g` with the users u-a and u-b, in sync, in one mode. */
interface ModeStage {
  deliver(...events: readonly DirectoryEvent[]): Promise<unknown>;
  /** Changes the platform group as another client, and lets groupsync find the change. */
  other(change: { readonly users?: readonly string[]; readonly name?: string } | 'delete'): Promise<unknown>;
  /** Ends the employment of these people. All other people are employed. */
  people(...left: readonly string[]): Promise<unknown>;
  users(): unknown;
  name(): unknown;
  isLinked(): unknown;
  /** Returns the users of each platform group with this external id. */
  shown(group: string): unknown;
  /** Returns the records of changes by other clients. */
  drift(): Promise<readonly string[]>;
}

export const AB = ['u-a', 'u-b'];

/** Each line of the table of modes: what happens, what is read, and the result in each mode. */
export const MODE_TABLE: readonly (readonly [
  line: string,
  happens: (stage: ModeStage) => Promise<unknown>,
  results: Readonly<Record<Mode, unknown>>,
  reads?: (stage: ModeStage) => unknown,
])[] = [
  [
    'a new group of the directory',
    ({ deliver }) => deliver({ snapshot: 'new', of: ['c'] }),
    { authoritative: [['u-c']], additive: [['u-c']], report: [] },
    ({ shown }) => shown('new'),
  ],
  [
    'a new member',
    ({ deliver }) => deliver({ add: ['c'], to: 'g' }),
    { authoritative: [...AB, 'u-c'], additive: [...AB, 'u-c'], report: AB },
  ],
  [
    'a member that another client removed',
    ({ other }) => other({ users: ['u-a'] }),
    { authoritative: AB, additive: AB, report: ['u-a'] },
  ],
  [
    'a member that the directory removed',
    ({ deliver }) => deliver({ take: ['b'], from: 'g' }),
    { authoritative: ['u-a'], additive: ['u-a'], report: AB },
  ],
  ['a leaver', ({ people }) => people('b'), { authoritative: ['u-a'], additive: ['u-a'], report: AB }],
  [
    'a removed member that another client adds again',
    async ({ deliver, other }) => {
      await deliver({ take: ['b'], from: 'g' });
      await other({ users: AB });
    },
    { authoritative: ['u-a'], additive: ['u-a'], report: AB },
  ],
  [
    'a user that the directory never wanted',
    ({ other }) => other({ users: [...AB, 'u-x'] }),
    { authoritative: AB, additive: [...AB, 'u-x'], report: [...AB, 'u-x'] },
  ],
  [
    'a user that another client added, and that the directory then wanted for a while',
    async ({ deliver, other }) => {
      await other({ users: [...AB, 'u-c'] });
      await deliver({ add: ['c'], to: 'g' });
      await deliver({ take: ['c'], from: 'g' });
    },
    { authoritative: AB, additive: AB, report: [...AB, 'u-c'] },
  ],
  [
    'the records of changes by another client',
    ({ other }) => other({ users: [...AB, 'u-x'], name: 'Theirs' }),
    {
      authoritative: ['members_added restore', 'name restore'],
      additive: ['members_added adopt', 'name restore'],
      report: ['members_added report', 'name report'],
    },
    async ({ drift }) => (await drift()).toSorted(),
  ],
  [
    'a name that another client changed',
    ({ other }) => other({ name: 'Theirs' }),
    { authoritative: 'Group g', additive: 'Group g', report: 'Theirs' },
    ({ name }) => name(),
  ],
  [
    'a platform group that another client deleted',
    ({ other }) => other('delete'),
    { authoritative: [AB], additive: [AB], report: [] },
    ({ shown }) => shown('g'),
  ],
  [
    'a group that the directory deleted, with a user that the directory never wanted',
    async ({ deliver, other }) => {
      await other({ users: [...AB, 'u-x'] });
      await deliver({ remove: 'g' });
    },
    { authoritative: [undefined, false], additive: [['u-x'], false], report: [[...AB, 'u-x'], true] },
    async ({ users, isLinked }) => [await users(), await isLinked()],
  ],
];
