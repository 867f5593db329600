import { describe, expect, it } from 'vitest';
import {
  checkShown,
  type SentNotification,
  type Shown,
  type Truth,
  unreportedFindings,
} from '../../simulate/checks/shown.ts';
import type { StoredGroup } from '../../simulate/checks/stored.ts';
import type { Violation } from '../../simulate/run-log.ts';
import { HOUR_MS, START_MS } from '../../simulate/simulation-run.ts';
import type { Seen } from '../../simulate/world.ts';

/*
 * These tests compare two states of one connection: the state that an operator sees, and the stored state. One group is
 * held, one group has waited for two hours, and one member is pending.
 */

const NOW_MS = START_MS + 10 * HOUR_MS;
const hold = { digest: 'd1', createdAtMs: START_MS, decision: { kind: 'waiting' } };
const GROUPS: readonly (readonly [string, StoredGroup])[] = [
  ['held', { settled: 'held', removals: { sets: [hold] } }],
  ['dirty', { settled: 'in_sync', dirtySince: NOW_MS - 2 * HOUR_MS }],
  ['fine', { settled: 'in_sync' }],
];

const truth = (change: Partial<Truth> = {}): Truth => ({
  atMs: NOW_MS - 120_000,
  groups: new Map(GROUPS),
  pending: new Set(['fine m1 unknown']),
  deadLetters: new Set(['message-1']),
  visible: new Set(['message-1']),
  gate: 'open',
  gateSinceMs: undefined,
  ...change,
});

const FOUND = [
  { subject: 'hold', count: 1 },
  { subject: 'waiting', count: 1 },
  { subject: 'gate', count: 0 },
] as const;

const SHOWN: Shown = {
  atMs: NOW_MS,
  found: FOUND,
  holds: [{ group: 'held', digest: 'd1', decision: 'waiting' }],
  pending: ['fine m1 unknown'],
  groups: [
    { group: 'held', state: 'held' },
    { group: 'dirty', state: 'dirty' },
    { group: 'fine', state: 'in_sync' },
  ],
  deadLetters: ['message-1'],
};

interface Given {
  readonly shown?: Partial<Shown>;
  readonly samples?: readonly Truth[];
  /** The status with which the platform answered the daily check of the credential. */
  readonly checked?: number;
  /** Whether an operator connects the company again after the daily check. */
  readonly isConnectedAgain?: boolean;
  /** Whether the function crashes during the daily check. */
  readonly crashes?: boolean;
}

const CRASH = {
  atMs: NOW_MS - 2 * HOUR_MS - START_MS,
  action: { kind: 'crash', lambda: 'health', effect: 'put HEALTH', nth: 1 },
};

const CONNECTED_AGAIN = { kind: 'observe', connection: 'a', atMs: NOW_MS - HOUR_MS / 2, done: true };

function causesOf({
  shown,
  samples = [truth(), truth()],
  checked,
  isConnectedAgain,
  crashes,
}: Given): readonly string[] {
  const found: string[] = [];
  const call = { atMs: NOW_MS - HOUR_MS, by: 'health-1', route: '/me', status: checked, platformFaults: [] };
  const seen = {
    runLog: { violated: ({ cause }: Violation) => found.push(cause) },
    connections: new Map([['a', { name: 'a', company: 'acme' }]]),
    platforms: new Map([['acme', { calls: checked === undefined ? [] : [call] }]]),
    run: { happenings: crashes ? [CRASH] : [] },
    operators: { actions: isConnectedAgain ? [CONNECTED_AGAIN] : [] },
  } as unknown as Seen;
  checkShown(seen, { name: 'a', samples, shown: { ...SHOWN, ...shown } });
  return [...new Set(found)];
}

describe('check of answers to an operator', () => {
  it('an answer is correct if it equals the stored state', () => {
    expect(causesOf({})).toEqual([]);
    expect(causesOf({ checked: 200 })).toEqual([]);
    expect(causesOf({ checked: 401, isConnectedAgain: true })).toEqual([]);
    expect(causesOf({ checked: 401, crashes: true })).toEqual([]);
  });

  it.each<[string, Given, string]>([
    [
      'the list of holds has a hold that is not stored',
      { shown: { holds: [...SHOWN.holds, { group: 'fine', digest: 'd2', decision: 'waiting' }] } },
      'holds',
    ],
    ['the list of groups lacks a group', { shown: { groups: SHOWN.groups.slice(1) } }, 'groups'],
    [
      'a waiting group appears as in sync',
      { shown: { groups: SHOWN.groups.map((one) => ({ ...one, state: 'in_sync' })) } },
      'groups',
    ],
    [
      'a finding reports a group that does not wait',
      { shown: { found: [FOUND[0], { subject: 'waiting', count: 2 }] } },
      'levels',
    ],
    ['the list of dead-lettered messages lacks a message', { shown: { deadLetters: [] } }, 'dead_letters'],
    [
      'the gate appears as open although it is closed',
      { samples: [truth({ gate: 'backoff', gateSinceMs: 1 }), truth({ gate: 'backoff', gateSinceMs: 1 })] },
      'gate',
    ],
    ['no finding shows that the platform refused the credential', { checked: 401 }, 'credential'],
  ])('an answer is wrong if %s', (_, given, cause) => {
    expect(causesOf(given)).toEqual([cause]);
  });
});

describe('check of notifications', () => {
  const HOLD_BEGAN = ['hold', { isOver: false }] as const;

  it.each<[string, readonly (readonly ['hold' | 'gate', SentNotification])[], number]>([
    ['match if the beginning of the hold was notified', [HOLD_BEGAN], 0],
    ['do not match if no notification was sent', [], 1],
    ['do not match if the last notification says that the hold is over', [['hold', { isOver: true }]], 1],
    ['do not match if no opening of the gate was notified', [HOLD_BEGAN, ['gate', { isOver: false }]], 1],
  ])('notifications and findings %s', (_, notifications, wrong) => {
    expect(unreportedFindings([FOUND[0], FOUND[2]], new Map(notifications))).toHaveLength(wrong);
  });
});
