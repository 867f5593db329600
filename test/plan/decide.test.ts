import { describe, expect, it } from 'vitest';
import { parseSettings } from '../../shared/contract/change-setting.ts';
import type { GroupState, Intent } from '../../shared/domain/group-state.ts';
import {
  connectionName,
  groupId,
  intentId,
  memberId,
  platformGroupId,
  platformUserId,
  versionToken,
} from '../../shared/domain/ids.ts';
import { makeStamp, STAMP_ZERO } from '../../shared/domain/stamp.ts';
import type { ObservedGroup, View } from '../../shared/domain/view.ts';
import { decide } from '../../shared/plan/decide.ts';
import type { Facts, Wanted } from '../../shared/plan/facts.ts';

const NOTHING_ELSE = { group: 0, connection: 0, underWay: 0 };
const NOW_MS = Date.parse('2026-11-22T10:00:00Z');
const MINUTE_MS = 60_000;
const stampAt = (minute: number) =>
  makeStamp({
    time: `2026-11-20T10:${String(minute).padStart(2, '0')}:00.000000000Z`,
    id: 'e',
    source: 's',
  } as never);
const user = platformUserId;

const settingsWith = (over: Record<string, unknown> = {}) =>
  parseSettings({ baseUrl: 'https://platform.test', ...over });
const state = (over: Partial<GroupState> = {}): GroupState => ({
  ref: { connection: connectionName('default'), group: groupId('g') },
  registers: {
    upserted: stampAt(1),
    deleted: STAMP_ZERO,
    snapshot: STAMP_ZERO,
    name: { value: 'Eng', stamp: stampAt(1) },
  },
  rev: 1,
  attempts: 0,
  calledMs: [],
  takeOver: false,
  openDrift: [],
  unattributed: [],
  released: false,
  paused: false,
  platformId: platformGroupId('p'),
  version: versionToken('v1'),
  view: { id: intentId('i0'), chunks: 1, hash: '', size: 1 },
  ...over,
});
const unlinked = ({ platformId: _, version: __, view: ___, ...rest }: GroupState): GroupState => rest;
const view = (users: string, over: Partial<View> = {}): View => ({
  name: 'Eng',
  spokeId: 'g',
  users: new Map([...users].map((one) => [user(one), true])),
  ...over,
});
const shown = (users: string, over: Partial<ObservedGroup> = {}): ObservedGroup => ({
  id: 'p',
  name: 'Eng',
  spokeId: 'g',
  users: [...users].map(user),
  version: versionToken('v1'),
  ...over,
});
const wanted = (users: string, over: Partial<Wanted> = {}): Wanted => ({
  state: 'present',
  group: { name: 'Eng', spokeId: 'g', users: new Map([...users].map((one) => [user(one), memberId(one)])) },
  count: users.length,
  pending: new Map(),
  whyNot: new Map(),
  standing: new Map([...users].map((one) => [user(one), [{ member: memberId(one), revision: 1 }]])),
  registers: [...users].map((one) => ({
    member: memberId(one),
    value: 'present' as const,
    stamp: stampAt(1),
  })),
  userFloors: new Map(),
  ...over,
});
const views = (base: View | undefined, over: Partial<NonNullable<Facts['views']>> = {}) => ({
  base,
  prepared: undefined,
  doubted: undefined,
  isUnreadable: false,
  ...over,
});
const intent: Intent = {
  id: intentId('i1'),
  action: 'patch',
  atMs: NOW_MS - MINUTE_MS,
  name: 'Eng',
  spokeId: 'g',
  platformId: platformGroupId('p'),
  versionBefore: versionToken('v1'),
};
const suspect = { version: versionToken('v2'), traces: [], atMs: NOW_MS };
const REMOVED = { id: 'e', initiator: 'ROLE', type: 'EXTERNAL_GROUP_REMOVE', at: null };
const base: Facts = {
  nowMs: NOW_MS,
  createSettleMs: 10 * MINUTE_MS,
  state: state(),
  settings: settingsWith(),
  wanted: wanted('a'),
  views: views(view('a')),
};
const facts = (over: Partial<Facts>): Facts => ({ ...base, ...over });
const listing = (...groups: readonly ObservedGroup[]) => ({ groups, ageMs: 0 });
const DEPARTED = { ...state().registers, upserted: STAMP_ZERO, deleted: stampAt(2) };
const EVERYBODY = 'abcdefgh';
const FORMER = {
  platformId: platformGroupId('p'),
  view: { id: intentId('i0'), chunks: 1, hash: '', size: 1 },
};
const LOST: GroupState = { ...unlinked(state()), former: { ...FORMER, isGone: true } };

const ABSENT = wanted('', { state: 'absent', group: undefined });
const DEPARTS = { state: state({ registers: DEPARTED }), wanted: ABSENT };
const UNLINKED = { state: unlinked(state()), views: views(undefined) };
const REPORT = settingsWith({ drift: 'report' });
const NEVER_ADOPTS = settingsWith({ adoptExisting: 'never' });
/** What is there since somebody else's change. */
const changed = (users: string, name = 'Eng') => shown(users, { version: versionToken('v2'), name });

describe('decide', () => {
  it.each<[string, Partial<Facts>, Record<string, unknown>]>([
    ['is in step: it is settled', {}, { kind: 'settle', as: 'in_sync', counts: { wanted: 1, applied: 1 } }],
    ['is not read yet: it is read', { wanted: undefined }, { kind: 'read', what: ['wanted', 'views'] }],
    [
      'lacks somebody: they are added',
      { wanted: wanted('ab') },
      { kind: 'write', plan: { action: 'patch' } },
    ],
    [
      'seemed gone and is wanted: it is asked for before another is made',
      { state: LOST, views: views(undefined), listed: listing() },
      { kind: 'adopt', candidates: [{ id: 'p' }] },
    ],
    [
      'is gone indeed: another is made',
      { state: LOST, views: views(undefined), listed: listing(), isNothingAdoptable: true },
      { kind: 'write', plan: { action: 'create' } },
    ],
    [
      'seemed gone and was deleted in the directory: it is asked for, to be deleted',
      { state: { ...LOST, registers: DEPARTED }, wanted: ABSENT, views: views(undefined) },
      { kind: 'adopt', candidates: [{ id: 'p' }] },
    ],
    [
      'was let go of: it is not taken back by itself',
      { state: { ...LOST, former: FORMER }, views: views(undefined), listed: listing() },
      { kind: 'write', plan: { action: 'create' } },
    ],
    ['was released: it is let go', { state: state({ released: true }) }, { kind: 'release' }],
    [
      'was released and let go: nothing',
      { state: unlinked(state({ released: true })) },
      { kind: 'settle', as: 'excluded' },
    ],
    [
      'is left out by the settings: nothing',
      { settings: settingsWith({ groups: { exclude: ['Eng'] } }) },
      { kind: 'settle', as: 'excluded' },
    ],
    [
      'has no name: nothing, and its drift stays open',
      { wanted: wanted('', { state: 'unnamed', group: undefined }) },
      { kind: 'settle', as: 'unnamed', ending: 'open' },
    ],
    ['is under suspicion: it is looked at', { state: state({ suspect }) }, { kind: 'look' }],
    [
      'is under suspicion, and as we left it: cleared',
      { state: state({ suspect }), look: shown('a') },
      { kind: 'clear' },
    ],
    [
      'was changed by somebody else: that is told, and taken as its view',
      { state: state({ suspect }), look: changed('ax') },
      { kind: 'absorb', differences: [{ kind: 'members_added' }] },
    ],
    [
      'cannot be read from our own view: it is looked at',
      { views: views(undefined, { isUnreadable: true }) },
      { kind: 'look' },
    ],
    ['would be deleted: it is looked at first', { ...DEPARTS }, { kind: 'look' }],
    [
      'is to be released when the directory deletes it: it is let go',
      { ...DEPARTS, settings: settingsWith({ onGroupDeleted: 'release' }) },
      { kind: 'release' },
    ],
    [
      'would lose somebody where strangers may stay: it is looked at first',
      { views: views(view('ab')), settings: settingsWith({ membership: 'additive' }) },
      { kind: 'look' },
    ],
    [
      'would lose somebody: the guard is asked',
      { views: views(view('ab')) },
      { kind: 'reserve', removals: 1, replaces: undefined },
    ],
    [
      'would lose more than the guard allows: a hold',
      {
        views: views(view(EVERYBODY)),
        reservation: { intent: intent.id, atMs: NOW_MS, removals: 7, recent: NOTHING_ELSE },
      },
      { kind: 'hold', rule: 'share', size: 8 },
    ],
    [
      'would lose more than that with another worker who may be about to do the same: one after the other',
      {
        views: views(view(EVERYBODY)),
        reservation: {
          ...{ intent: intent.id, atMs: NOW_MS, removals: 7 },
          recent: { group: 7, connection: 7, underWay: 7 },
        },
        settings: settingsWith({
          guard: { minSize: 1, maxRemovedShare: 0.9, maxRemovedCount: 9, perHourCount: 9 },
        }),
      },
      { kind: 'wait', yields: true },
    ],
    ['is to be made: the platform is asked whether it is there', { ...UNLINKED }, { kind: 'list' }],
    [
      'is there already: it is adopted',
      { ...UNLINKED, listed: listing(shown('x', { id: 'q' })) },
      { kind: 'adopt', candidates: [{ id: 'q' }] },
    ],
    [
      'is there already, and not to be adopted: made beside it',
      { ...UNLINKED, listed: listing(shown('x', { id: 'q' })), settings: NEVER_ADOPTS },
      { kind: 'write', plan: { action: 'create' }, known: ['q'] },
    ],
    [
      'was let go of and is to be made again, while a wrong route shows no group: what it had is not what is made',
      { state: { ...unlinked(state()), former: FORMER }, views: views(undefined), listed: listing() },
      { kind: 'write', plan: { action: 'create' }, known: ['p'] },
    ],
    [
      'is what an earlier creation made after all: it is ours, whatever the settings say of strangers',
      {
        state: unlinked(state({ doubt: { intent: { ...intent, action: 'create' }, untilMs: NOW_MS + 1 } })),
        views: views(undefined, { doubted: view('a') }),
        listed: listing(shown('a', { id: 'q' })),
        settings: NEVER_ADOPTS,
      },
      { kind: 'adopt', candidates: [{ id: 'q' }] },
    ],
    ['was refused: a person is told', { rejected: { owed: undefined }, look: shown('a') }, { kind: 'fail' }],
    [
      'was refused, and is gone: that is looked into',
      { rejected: { owed: undefined }, look: 'gone' },
      { kind: 'miss' },
    ],
  ])('a group that %s', (_, over, expected) => {
    expect(decide(facts(over))).toMatchObject(expected);
  });

  const opened = (over: Partial<Intent> = {}) => ({ state: state({ intent: { ...intent, ...over } }) });
  const made = { views: views(view('a'), { prepared: view('ab') }) };
  it.each<[string, Partial<Facts>, Record<string, unknown>]>([
    ['is not known: a look', opened(), { kind: 'look' }],
    ['shows: it happened', { ...opened(), ...made, look: changed('ab') }, { kind: 'confirm' }],
    [
      'does not show: it is dropped, and its removals stay owed',
      { ...opened(), ...made, look: shown('a') },
      { kind: 'drop' },
    ],
    [
      'shows beside what somebody else did: only that is theirs',
      { ...opened(), ...made, look: changed('abx') },
      { kind: 'absorb', differences: [{ kind: 'members_added', after: ['x'] }] },
    ],
    [
      'was refused, but for what somebody else did: also what it would have added is theirs',
      { ...opened(), ...made, look: changed('abx'), rejected: { owed: undefined } },
      { kind: 'absorb', differences: [{ kind: 'members_added', after: ['b', 'x'] }] },
    ],
    [
      'was a deletion, and it is gone: done',
      { ...opened({ action: 'delete' }), look: 'gone' },
      { kind: 'confirm_gone' },
    ],
    [
      'was a deletion, and it is there: dropped',
      { ...opened({ action: 'delete' }), look: shown('a') },
      { kind: 'drop' },
    ],
    [
      'was a creation, not to be seen yet: waits',
      { ...opened({ action: 'create' }), look: 'gone' },
      { kind: 'wait', noting: { misses: 1 } },
    ],
    [
      'was a creation, looked for three times in vain: dropped',
      { ...opened({ action: 'create', misses: 2, atMs: NOW_MS - 11 * MINUTE_MS }), look: 'gone' },
      { kind: 'drop' },
    ],
  ])('a write whose outcome %s', (_, over, expected) => {
    expect(decide(facts(over))).toMatchObject(expected);
  });

  const told = { ...suspect, traces: [REMOVED] };
  const missed = (minutes: number) => state({ suspect, missedAtMs: NOW_MS - minutes * MINUTE_MS });
  it.each<[string, Partial<Facts>, Record<string, unknown>]>([
    [
      'just made: waits',
      { state: state({ suspect, createdAtMs: NOW_MS - 1 }) },
      { kind: 'wait', why: { code: 'waiting' } },
    ],
    ['for the first time: noted', { state: state({ suspect }) }, { kind: 'miss', waitMs: MINUTE_MS }],
    ['again within the minute: waits', { state: missed(0.5) }, { kind: 'wait', waitMs: MINUTE_MS / 2 }],
    ['later: the list is asked', { state: missed(2) }, { kind: 'list' }],
    [
      'and is listed: waits, ever longer',
      { state: missed(2), listed: listing(shown('a')) },
      { kind: 'wait', waitMs: undefined },
    ],
    [
      'and is not listed: unlinked',
      { state: missed(2), listed: listing() },
      { kind: 'unlink', difference: { kind: 'deleted' } },
    ],
    [
      'where deletions are let stand, and nothing at all is listed: waits, as that may be a wrong route',
      { state: missed(2), listed: listing(), settings: REPORT },
      { kind: 'wait', waitMs: undefined, why: { code: 'missing' } },
    ],
    [
      'where deletions are let stand, and the feed tells of one: unlinked',
      { state: { ...missed(2), suspect: told }, listed: listing(), settings: REPORT },
      { kind: 'unlink', waiver: { policy: 'report' } },
    ],
    [
      'the directory deleted it, and the feed tells of a deletion: unlinked',
      { state: { ...missed(2), registers: DEPARTED, suspect: told }, listed: listing() },
      { kind: 'unlink' },
    ],
    [
      'where deletions are let stand, and others are listed: unlinked',
      {
        state: missed(2),
        listed: listing(shown('a', { id: 'q', spokeId: 'x' })),
        settings: settingsWith({ drift: 'adopt' }),
      },
      { kind: 'unlink', waiver: { policy: 'adopt' } },
    ],
    [
      'and another carries our spokeId: made again',
      { state: missed(2), listed: listing(shown('a', { id: 'q' })) },
      { kind: 'unlink', difference: { kind: 'recreated', after: 'q' } },
    ],
  ])('a group that answers 404 %s', (_, over, expected) => {
    expect(decide(facts({ ...over, look: 'gone' }))).toMatchObject(expected);
  });

  it('does not take its own late write for somebody else’s, be it an addition, a removal or a name', () => {
    const doubt = { intent, untilMs: NOW_MS + 1 };
    const late = { state: state({ suspect, doubt }), settings: settingsWith({ drift: 'adopt' }) };
    for (const which of [{ doubted: view('ab') }, { doubted: view('a'), earlier: [view('ab')] }]) {
      const added = { views: views(view('a'), which), look: changed('ab') };
      expect(decide(facts({ ...late, ...added }))).toMatchObject({
        kind: 'absorb',
        differences: [],
        view: { users: view('ab').users },
      });
    }
    const removed = facts({ ...late, views: views(view('ab'), { doubted: view('a') }), look: changed('a') });
    expect(decide(removed)).toMatchObject({ kind: 'absorb', differences: [] });
    // A platform that tidies names has shown nobody yet what it makes of this one.
    const doubted = view('a', { name: 'Eng  x' });
    const renamed = facts({ ...late, views: views(view('a'), { doubted }), look: changed('a', 'Eng x') });
    expect(decide(renamed)).toMatchObject({ differences: [], view: { name: 'Eng x', alias: 'Eng  x' } });
  });

  it('takes whoever has a register for ours where strangers may stay and our view is lost', () => {
    const lost = facts({
      settings: settingsWith({ membership: 'additive' }),
      views: views(undefined, { isUnreadable: true }),
      look: shown('alx'),
      departed: new Map([[user('l'), stampAt(2)]]),
    });
    expect(decide(lost)).toMatchObject({
      kind: 'absorb',
      view: {
        users: new Map([
          [user('a'), true],
          [user('l'), true],
          [user('x'), false],
        ]),
      },
    });
  });

  describe('a group that somebody else changes again and again', () => {
    const contest = { sinceMs: NOW_MS - 10 * MINUTE_MS, count: 3, seen: stampAt(1) };
    it.each<[string, Partial<Facts>, string]>([
      ['waits for the rest of the hour', { state: state({ contest, suspect }) }, 'wait'],
      [
        'looks after the hour',
        { state: state({ contest, suspect }), nowMs: NOW_MS + 51 * MINUTE_MS },
        'look',
      ],
      [
        'looks when a person asks',
        { state: state({ contest, suspect: { ...suspect, version: null } }) },
        'look',
      ],
      [
        'looks at once on news',
        { state: state({ contest: { ...contest, seen: STAMP_ZERO }, suspect }) },
        'look',
      ],
      ['looks while it is seldom', { state: state({ contest: { ...contest, count: 2 }, suspect }) }, 'look'],
      [
        'is looked at when somebody of ours is to leave it',
        { state: state({ contest, suspect }), views: views(view('ab')) },
        'look',
      ],
      [
        'waits with whom somebody else put in',
        {
          state: state({ contest, suspect }),
          views: views({ ...view('a'), users: new Map([...view('a').users, [user('x'), false]]) }),
        },
        'wait',
      ],
    ])('%s', (_, over, kind) => {
      expect(decide(facts(over)).kind).toBe(kind);
    });

    it('is counted: twice at once, then once an hour, and forgiven after two or where a person asks', () => {
      const look = changed('ax');
      const contestAfter = (over: Partial<GroupState>, nowMs = NOW_MS, more: Partial<Facts> = {}) => {
        const decision = decide(facts({ state: state({ suspect, ...over }), look, nowMs, ...more }));
        return decision.kind === 'absorb' ? decision.contest : undefined;
      };
      expect(contestAfter({})).toMatchObject({ count: 1 });
      const second = { contest: { ...contest, count: 2 } };
      expect(contestAfter(second)).toEqual({ ...contest, count: 3 });
      // A newcomer whom nothing that we wrote had waits for no hour.
      const unwritten = { views: views(view('')), look: changed('x') };
      expect(contestAfter(second, NOW_MS, unwritten)).not.toHaveProperty('seen');
      const overMs = NOW_MS + 60 * MINUTE_MS;
      expect(contestAfter({ contest }, overMs)).toBe(contest);
      expect(contestAfter({ contest, lastWriteAtMs: overMs }, overMs)).toMatchObject({ sinceMs: overMs });
      expect(contestAfter({ contest }, NOW_MS + 120 * MINUTE_MS)).toMatchObject({ count: 1 });
      expect(contestAfter({ contest, suspect: { ...suspect, version: null } })).toMatchObject({ count: 1 });
    });
  });
});
