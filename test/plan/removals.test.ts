import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Hold, HoldDecision, RemovalSet } from '../../shared/domain/hold.ts';
import { type PlatformUserId, platformGroupId, platformUserId } from '../../shared/domain/ids.ts';
import type { Stamp } from '../../shared/domain/stamp.ts';
import { WHOLE_GROUP } from '../../shared/domain/view.ts';
import { withMode } from '../../shared/plan/marks.ts';
import { judgeRemovals, type RemovalsInput, withWaiting } from '../../shared/plan/removals.ts';

const users = (ids: string) => [...ids].map(platformUserId);
const EXPIRES_MS = 1_000;
const BY_ANN = { by: 'Ann', reason: 'a reorganisation', atMs: 0 };
const DECISIONS: Readonly<Record<HoldDecision['kind'], HoldDecision>> = {
  waiting: { kind: 'waiting' },
  approved: { kind: 'approved', ...BY_ANN },
  rejected: { kind: 'rejected', ...BY_ANN },
};
const KINDS = ['waiting', 'approved', 'rejected'] as const;

/** Returns a set of these users; null for a set that cannot be read. */
const setOf = (kind: HoldDecision['kind'], ids: string | null, over: Partial<Hold> = {}): RemovalSet => ({
  hold: {
    ...{ digest: kind, platformId: platformGroupId('p'), asOf: '5' as Stamp, rule: 'share', removes: 2 },
    ...{ keeps: 0, share: 1, createdAtMs: 0, dirtySinceMs: 0, expiresAtMs: EXPIRES_MS },
    ...{ decision: DECISIONS[kind], chunks: 1, hash: 'hash', ...over },
  },
  users: ids === null ? undefined : new Set(users(ids)),
});
const deletion = (kind: HoldDecision['kind'], ids: string) => setOf(kind, ids, { deletes: true });

interface Given extends Partial<Omit<RemovalsInput, 'wanted'>> {
  readonly removals?: string;
  readonly deletes?: boolean;
  readonly departs?: boolean;
  readonly wanted?: string | undefined;
}

function judge({ removals = '', deletes = false, departs = deletes, sets = [], wanted, ...over }: Given) {
  const judged = judgeRemovals({
    plan: { action: deletes ? 'delete' : 'patch', removals: users(removals), departs },
    sets,
    platformId: platformGroupId('p'),
    wanted: wanted === undefined && departs ? undefined : new Map(users(wanted ?? '').map((id) => [id, id])),
    namedAt: '0' as Stamp,
    wantedAt: new Map(),
    blocked: undefined,
    sent: [],
    leavers: new Set(),
    always: new Map(),
    isGuarded: true,
    nowMs: 0,
    ...over,
  });
  const text = (some: Iterable<string>) =>
    [...some]
      .map((one) => (one === WHOLE_GROUP ? '*' : one))
      .sort()
      .join('');
  const { approved, held, unjudged, joins, consumes, rule, open } = judged;
  return {
    ...{ approved: text(approved), held: text(held), unjudged: text(unjudged), joins: text(joins) },
    ...{ consumes, rule, open: open.map((one) => text(one.users ?? '?')) },
  };
}

const WAITS = setOf('waiting', 'ab');
const REJECTED = setOf('rejected', 'ab');
const APPROVED = setOf('approved', 'ab');

it.each<[string, Given, Partial<ReturnType<typeof judge>>]>([
  ['without an entry, the guard judges', { removals: 'a' }, { unjudged: 'a', joins: '', open: [] }],
  ['a waiting removal is held', { removals: 'a', sets: [WAITS] }, { held: 'a', joins: '', open: ['ab'] }],
  ['a new removal joins', { removals: 'ac', sets: [WAITS] }, { held: 'a', joins: 'c' }],
  ['it joins also if the plan lacks the waiting ones', { removals: 'c', sets: [WAITS] }, { joins: 'c' }],
  [
    'the end of a person does not join',
    { removals: 'acd', sets: [WAITS], leavers: new Set(users('d')) },
    { held: 'a', joins: 'c', unjudged: 'd' },
  ],
  [
    'the end of a person whose removal waits still waits, and is decided apart',
    { removals: 'a', sets: [WAITS], leavers: new Set(users('a')) },
    { joins: 'a', open: ['b'] },
  ],
  ...([REJECTED, APPROVED] as const).map((set): [string, Given, object] => [
    `a removal that is ${set.hold.decision.kind} does not cover a later end of the person`,
    { removals: 'ab', sets: [set], leavers: new Set(users('a')) },
    { unjudged: 'a', open: ['b'] },
  ]),
  [
    'a rejection of the end of a person covers this end',
    { removals: 'a', sets: [setOf('rejected', 'ab', { ofLeavers: true })], leavers: new Set(users('a')) },
    { held: 'a', open: ['ab'] },
  ],
  [
    'approved removals are permitted, and the guard judges the others',
    { removals: 'bc', sets: [APPROVED] },
    { approved: 'b', consumes: ['approved'], unjudged: 'c' },
  ],
  [
    'an approval permits nothing while its write is uncertain',
    { removals: 'bc', sets: [APPROVED], sent: ['approved'] },
    { approved: '', held: 'b', consumes: [], unjudged: 'c' },
  ],
  ['rejected removals are held', { removals: 'bc', sets: [REJECTED] }, { held: 'b', unjudged: 'c' }],
  [
    'a membership after the decision ends it, although it has ended too',
    { removals: 'ab', sets: [REJECTED], wantedAt: new Map([[platformUserId('a'), '6' as Stamp]]) },
    { unjudged: 'a', held: 'b', open: ['b'] },
  ],
  [
    'a membership before the decision does not end it',
    { removals: 'a', sets: [REJECTED], wantedAt: new Map([[platformUserId('a'), '5' as Stamp]]) },
    { held: 'a' },
  ],
  [
    'a set of another platform group ends',
    { removals: 'a', sets: [REJECTED], platformId: platformGroupId('q') },
    { unjudged: 'a', open: [] },
  ],
  [
    'a set of a platform group that is gone stays, because the group may come back',
    { sets: [REJECTED], platformId: undefined },
    { open: ['ab'] },
  ],
  [
    'with the guard off, a waiting removal still waits',
    { removals: 'ac', sets: [WAITS], isGuarded: false },
    { held: 'a', unjudged: 'c' },
  ],
  [
    'a removal that always waits is not judged by the guard',
    { removals: 'ac', always: new Map([[platformUserId('a'), 'adoption']]), isGuarded: false },
    { joins: 'ac', rule: 'adoption' },
  ],
  [
    'users that cannot be read may be any users',
    { removals: 'a', sets: [setOf('rejected', null)] },
    { joins: 'a', open: ['?'] },
  ],
  ['an unreadable approval is none', { removals: 'a', sets: [setOf('approved', null)] }, { unjudged: 'a' }],
  ['a deletion is judged by the guard', { removals: 'a', deletes: true }, { unjudged: '*' }],
  ['a deletion of an empty group is judged by the guard', { deletes: true }, { unjudged: '*' }],
  ...(['waiting', 'rejected'] as const).map((kind): [string, Given, object] => [
    `a deletion that is ${kind} is held`,
    { removals: 'a', deletes: true, sets: [deletion(kind, 'ab')] },
    { held: '*' },
  ]),
  [
    'an approved deletion is permitted',
    { removals: 'a', deletes: true, sets: [deletion('approved', 'ab')] },
    { approved: '*', consumes: ['approved'] },
  ],
  [
    'a member that was not shown makes an approved deletion wait again',
    { removals: 'ac', deletes: true, sets: [deletion('approved', 'ab')] },
    { joins: '*', consumes: [] },
  ],
  ...([WAITS, REJECTED] as const).map((set): [string, Given, object] => [
    `a deletion does not write a removal that is ${set.hold.decision.kind}`,
    { removals: 'ac', deletes: true, sets: [set] },
    { joins: '*' },
  ]),
  [
    'a change of the mode makes a deletion wait',
    { deletes: true, always: new Map([[WHOLE_GROUP, 'mode']]) },
    { joins: '*', rule: 'mode' },
  ],
  ...(['waiting', 'rejected'] as const).map((kind): [string, Given, object] => [
    `a deletion that is ${kind} also holds a release of the group, but not people who ended`,
    { removals: 'ab', departs: true, sets: [deletion(kind, 'ab')], leavers: new Set(users('b')) },
    { held: 'a', unjudged: 'b', open: ['ab'] },
  ]),
  [
    'an approved deletion permits a release of the group',
    { removals: 'ab', departs: true, sets: [deletion('approved', 'ab')] },
    { approved: 'ab', consumes: ['approved'] },
  ],
  [
    'before a release, a rejection does not keep a person who ended',
    { removals: 'ab', departs: true, sets: [REJECTED], leavers: new Set(users('b')) },
    { held: 'a', unjudged: 'b' },
  ],
  [
    'with the guard off, a deletion does not write a rejected removal',
    { removals: 'ac', deletes: true, sets: [REJECTED], isGuarded: false },
    { joins: '*' },
  ],
  [
    'a deletion ends if the directory has named the group again, although the group is deleted again',
    { removals: 'ab', deletes: true, sets: [deletion('approved', 'ab')], namedAt: '6' as Stamp },
    { unjudged: '*', open: [] },
  ],
  [
    'a block ends the entry of its person',
    { removals: 'b', sets: [REJECTED], blocked: new Set(users('a')) },
    { held: 'b', open: ['b'] },
  ],
  [
    'a deletion ends if the directory has the group again, and its members are judged alone',
    { removals: 'a', sets: [deletion('rejected', 'ab')] },
    { unjudged: 'a', open: [] },
  ],
])('judgeRemovals: %s', (_, given, expected) => {
  expect(judge(given)).toMatchObject(expected);
});

it.each(KINDS)('a removal whose set (%s) has expired waits again', (kind) => {
  const given = { removals: 'ac', sets: [setOf(kind, 'ab')] };
  for (const isGuarded of [true, false])
    expect(judge({ ...given, isGuarded, nowMs: EXPIRES_MS })).toMatchObject({
      joins: 'ac',
      approved: '',
      open: [],
    });
  expect(judge({ ...given, nowMs: EXPIRES_MS - 1 }).open).toEqual(['ab']);
});

it('waiting removals form one set, which keeps its first time and its four eyes', () => {
  const before = setOf('waiting', 'ab', { createdAtMs: 3, dirtySinceMs: 2, fourEyes: true });
  const more = {
    users: users('c'),
    approved: 1,
    size: 6,
    platformId: platformGroupId('p'),
  };
  const waiting = {
    ...more,
    isUnderFourEyes: false,
    share: undefined,
    rule: 'count',
    asOf: '9' as Stamp,
  } as const;
  const [set, other] = withWaiting(
    [before, REJECTED],
    [before, REJECTED],
    { ...waiting, dirtySinceMs: 8 },
    9,
  );
  expect([...(set?.users ?? [])].join('')).toBe('abc');
  expect(set?.hold).toMatchObject({
    removes: 3,
    keeps: 2,
    createdAtMs: 3,
    dirtySinceMs: 2,
    fourEyes: true,
    asOf: '9',
  });
  expect(other).toBe(REJECTED);
});

it('each removal has one result, and entries end only for a reason', () => {
  const some = fc.subarray([...'abcdef']).map((ids) => ids.join(''));
  const given = fc.record({
    removals: some,
    wanted: some,
    leavers: some,
    again: some,
    places: fc.array(fc.constantFrom('none', ...KINDS), { minLength: 6, maxLength: 6 }),
    nowMs: fc.constantFrom(0, EXPIRES_MS),
    isGuarded: fc.boolean(),
  });
  fc.assert(
    fc.property(given, ({ removals: all, wanted, leavers, again, places, nowMs, isGuarded }) => {
      const removals = [...all].filter((user) => !wanted.includes(user)).join('');
      const inSet = (kind: string) => [...'abcdef'].filter((_, at) => places[at] === kind).join('');
      const sets = KINDS.filter((kind) => inSet(kind) !== '').map((kind) => setOf(kind, inSet(kind)));
      const wantedAt = new Map(users(again).map((user) => [user, '6' as Stamp] as const));
      const leaving: ReadonlySet<PlatformUserId> = new Set(users(leavers));
      const judged = judge({ removals, wanted, sets, wantedAt, leavers: leaving, nowMs, isGuarded });
      const { approved, held, unjudged, joins, open } = judged;
      expect([...approved, ...held, ...unjudged, ...joins].sort()).toEqual([...removals]);
      const isEnded = (user: string) => [wanted, again, leavers].some((ids) => ids.includes(user));
      const stays = (user: string) => nowMs < EXPIRES_MS && !isEnded(user);
      const left = KINDS.map((kind) => [...inSet(kind)].filter(stays).join(''));
      expect(open).toEqual(left.filter((ids) => ids !== ''));
      const planned = (ids: string | undefined) => [...(ids ?? '')].filter((user) => removals.includes(user));
      expect([...approved]).toEqual(planned(left[1]));
      expect([...held]).toEqual([...planned(left[0]), ...planned(left[2])].sort());
      if (isGuarded && left[0] !== '') for (const user of unjudged) expect(leavers).toContain(user);
    }),
  );
});

it.each([
  ['report', 'additive', 'c', ['a']],
  ['report', 'authoritative', 'c', ['a', 'b']],
  ['additive', 'authoritative', 'c', ['b']],
  ['additive', 'authoritative', 'b', []],
  ['authoritative', 'additive', 'c', []],
  ['report', 'additive', null, ['a']],
  ['report', 'authoritative', null, ['a', 'b', WHOLE_GROUP]],
] as const)(
  'after the mode changes from %s to %s while the directory wants %s, the removals of %j wait',
  (from, to, wanted, waiting) => {
    const [a, b] = ['a', 'b'].map(platformUserId) as [PlatformUserId, PlatformUserId];
    const marks = new Map([
      [a, true],
      [b, false],
    ]);
    const view = { name: 'G', spokeId: 'g', users: marks, ...(from !== 'authoritative' && { mode: from }) };
    const ofDirectory = wanted === null ? undefined : new Map([[platformUserId(wanted), true]]);
    const after = withMode(view, to, ofDirectory);
    expect([...(after.waits ?? new Map()).keys()]).toEqual(waiting);
  },
);
