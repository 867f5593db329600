import { describe, expect, it } from 'vitest';
import { parseSettings } from '../../shared/contract/change-setting.ts';
import type { FlapDamping, GroupState, Intent, SuspectedChange } from '../../shared/domain/group-state.ts';
import type { Hold } from '../../shared/domain/hold.ts';
import {
  connectionName,
  groupId,
  intentId,
  memberId,
  type PlatformGroupId,
  platformGroupId,
  platformUserId,
  versionToken,
} from '../../shared/domain/ids.ts';
import { makeStamp, STAMP_ZERO } from '../../shared/domain/stamp.ts';
import type { ObservedGroup, View } from '../../shared/domain/view.ts';
import { decide } from '../../shared/plan/decide/index.ts';
import { READ_GROUP, readList } from '../../shared/plan/decision.ts';
import type { Facts, Wanted } from '../../shared/plan/facts.ts';
import { NOTHING_SENT } from '../../shared/plan/uncertain.ts';

const NOW_MS = Date.parse('2026-11-22T10:00:00Z');
const MINUTE_MS = 60_000;
/** The platform's group is as groupsync left it. */
const UNCHANGED = { kind: 'observe', observed: { id: expect.any(String) }, flapDamping: undefined };
const HOUR_MS = 60 * MINUTE_MS;
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
  ...{ rev: 1, attempts: 0, calledMs: [], takeOver: false, openDrift: [], unattributed: [] },
  ...{ released: false, paused: false, platformId: platformGroupId('p'), version: versionToken('v1') },
  view: { id: intentId('i0'), size: 1 },
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
  uncertain: undefined,
  created: undefined,
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
const suspectedChange = { version: versionToken('v2'), traces: [], atMs: NOW_MS };
const REMOVED = { id: 'e', initiator: 'ROLE', type: 'EXTERNAL_GROUP_REMOVE', at: null };
const base: Facts = {
  nowMs: NOW_MS,
  createSettleMs: 10 * MINUTE_MS,
  state: state(),
  settings: settingsWith(),
  wanted: wanted('a'),
  views: views(view('a')),
  shown: { ...shown(''), atMs: NOW_MS },
};
const UNREAD = { shown: undefined };
const facts = (over: Partial<Facts>): Facts => ({ ...base, ...over });
const listing = (...groups: readonly ObservedGroup[]) => ({ groups, ageMs: 0 });
const DEPARTED = { ...state().registers, upserted: STAMP_ZERO, deleted: stampAt(2) };
const EVERYBODY = 'abcdefgh';
const FORMER = {
  platformId: platformGroupId('p'),
  view: { id: intentId('i0'), size: 1 },
};
const LET_GO: GroupState = { ...unlinked(state()), previousLink: FORMER };
const LOST: GroupState = { ...LET_GO, previousLink: { ...FORMER, isGone: true } };
const LISTED_AGAIN: GroupState = { ...LET_GO, previousLink: { ...FORMER, isGone: true, isListed: true } };

const ABSENT = wanted('', { state: 'absent', group: undefined });
const DEPARTS = { state: state({ registers: DEPARTED }), wanted: ABSENT };
const NO_BASE = { views: views(undefined) };
const UNLINKED = { state: unlinked(state()), ...NO_BASE };
const NOT_FOUND_P = { passedOver: new Map([['p', 'not_found' as const]]) };
const NOT_FOUND_Q = { passedOver: new Map([['q', 'not_found' as const]]) };
const OTHER_CONNECTION = { connection: connectionName('other'), group: groupId('g') };
const OWNED_Q = { passedOver: new Map([['q', OTHER_CONNECTION]]) };
const REPORT = settingsWith({ drift: 'report' });
const RELEASE = { kind: 'release' };
const MISSED = { kind: 'wait', noting: 'missing' };
const PATCH = { kind: 'write', plan: { action: 'patch' } };
const CREATE = { kind: 'write', plan: { action: 'create' } };
const ADOPT_P = { kind: 'adopt', candidate: { id: 'p' } };
const EXCLUDED = { kind: 'settle', as: 'excluded', counts: { wanted: 0, applied: 0, pending: 0 } };
const ADOPT_Q = { kind: 'adopt', candidate: { id: 'q' } };
const NEVER_ADOPTS = settingsWith({ adoptExisting: 'never' });
const WATCHED = settingsWith({ groups: { policies: [{ match: '*', mode: 'report' }] } });
const SUSPECTED = { state: state({ suspectedChange }) };
const NONE = { listed: listing() };
const Q = { listed: listing(shown('a', { id: 'q' })) };
const uncertainly = (over: Partial<Intent>, untilMs = NOW_MS + 1) => {
  const write = { ...intent, ...over };
  const which = write.action === 'delete' ? { deletion: write } : { write };
  return { uncertain: { ...which, sent: { ...NOTHING_SENT, name: [write.name] }, untilMs } };
};
/** With this many removals of eight members, while other removals are in flight. */
const leaving = (removals: number, concurrent = 0) => ({
  views: views(view(EVERYBODY)),
  reservation: {
    intent: intent.id,
    atMs: 0,
    removals,
    size: EVERYBODY.length,
    recent: { group: concurrent, connection: concurrent, largestSize: EVERYBODY.length, concurrent },
  },
});
/** The group after the change of another client. */
const changed = (users: string, name = 'Eng') => shown(users, { version: versionToken('v2'), name });

const unechoed = { ...changed('ab'), spokeId: null };
const accepted = (policy: 'report' | 'adopt') => ({
  settings: settingsWith({ drift: policy }),
  views: views({
    ...view('ax'),
    acceptedDrift: {
      policy,
      seen: stampAt(1),
      present: new Set([user('x')]),
      absent: new Set(),
      name: false,
      spokeId: false,
    },
  }),
});

describe('decide', () => {
  it.each<[string, Partial<Facts>, object]>([
    ['is in sync: it is settled', {}, { kind: 'settle', as: 'in_sync', counts: { wanted: 1, applied: 1 } }],
    ['is not read yet: it is read', { wanted: undefined }, { kind: 'read', what: ['wanted', 'views'] }],
    ['lacks a member: added', { wanted: wanted('ab') }, { ...PATCH, isReserved: false }],
    [
      'may lack a member',
      { wanted: { ...wanted('ab'), group: wanted('a').group } },
      { counts: { wanted: 2, applied: 1 } },
    ],
    ['seemed gone and is wanted: asked for first', { ...NO_BASE, ...NONE, state: LOST }, ADOPT_P],
    ['is gone indeed: made', { ...NO_BASE, ...NONE, ...NOT_FOUND_P, state: LOST }, CREATE],
    [
      'was deleted, and departs',
      { ...NO_BASE, wanted: ABSENT, state: { ...LOST, registers: DEPARTED } },
      { as: 'deleted' },
    ],
    [
      'was deleted and is listed again: it is linked again',
      { ...NO_BASE, wanted: ABSENT, state: { ...LISTED_AGAIN, registers: DEPARTED } },
      ADOPT_P,
    ],
    [
      'was deleted and is listed again, but answers 404: the list is asked',
      { ...NO_BASE, ...NOT_FOUND_P, wanted: ABSENT, state: { ...LISTED_AGAIN, registers: DEPARTED } },
      { kind: 'read', what: ['list'] },
    ],
    [
      '… and the list shows it no more: settled',
      {
        ...NO_BASE,
        ...NONE,
        ...NOT_FOUND_P,
        wanted: ABSENT,
        state: { ...LISTED_AGAIN, registers: DEPARTED },
      },
      { as: 'deleted' },
    ],
    ['is there, and answers 404: noted', { ...UNLINKED, ...Q, ...NOT_FOUND_Q }, MISSED],
    [
      '… again, and is listed: waits',
      { ...Q, ...NOT_FOUND_Q, ...NO_BASE, state: unlinked(state({ missedAtMs: NOW_MS - MINUTE_MS })) },
      { kind: 'wait', why: { code: 'missing' } },
    ],
    [
      'answered 404 as a candidate and is listed no more, nor is any other: waits',
      { ...NONE, ...NO_BASE, state: unlinked(state({ missedAtMs: NOW_MS - MINUTE_MS })) },
      { kind: 'wait', why: { code: 'missing' } },
    ],
    [
      'is there, and a live connection of the company owns it: waits, and names the owner',
      { ...UNLINKED, ...Q, ...OWNED_Q },
      { kind: 'wait', why: { code: 'owned', message: expect.stringContaining('connection other') } },
    ],
    [
      'has the name of a group that another connection owns: made',
      {
        ...UNLINKED,
        ...OWNED_Q,
        listed: listing(shown('a', { id: 'q', spokeId: 'x' })),
        settings: settingsWith({ adoptExisting: 'byName' }),
      },
      CREATE,
    ],
    ['was let go of', { ...NO_BASE, ...NONE, state: LET_GO }, { ...CREATE, known: ['p'] }],
    [
      'was released: its external id is cleared first',
      { state: state({ released: true }) },
      {
        kind: 'write',
        plan: {
          action: 'patch',
          changes: [{ kind: 'set_spoke_id', before: 'g', after: null }],
          removals: [],
        },
      },
    ],
    [
      'was released, and the platform has answered',
      { state: state({ released: true }), look: shown('a') },
      RELEASE,
    ],
    [
      'was released, and refused',
      { state: state({ released: true }), rejected: { owed: undefined } },
      RELEASE,
    ],
    ['was released, and cannot be written', { state: state({ released: true, attempts: 3 }) }, RELEASE],
    ['was released, and is only watched', { state: state({ released: true }), settings: WATCHED }, RELEASE],
    [
      'was released, and has an external id of others',
      { state: state({ released: true }), views: views(view('a', { spokeId: 'x' })) },
      RELEASE,
    ],
    ['was released and let go', { state: unlinked(state({ released: true })) }, EXCLUDED],
    ['is left out by the settings', { settings: settingsWith({ groups: { exclude: ['Eng'] } }) }, EXCLUDED],
    ['has no name', { wanted: { ...ABSENT, state: 'unnamed' } }, { as: 'unnamed', ending: 'open' }],
    ['is under suspicion: it is looked at', SUSPECTED, READ_GROUP],
    ['is suspected in vain', { ...SUSPECTED, look: shown('a') }, UNCHANGED],
    ['has a view that cannot be read', { views: views(undefined, { isUnreadable: true }) }, READ_GROUP],
    ['would be changed: it is fetched first', { wanted: wanted('ab'), ...UNREAD }, READ_GROUP],
    ['would be deleted: it is fetched first', { ...DEPARTS, ...UNREAD }, READ_GROUP],
    [
      'would be changed, and was fetched when it had another version: it is fetched again',
      { wanted: wanted('ab'), shown: { ...changed(''), atMs: NOW_MS } },
      READ_GROUP,
    ],
    [
      'would be changed, and another group was fetched last: it is fetched first',
      { wanted: wanted('ab'), shown: { ...shown('', { id: 'q' }), atMs: NOW_MS } },
      READ_GROUP,
    ],
    [
      'would be changed, and was fetched over five seconds ago: it is fetched again',
      { wanted: wanted('ab'), shown: { ...shown(''), atMs: NOW_MS - 5_001 } },
      READ_GROUP,
    ],
    [
      'would be changed, and is as stored: it is changed',
      { wanted: wanted('ab'), ...UNREAD, look: shown('a') },
      PATCH,
    ],
    [
      'would be changed, and another client changed it: that change is taken first',
      { wanted: wanted('ab'), ...UNREAD, look: changed('ax') },
      { kind: 'observe', external: {} },
    ],
    ['needs no write: it is not fetched', UNREAD, { kind: 'settle', as: 'in_sync' }],
    [
      'is to be released',
      { ...DEPARTS, settings: settingsWith({ onGroupDeleted: 'release' }) },
      { kind: 'release' },
    ],
    [
      'was changed by another client',
      { ...SUSPECTED, look: changed('ax') },
      { kind: 'observe', view: { spokeId: 'g' }, external: {} },
    ],
    [
      'was changed, but is only watched',
      { ...SUSPECTED, look: changed('ax'), settings: WATCHED },
      { flapDamping: undefined },
    ],
    ['shows no spokeId', { ...SUSPECTED, look: unechoed }, readList(5_000)],
    ['may differ', accepted('report'), { kind: 'settle', as: 'in_sync' }],
    ['may differ until …', accepted('adopt'), { kind: 'read', what: ['departed'] }],
    [
      'would lose a member: the guard is asked',
      { views: views(view('ab')) },
      { kind: 'reserve', removals: 1 },
    ],
    ['would lose too many: a hold', leaving(7), { kind: 'hold', rule: 'share', size: 8 }],
    [
      'would lose too many with another worker who may be about to do the same: one after the other',
      {
        ...leaving(7, 7),
        settings: settingsWith({
          guard: { minSize: 1, maxRemovedShare: 0.9, maxRemovedCount: 9, perHourCount: 9 },
        }),
      },
      { kind: 'wait', yields: true, waitMs: 2_000 },
    ],
    ['is to be made: is it there?', UNLINKED, { kind: 'read', what: ['list'] }],
    ['is there already: it is adopted', { ...UNLINKED, ...Q }, ADOPT_Q],
    [
      'is there, and not to be adopted',
      { ...UNLINKED, ...Q, settings: NEVER_ADOPTS },
      { ...CREATE, known: ['q'] },
    ],
    [
      'is what an earlier creation made after all: ours',
      {
        ...{ state: unlinked(state(uncertainly({ action: 'create' }))), settings: NEVER_ADOPTS },
        listed: listing(shown('a', { id: 'r', spokeId: 'x' }), ...Q.listed.groups),
        views: views(undefined, { created: view('a') }),
      },
      ADOPT_Q,
    ],
    ['was refused: a person is told', { rejected: { owed: undefined }, look: shown('a') }, { kind: 'fail' }],
    ['was refused, and is gone', { rejected: { owed: undefined }, look: 'gone' }, MISSED],
  ])('a group that %s', (_, over, expected) => {
    expect(decide(facts(over))).toMatchObject(expected);
  });

  const opened = (over: Partial<Intent> = {}) => ({ state: state({ intent: { ...intent, ...over } }) });
  const made = { ...opened(), views: views(view('a'), { prepared: view('ab') }) };
  const deleting = opened({ action: 'delete' });
  const other = shown('', { id: 'q', name: 'ENG ', spokeId: null });
  const deletingMissed = {
    state: state({ intent: { ...intent, action: 'delete' }, missedAtMs: NOW_MS - MINUTE_MS }),
  };
  const lacking = (existing: PlatformGroupId | undefined, hidesAllManaged: boolean) => ({
    ...listing(other),
    unlisted: { existing, hidesAllManaged },
  });
  const creating = (misses: number, minutes = 1) =>
    opened({ action: 'create', misses, atMs: NOW_MS - minutes * MINUTE_MS });
  const refused = { rejected: { owed: undefined }, look: shown('a') };
  const added = (...after: string[]) => ({
    kind: 'observe',
    external: { differences: [{ kind: 'members_added', after }] },
  });
  const waits = (code: string) => ({ kind: 'wait', why: { code } });
  const RECORD = { intent: intentId('i9'), atMs: 1, removals: 1 };
  it.each<[string, Partial<Facts>, object]>([
    ['is not known: a look', opened(), READ_GROUP],
    ['shows: it happened', { ...made, look: changed('ab') }, { kind: 'observe', intent: {}, view: {} }],
    ['shows, but for the spokeId', { ...made, look: unechoed }, readList(MINUTE_MS)],
    [
      'shows under another name',
      { ...made, look: changed('ab', 'Theirs') },
      { kind: 'observe', external: {} },
    ],
    ['does not show: dropped', { ...made, look: shown('a') }, { kind: 'drop' }],
    ['is refused: its removals are not owed', { ...made, ...refused }, { kind: 'drop', owed: undefined }],
    ['is refused at last', { ...made, ...refused, rejected: { owed: RECORD } }, { owed: RECORD }],
    [
      'also shows the change of another client: only that is external',
      { ...made, look: changed('abx') },
      added('x'),
    ],
    [
      'was refused: what it would have added too',
      { ...made, ...refused, look: changed('abx') },
      added('b', 'x'),
    ],
    [
      'is not shown by a read that may be older than the last write',
      { ...made, state: state({ intent, lastWriteAtMs: NOW_MS - 1 }), look: changed('abx') },
      waits('waiting'),
    ],
    ['… beside what cannot be read', { ...opened(), look: changed('ax') }, added('x')],
    [
      'was a deletion that was answered, and it is gone: done',
      { ...deleting, look: 'gone', deletion: 'deleted' },
      { kind: 'observe', observed: 'gone', intent: {} },
    ],
    ['was a deletion, and it answers 404 once', { ...deleting, look: 'gone' }, MISSED],
    [
      'was a deletion that was answered 404, likewise',
      { ...deleting, look: 'gone', deletion: 'absent' },
      MISSED,
    ],
    [
      '… again, and is listed',
      { ...deletingMissed, look: 'gone', listed: listing(shown('a')) },
      waits('missing'),
    ],
    [
      '… again, and others are listed: done',
      { ...deletingMissed, look: 'gone', listed: { ...listing(other), showsManaged: true } },
      { kind: 'observe', observed: 'gone', intent: {} },
    ],
    [
      '… again, and a list of others: whose are they?',
      { ...deletingMissed, look: 'gone', listed: listing(other) },
      { kind: 'read', what: ['managed'] },
    ],
    ['was a deletion, and it is there: dropped', { ...deleting, look: shown('a') }, { kind: 'drop' }],
    [
      '… soon after it was answered: the read may be older',
      { ...opened({ action: 'delete', atMs: NOW_MS - 1_000 }), look: shown('a'), deletion: 'deleted' },
      { ...waits('kept'), waitMs: MINUTE_MS - 1_000, noting: { misses: 1 } },
    ],
    [
      '… soon, and it was not answered',
      { ...opened({ action: 'delete', atMs: NOW_MS - 1_000 }), look: shown('a') },
      waits('kept'),
    ],
    [
      '… after three answers: refused',
      { ...opened({ action: 'delete', misses: 3 }), look: shown('a') },
      { kind: 'drop', failing: { code: 'platform_rejected' } },
    ],
    [
      'was a creation, not to be seen',
      { ...opened({ action: 'create' }), look: 'gone' },
      { noting: { misses: 1 } },
    ],
    ['… nor the third time, soon', { ...creating(2, 9), look: 'gone' }, { noting: { misses: 3 } }],
    ['… nor the second time, late', { ...creating(1, 10), look: 'gone' }, { noting: { misses: 2 } }],
    ['… nor the third time: the list', { ...creating(2, 10), look: 'gone' }, readList(0)],
    [
      '… nor the third time: reads which groups the list lacks',
      { ...creating(2, 10), look: 'gone', listed: listing(other) },
      { kind: 'read', what: ['unlisted'] },
    ],
    [
      '… nor the third time, and the list lacks no group: dropped',
      { ...creating(2, 10), look: 'gone', listed: lacking(undefined, false) },
      { kind: 'drop' },
    ],
    [
      '… nor the third time, and the list lacks a group',
      { ...creating(2, 10), look: 'gone', listed: lacking(platformGroupId('q'), false) },
      { ...waits('list_incomplete'), noting: { misses: 3 } },
    ],
    [
      '… nor the third time, and the list lacks every managed group',
      { ...creating(2, 10), look: 'gone', listed: lacking(undefined, true) },
      waits('list_incomplete'),
    ],
  ])('a write whose outcome %s', (_, over, expected) => {
    expect(decide(facts(over))).toMatchObject(expected);
  });

  const named = (...groups: readonly ObservedGroup[]) => ({
    ...{ listed: listing(...groups), rejected: { owed: undefined, name: 'Eng' }, look: shown('a') },
    views: views(view('a', { name: 'Old' })),
  });
  const lastError = { code: 'other', message: '', atMs: NOW_MS - MINUTE_MS };
  const AGAIN = { kind: 'fail', firstly: { waitMs: MINUTE_MS, why: { code: 'refused' } } };
  const B = { users: new Set([user('b')]), about: 'remove' } as const;
  const holding = (users: string, over: Partial<Hold> = {}, held: NonNullable<Facts['held']> = B) => ({
    state: state({
      hold: {
        ...{
          ...{ digest: 'd', rule: 'count', removes: 1, keeps: 0, share: 1, createdAtMs: 0 },
          ...{ chunks: 1, hash: '' },
        },
        ...{ expiresAtMs: NOW_MS + 1, decision: { kind: 'waiting' }, ...over },
      } as Hold,
    }),
    ...{ views: views(view(users)), held },
  });
  const APPROVED = { decision: { kind: 'approved', by: '', reason: '', atMs: 0 } } as const;
  const gone = (seen: number, policy: 'report' | 'adopt', spoken = 1) => ({
    ...{ state: unlinked(state({ acceptedDeletion: { policy, seen: stampAt(seen) } })), ...NO_BASE },
    settings: settingsWith({ drift: policy }),
    wanted: wanted('a', {
      registers: [{ member: memberId('a'), value: 'present', stamp: stampAt(spoken) }],
    }),
  });
  const late = (minutes: number, over: Partial<GroupState>, ...listed: readonly ObservedGroup[]) => ({
    ...{
      look: 'gone' as const,
      state: state({ suspectedChange, missedAtMs: NOW_MS - minutes * MINUTE_MS, ...over }),
    },
    listed: { ...listing(...listed), showsManaged: true },
  });
  const departed = { registers: DEPARTED };
  const fight = {
    suspectedChange: { ...suspectedChange, version: null },
    flapDamping: { sinceMs: NOW_MS, count: 2 },
  };
  it.each<[string, Partial<Facts>, object]>([
    ['a refused name that no other group has', named(shown('a'), shown('', { id: 'q', name: 'X' })), AGAIN],
    ['… that another has', named(other), waits('name_in_use')],
    [
      '… that another has: the rest is written, and no more',
      {
        ...named(other),
        wanted: wanted('ab'),
        state: state({ takeOver: true }),
        look: shown('a', { name: 'Old' }),
      },
      { kind: 'write', plan: { action: 'patch', after: { name: 'Old' } } },
    ],
    ['refused after another trouble', { ...refused, state: state({ lastError }) }, AGAIN],
    [
      'another version, just after our own write',
      { state: state({ suspectedChange, lastWriteAtMs: NOW_MS - 1_000 }), look: changed('a') },
      { ...waits('waiting'), waitMs: 59_000 },
    ],
    [
      '… that a refused write may have met',
      { ...refused, look: changed('ab'), state: state({ lastWriteAtMs: NOW_MS - 1 }) },
      waits('waiting'),
    ],
    [
      'a suspicion of no group',
      { ...UNLINKED, state: unlinked(state({ suspectedChange })) },
      { kind: 'observe', observed: 'gone' },
    ],
    [
      'a 404 that was none',
      { wanted: ABSENT, state: state({ ...departed, missedAtMs: 1 }), ...UNREAD, look: shown('a') },
      UNCHANGED,
    ],
    [
      'a fight that is not read',
      { state: state({ ...fight, suspectedChange }), look: changed('ax'), wanted: undefined },
      { kind: 'read' },
    ],
    [
      'a person who asks in a fight',
      { state: state(fight), look: shown('a') },
      { flapDamping: { count: 0 } },
    ],
    [
      'a deletion that takes effect late',
      late(2, uncertainly({ action: 'delete' }), other),
      { difference: undefined },
    ],
    ['a wrong route', late(59, departed), waits('missing')],
    ['… for an hour', late(60, departed), { kind: 'unlink' }],
    ['… for one', late(1, departed, other), { kind: 'unlink' }],
    ['a deletion that stands', gone(1, 'report'), { kind: 'settle', as: 'in_sync' }],
    ['… until the directory says more', gone(1, 'report', 2), { kind: 'read', what: ['list'] }],
    ['… of the group itself', gone(1, 'adopt', 2), { kind: 'settle', as: 'in_sync' }],
    ['… which it does', gone(0, 'adopt'), { kind: 'read', what: ['list'] }],
    [
      'in sync, until a write takes effect late',
      { state: state(uncertainly({})) },
      { againAtMs: NOW_MS + 1 },
    ],
    ['… as it might have', { state: state(uncertainly({}, NOW_MS)) }, READ_GROUP],
    [
      '… a deletion of another',
      { state: state(uncertainly({ action: 'delete', platformId: 'x' as never }, 0)) },
      { kind: 'settle' },
    ],
    [
      '… of what is gone',
      { ...NO_BASE, wanted: ABSENT, state: unlinked(state(uncertainly({}, 0))) },
      { as: 'deleted' },
    ],
    ['tried, and in', { wanted: wanted('ab'), views: views(view('ab')), barred: B.users }, { as: 'in_sync' }],
    ['still to be tried', { wanted: wanted('ab'), barred: B.users }, waits('platform_rejected')],
    ['only watched', { views: views(view('ab')), settings: WATCHED }, { ending: 'report' }],
    ['a hold', holding('ab'), { kind: 'settle', as: 'held', ending: 'open' }],
    ['a hold without removals', holding('a', APPROVED), { kind: 'hold', ends: expect.any(Array) }],
    [
      'a hold over others',
      holding('ab', {}, { ...B, about: 'delete' }),
      { kind: 'hold', ends: expect.any(Array) },
    ],
    ['a hold, and another leaver', holding('abc'), { kind: 'hold', users: ['b', 'c'], size: 3 }],
    ['an approved hold', holding('ab', APPROVED), { kind: 'write', consumes: 'd', isReserved: false }],
    ['an approved hold, and another leaver', holding('abc', APPROVED), { kind: 'reserve', removals: 1 }],
  ])('%s', (_, over, expected) => {
    expect(decide(facts(over))).toMatchObject(expected);
  });

  const told = { ...suspectedChange, traces: [REMOVED] };
  const missed = (minutes: number) => state({ suspectedChange, missedAtMs: NOW_MS - minutes * MINUTE_MS });
  const UNLINK = { kind: 'unlink' };
  const LATER = { kind: 'wait', waitMs: undefined };
  const OTHERS = { ...listing(other), showsManaged: true };
  it.each<[string, Partial<Facts>, object]>([
    ['just made: waits', { state: state({ suspectedChange, createdAtMs: NOW_MS - 1 }) }, waits('waiting')],
    ['for the first time: noted', SUSPECTED, { ...MISSED, waitMs: MINUTE_MS }],
    ['again within the minute: waits', { state: missed(0.5) }, { kind: 'wait', waitMs: MINUTE_MS / 2 }],
    ['later: the list is asked', { state: missed(2) }, { kind: 'read', what: ['list'] }],
    ['soon, where groups show soon', { state: missed(0.5), createSettleMs: 9_000 }, readList(MINUTE_MS / 2)],
    ['and is listed: waits, ever longer', { state: missed(2), listed: listing(shown('a')) }, LATER],
    [
      'and another group is listed: whose is it?',
      { state: missed(2), listed: listing(other) },
      { kind: 'read', what: ['managed'] },
    ],
    [
      'and other managed groups are listed: unlinked',
      { state: missed(2), listed: OTHERS },
      { ...UNLINK, difference: { kind: 'deleted' } },
    ],
    [
      'and no managed group is listed: a wrong route?',
      { state: missed(59), listed: { ...OTHERS, showsManaged: false } },
      { ...waits('missing'), waitMs: MINUTE_MS },
    ],
    ['and no group is listed: a wrong route?', { state: missed(2), ...NONE }, { waitMs: 4 * MINUTE_MS }],
    ['and no group is listed for an hour: unlinked', { state: missed(60), ...NONE }, UNLINK],
    [
      'and may stay deleted: a wrong route?',
      { state: missed(59), ...NONE, settings: REPORT },
      { waitMs: MINUTE_MS },
    ],
    [
      'and may stay deleted, as the feed tells',
      { state: { ...missed(2), suspectedChange: told }, ...NONE, settings: REPORT },
      { ...UNLINK, acceptedDrift: { policy: 'report' } },
    ],
    [
      'and departs, as the feed tells',
      { state: { ...missed(2), registers: DEPARTED, suspectedChange: told }, ...NONE },
      UNLINK,
    ],
    [
      'and may stay deleted, where others are listed',
      { state: missed(2), listed: OTHERS, settings: settingsWith({ drift: 'adopt' }) },
      { ...UNLINK, acceptedDrift: { policy: 'adopt' } },
    ],
    [
      'and another has our spokeId',
      { state: missed(2), listed: { ...Q.listed, showsManaged: true } },
      { difference: { kind: 'recreated', after: 'q' } },
    ],
  ])('a group that answers 404 %s', (_, over, expected) => {
    expect(decide(facts({ ...over, look: 'gone' }))).toMatchObject(expected);
  });

  it('does not treat its own late addition, removal or name as a change by another client', () => {
    const sent = { ...NOTHING_SENT, name: ['Eng  x'], spokeId: ['g'] };
    const uncertain = { write: intent, sent, untilMs: NOW_MS + 1 };
    const late = { state: state({ suspectedChange, uncertain }), settings: settingsWith({ drift: 'adopt' }) };
    const change = (added: string, removed: string) => ({
      uncertain: { added: new Set([...added].map(user)), removed: new Set([...removed].map(user)) },
    });
    const added = { views: views(view('a'), change('b', '')), look: changed('ab') };
    const expected = { view: { users: view('ab').users }, external: { differences: [], landed: intent } };
    expect(decide(facts({ ...late, ...added }))).toMatchObject(expected);
    const unlanded = facts({ ...late, views: views(view('a'), change('', '')), look: changed('ax') });
    expect(decide(unlanded)).toMatchObject({ external: { landed: undefined }, flapDamping: undefined });
    const removed = facts({ ...late, views: views(view('ab'), change('', 'b')), look: changed('a') });
    expect(decide(removed)).toMatchObject({ kind: 'observe', external: { differences: [], landed: intent } });
    // The platform writes names in its own way, and has not shown this one yet.
    const renamed = facts({ ...late, views: views(view('a'), change('', '')), look: changed('a', 'Eng x') });
    expect(decide(renamed)).toMatchObject({
      external: { differences: [] },
      view: { name: 'Eng x', alias: 'Eng  x' },
    });
  });

  it('treats every user with a register as ours when external users may stay and our view is lost', () => {
    const lost = facts({
      settings: settingsWith({ membership: 'additive' }),
      views: views(undefined, { isUnreadable: true }),
      look: shown('alx'),
      departed: new Map([[user('l'), stampAt(2)]]),
    });
    const users = new Map([...view('al').users, [user('x'), false]]);
    expect(decide(lost)).toMatchObject({ kind: 'observe', view: { users }, external: {} });
  });

  describe('a group that another client changes again and again', () => {
    const flapDamping = { sinceMs: NOW_MS - 10 * MINUTE_MS, count: 3, seen: stampAt(1) };
    const fought = (over: Partial<FlapDamping>, by: SuspectedChange = suspectedChange) => ({
      state: state({ flapDamping: { ...flapDamping, ...over }, suspectedChange: by }),
    });
    it.each<[string, Partial<Facts>, object]>([
      ['waits for the rest of the hour', {}, { kind: 'wait' }],
      ['looks after the hour', { nowMs: NOW_MS + 50 * MINUTE_MS }, READ_GROUP],
      ['looks when a person asks', fought({}, { ...suspectedChange, version: null }), READ_GROUP],
      ['looks at once on news', fought({ seen: STAMP_ZERO }), READ_GROUP],
      ['looks while it is seldom', fought({ count: 2 }), READ_GROUP],
      ['is read when one of our members must leave it', { views: views(view('ab')) }, READ_GROUP],
      [
        'waits together with the users that another client added',
        { views: views({ ...view('a'), users: new Map([...view('a').users, [user('x'), false]]) }) },
        { kind: 'wait' },
      ],
    ])('%s', (_, over, decision) => {
      expect(decide(facts({ ...fought({}), ...over }))).toMatchObject(decision);
    });

    it('is counted: twice at once, then once an hour, and forgiven after two or where a person asks', () => {
      const look = changed('ax');
      const flapDampingAfter = (over: Partial<GroupState>, nowMs = NOW_MS, more: Partial<Facts> = {}) => {
        const decision = decide(facts({ state: state({ suspectedChange, ...over }), look, nowMs, ...more }));
        return decision.kind === 'observe' ? decision.flapDamping : undefined;
      };
      expect(flapDampingAfter({})).toMatchObject({ count: 1 });
      const second = { flapDamping: { ...flapDamping, count: 2 } };
      expect(flapDampingAfter(second)).toEqual({ ...flapDamping, count: 3 });
      expect(flapDampingAfter({ flapDamping: { ...flapDamping, count: 1 } })).toEqual({
        sinceMs: flapDamping.sinceMs,
        count: 2,
      });
      // A newcomer that none of our writes contained does not wait for the hour.
      const unwritten = { views: views(view('')), look: changed('x') };
      expect(flapDampingAfter(second, NOW_MS, unwritten)).not.toHaveProperty('seen');
      const overMs = flapDamping.sinceMs + HOUR_MS;
      expect(flapDampingAfter(second, overMs)).toEqual({ sinceMs: overMs, count: 1 });
      expect(flapDampingAfter({ flapDamping }, overMs)).toBe(flapDamping);
      const afterMs = overMs + MINUTE_MS;
      expect(flapDampingAfter({ flapDamping, lastWriteAtMs: overMs }, afterMs)).toMatchObject({
        sinceMs: afterMs,
        count: 3,
      });
      expect(flapDampingAfter({ flapDamping }, overMs + HOUR_MS)).toMatchObject({ count: 1 });
      expect(
        flapDampingAfter({ flapDamping, suspectedChange: { ...suspectedChange, version: null } }),
      ).toMatchObject({ count: 1 });
    });
  });
});
