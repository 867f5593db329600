import { expect, it } from 'vitest';
import { parseSettings } from '../../shared/contract/change-setting.ts';
import type { FlapDamping, GroupState, Intent, SuspectedChange } from '../../shared/domain/group-state.ts';
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
import { decide } from '../../shared/plan/decide/index.ts';
import { READ_GROUP, readList } from '../../shared/plan/decision.ts';
import type { Facts, Wanted } from '../../shared/plan/facts.ts';
import { NOTHING_REMOVED } from '../../shared/plan/guard.ts';
import { NOTHING_SENT } from '../../shared/plan/uncertain.ts';

const NOW_MS = Date.parse('2026-11-22T10:00:00Z');
const MINUTE_MS = 60_000;
const IN_SYNC = { kind: 'settle', as: 'in_sync' };
const RESERVE = { kind: 'reserve', removals: 1 };
const READ_LIST = { kind: 'read', what: ['list'] };
/** The decision about a platform group that equals the view. */
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
const LINK = {
  id: platformGroupId('p'),
  version: versionToken('v1'),
  view: { id: intentId('i0'), size: 1 },
};
const state = (over: Partial<GroupState> = {}): GroupState => ({
  ref: { connection: connectionName('default'), group: groupId('g') },
  registers: {
    upserted: stampAt(1),
    deleted: STAMP_ZERO,
    snapshot: STAMP_ZERO,
    name: { value: 'Eng', stamp: stampAt(1) },
  },
  ...{ rev: 1, attempts: 0, calledMs: [], openDrift: [], unattributed: [] },
  released: false,
  link: LINK,
  ...over,
});
const unlinked = ({ link: _, ...rest }: GroupState): GroupState => rest;
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
  excluded: 0,
  pending: new Map(),
  whyNot: new Map(),
  membersByUser: new Map([...users].map((one) => [user(one), [{ member: memberId(one), revision: '1' }]])),
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
const suspectedChange = { version: versionToken('v2'), activityEvents: [], atMs: NOW_MS };
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
const NONE_MISSING = { existing: undefined, showsNoManaged: false };
const listing = (...groups: readonly ObservedGroup[]) => ({ groups, ageMs: 0, missing: NONE_MISSING });
const DEPARTED = { ...state().registers, upserted: STAMP_ZERO, deleted: stampAt(2) };
const waits = (code: string) => ({ kind: 'wait', why: { code } });
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
const LISTED_404 = {
  ...{ ...NO_BASE, ...NOT_FOUND_P, wanted: ABSENT },
  state: { ...LISTED_AGAIN, registers: DEPARTED },
};
const NOT_FOUND_Q = { passedOver: new Map([['q', 'not_found' as const]]) };
const OTHER_CONNECTION = { connection: connectionName('other'), group: groupId('g') };
const OWNED_Q = { passedOver: new Map([['q', OTHER_CONNECTION]]) };
const RELEASE = { kind: 'release' };
const RELEASED = { state: state({ released: true }) };
const REFUSED_ONCE = { rejected: { owed: undefined } };
const CLEARING = {
  action: 'patch',
  changes: [{ kind: 'set_spoke_id', before: 'g', after: null }],
  removals: [],
};
const FIRST_404 = { kind: 'note', what: 'missing' };
const PATCH = { kind: 'write', plan: { action: 'patch' } };
const CREATE = { kind: 'write', plan: { action: 'create' } };
const ADOPT_P = { kind: 'adopt', candidate: { id: 'p' } };
const EXCLUDED = { kind: 'settle', as: 'excluded', counts: { wanted: 0, applied: 0, pending: 0 } };
const ADOPT_Q = { kind: 'adopt', candidate: { id: 'q' } };
const WATCHED = settingsWith({ groups: { policies: [{ match: '*', mode: 'report' }] } });
const SUSPECTED = { state: state({ suspectedChange }) };
const NONE = { listed: listing() };
const OF_SCIM = {
  ...state(),
  registers: {
    ...state().registers,
    upserted: makeStamp({ time: '2026-11-20T10:00:00Z', id: 'e', source: 'scim' }),
  },
};
const Q = { listed: listing(shown('a', { id: 'q' })) };
const NAMED = { ...UNLINKED, listed: listing(shown('a', { id: 'q', spokeId: 'x' })) };
const NAME_CLASH = { kind: 'settle', as: 'name_clash' };
const namesakes = (owners: readonly GroupState[], areUnmanaged: boolean) => ({
  ...NAMED,
  listed: { ...NAMED.listed, namesakes: { owners, areUnmanaged } },
});
const uncertainly = (over: Partial<Intent>, untilMs = NOW_MS + 1) => {
  const write = { ...intent, ...over };
  const which = write.action === 'delete' ? { deletion: write } : { write };
  return { uncertain: { ...which, sent: { ...NOTHING_SENT, name: [write.name] }, untilMs } };
};
/** Creates facts in which a plan removes some of eight members, and another worker removes `concurrent` members. */
const leaving = (removals: number, concurrent = 0) => ({
  views: views(view(EVERYBODY)),
  reservation: {
    intent: intent.id,
    atMs: 0,
    removals,
    size: EVERYBODY.length,
    deletes: false,
    recent: {
      ...NOTHING_REMOVED,
      group: concurrent,
      connection: concurrent,
      largestSize: EVERYBODY.length,
      concurrent,
    },
  },
});
const changed = (users: string, name = 'Eng') => shown(users, { version: versionToken('v2'), name });

/** Returns facts in which the group needs a change and this group was fetched last. */
const after = (fetched: ObservedGroup, ageMs = 0) => ({
  wanted: wanted('ab'),
  shown: { ...fetched, atMs: NOW_MS - ageMs },
});
const unechoed = { ...changed('ab'), spokeId: null };
it.each<[string, Partial<Facts>, object]>([
  ['is in sync: settle', {}, { kind: 'settle', as: 'in_sync', counts: { wanted: 1, applied: 1 } }],
  ['is not read yet: read', { wanted: undefined }, { kind: 'read', what: ['wanted', 'views'] }],
  ['lacks a member: PATCH', { wanted: wanted('ab') }, { ...PATCH, isReserved: false }],
  ['is wanted, its earlier group counted as gone: adopt', { ...NO_BASE, ...NONE, state: LOST }, ADOPT_P],
  ['was deleted and is listed again, but answers 404: read the list', LISTED_404, READ_LIST],
  ['was deleted, answers 404 and is not listed: settle', { ...LISTED_404, ...NONE }, { as: 'deleted' }],
  ['has a candidate that answers 404: record the 404', { ...UNLINKED, ...Q, ...NOT_FOUND_Q }, FIRST_404],
  [
    'had an adoption candidate that answered 404, and the list is empty: wait',
    { ...NONE, ...NO_BASE, state: unlinked(state({ missingSinceMs: NOW_MS - MINUTE_MS })) },
    waits('missing'),
  ],
  [
    'has a candidate that another connection of the company owns: wait',
    { ...UNLINKED, ...Q, ...OWNED_Q },
    { kind: 'wait', why: { code: 'owned', message: expect.stringContaining('another directory group') } },
  ],
  ['was unlinked: create', { ...NO_BASE, ...NONE, state: LET_GO }, { ...CREATE, known: ['p'] }],
  ['was released: clear its external id first', RELEASED, { kind: 'write', plan: CLEARING }],
  ['was released, its external id is cleared: release', { ...RELEASED, fetched: shown('a') }, RELEASE],
  ['was released, the clearing is refused: release', { ...RELEASED, ...REFUSED_ONCE }, RELEASE],
  [
    'was released, it failed three times: release',
    { state: state({ released: true, attempts: 3 }) },
    RELEASE,
  ],
  ['was released, mode report: release', { ...RELEASED, settings: WATCHED }, RELEASE],
  [
    'was released, another external id: release',
    { ...RELEASED, views: views(view('a', { spokeId: 'x' })) },
    RELEASE,
  ],
  ['was released and unlinked: settle', { state: unlinked(state({ released: true })) }, EXCLUDED],
  ['is excluded: settle', { settings: settingsWith({ groups: { exclude: ['Eng'] } }) }, EXCLUDED],
  [
    'has no name: settle as unnamed',
    { wanted: { ...ABSENT, state: 'unnamed' }, departed: new Map() },
    { as: 'unnamed', driftOutcome: 'open' },
  ],
  ['has a suspected change: read', SUSPECTED, READ_GROUP],
  ['may have changed, but equals the view: observe', { ...SUSPECTED, fetched: shown('a') }, UNCHANGED],
  ['has an unreadable view: read', { views: views(undefined, { isUnreadable: true }) }, READ_GROUP],
  ['needs a change: fetch it first', { wanted: wanted('ab'), ...UNREAD }, READ_GROUP],
  ['would be deleted: fetch it first', { ...DEPARTS, ...UNREAD }, READ_GROUP],
  ['needs a change, and another group was fetched last: fetch it', after(shown('', { id: 'q' })), READ_GROUP],
  ['needs a change, was fetched over five seconds ago: fetch it', after(shown(''), 5_001), READ_GROUP],
  ['needs a change, equals the view: PATCH', { wanted: wanted('ab'), ...UNREAD, fetched: shown('a') }, PATCH],
  ['needs no write: settle without a fetch', UNREAD, IN_SYNC],
  [
    'was changed by another client, and has mode report: observe without flap damping',
    { ...SUSPECTED, fetched: changed('ax'), settings: WATCHED },
    { flapDamping: undefined },
  ],
  ['may have changed, no spokeId: read the list', { ...SUSPECTED, fetched: unechoed }, readList(5_000)],
  ['would lose a member: reserve the removal', { views: views(view('ab')) }, RESERVE],
  ['loses too many: hold', leaving(7), { kind: 'hold', sets: [{ hold: { rule: 'share', keeps: 1 } }] }],
  [
    'would lose too many members only because of another worker: wait for that worker',
    {
      ...leaving(7, 7),
      settings: settingsWith({
        guard: { minSize: 1, maxRemovedShare: 0.9, maxRemovedCount: 9, perHourCount: 9 },
      }),
    },
    { kind: 'wait', yields: true, waitMs: 2_000 },
  ],
  ['is wanted and has no link: read the list', UNLINKED, READ_LIST],
  ['exists already on the platform: adopt', { ...UNLINKED, ...Q }, ADOPT_Q],
  ['has a name in use: read the namesakes', NAMED, { kind: 'read', what: ['namesakes'], ids: ['q'] }],
  ['has the name of an unmanaged platform group: wait for an operator', namesakes([], true), NAME_CLASH],
  [
    'has the name of an unmanaged platform group, and an operator asked for another group: create',
    { ...namesakes([], true), state: unlinked(state({ createsBeside: 'Eng' })) },
    { ...CREATE, known: ['q'] },
  ],
  ['has the name of a platform group of the same source: create', namesakes([state()], false), CREATE],
  [
    'has the name of a group of another source: wait',
    namesakes([OF_SCIM], true),
    waits('name_of_other_source'),
  ],
  [
    'was made by an earlier uncertain creation: adopt',
    {
      ...{ state: unlinked(state(uncertainly({ action: 'create' }))) },
      listed: listing(
        shown('a', { id: 'r', spokeId: 'x' }),
        shown('a', { id: 'n', spokeId: null }),
        ...Q.listed.groups,
      ),
      views: views(undefined, { created: view('a') }),
    },
    ADOPT_Q,
  ],
  ['had a refused write: retry', { ...REFUSED_ONCE, fetched: shown('a') }, { kind: 'retry' }],
  ['had a refusal, answers 404: record it', { ...REFUSED_ONCE, fetched: 'gone' }, FIRST_404],
])('decide returns the next action if a group %s', (_, over, expected) => {
  expect(decide(facts(over))).toMatchObject(expected);
});

const opened = (over: Partial<Intent> = {}) => ({ state: state({ intent: { ...intent, ...over } }) });
const made = { ...opened(), views: views(view('a'), { prepared: view('ab') }) };
const deleting = opened({ action: 'delete' });
const deletingMissing = { state: { ...deleting.state, missingSinceMs: NOW_MS - MINUTE_MS } };
const other = shown('', { id: 'q', name: 'ENG ', spokeId: null });
const creating = (tries: number, minutes: number) => ({
  ...opened({ action: 'create', tries, atMs: NOW_MS - minutes * MINUTE_MS }),
  ...{ isCounted: true, fetched: 'gone' as const },
});
const justDeleted = { ...opened({ action: 'delete', atMs: NOW_MS - 1_000 }), fetched: shown('a') };
const refused = { ...REFUSED_ONCE, fetched: shown('a') };
const added = (...after: string[]) => ({
  kind: 'observe',
  external: { differences: [{ kind: 'members_added', after }] },
});
const RECORD = { intent: intentId('i9'), atMs: 1, removals: 1 };
it.each<[string, Partial<Facts>, object]>([
  ['a write with an unknown outcome leads to a read of the group', opened(), READ_GROUP],
  ['shown writes: observe', { ...made, fetched: changed('ab') }, { kind: 'observe', intent: {}, view: {} }],
  ['a write shown without spokeId: read the list', { ...made, fetched: unechoed }, readList(MINUTE_MS)],
  ['a write that is not shown is dropped', { ...made, fetched: shown('a') }, { kind: 'drop' }],
  ['a refused write goes with its record', { ...made, ...refused }, { kind: 'drop', owed: undefined }],
  ['a refused write keeps a record', { ...made, ...refused, rejected: { owed: RECORD } }, { owed: RECORD }],
  ['only users that the write did not add are external', { ...made, fetched: changed('abx') }, added('x')],
  [
    'users of a refused write that the group shows are recorded as an external change',
    { ...made, ...refused, fetched: changed('abx') },
    added('b', 'x'),
  ],
  [
    'a deletion waits after two 404s while the list shows the group',
    { ...deletingMissing, fetched: 'gone', listed: listing(shown('a')) },
    waits('missing'),
  ],
  ['a deletion of an existing group is dropped', { ...deleting, fetched: shown('a') }, { kind: 'drop' }],
  [
    'a counted deletion waits, because the read may show an older state',
    { ...justDeleted, deletion: 'deleted', isCounted: true },
    { ...waits('kept'), waitMs: MINUTE_MS - 1_000 },
  ],
  ['a deletion without an answer waits soon after it was sent', justDeleted, waits('kept')],
  ['a third miss of the creation within ten minutes leads to a wait', creating(3, 9), { waitMs: 200_000 }],
  ['a second miss of the created group leads to a wait', creating(2, 10), waits('waiting')],
  ['after the third miss, the list is read', creating(3, 10), readList(0)],
  [
    'a created group that lacks a sent user just after its creation leads to a wait',
    {
      state: unlinked(state({ intent: { ...intent, action: 'create', atMs: NOW_MS - 1_000 } })),
      views: views(undefined, { prepared: view('ab') }),
      fetched: shown('a'),
    },
    waits('waiting'),
  ],
])('decide about an open intent: %s', (_, over, expected) => {
  expect(decide(facts(over))).toMatchObject(expected);
});

const missing = (minutes: number) => state({ suspectedChange, missingSinceMs: NOW_MS - minutes * MINUTE_MS });
const named = (...groups: readonly ObservedGroup[]) => ({
  ...{ listed: listing(...groups), rejected: { owed: undefined, name: 'Eng' }, fetched: shown('a') },
  views: views(view('a', { name: 'Old' })),
});
const lastError = { code: 'other', message: '', atMs: NOW_MS - MINUTE_MS };
const AGAIN = { kind: 'retry', after: { waitMs: MINUTE_MS, why: { code: 'refused' } } };
const B = new Set([user('b')]);

it.each<[string, Partial<Facts>, object]>([
  ['a refused unique name is tried again', named(shown('a'), shown('', { id: 'q', name: 'X' })), AGAIN],
  ['a refused name that another group has leads to a wait', named(other), waits('name_in_use')],
  ['a refusal after another error is tried again', { ...refused, state: state({ lastError }) }, AGAIN],
  [
    'a new version just after a refused write leads to a wait',
    { ...refused, fetched: changed('ab'), state: state({ lastWriteAtMs: NOW_MS - 1 }) },
    waits('waiting'),
  ],
  [
    'the known version without a user just after a write leads to a wait',
    { state: state({ suspectedChange, lastWriteAtMs: NOW_MS - 1 }), fetched: shown('') },
    waits('waiting'),
  ],
  [
    'a suspected change without a linked group is observed as gone',
    { ...UNLINKED, state: unlinked(state({ suspectedChange })) },
    { kind: 'observe', observed: 'gone' },
  ],
  [
    'a group that is shown again after a 404 is observed as unchanged',
    {
      wanted: ABSENT,
      state: state({ registers: DEPARTED, missingSinceMs: 1 }),
      ...UNREAD,
      fetched: shown('a'),
    },
    UNCHANGED,
  ],
  [
    'a damped group is read if its wanted members are not known',
    {
      state: state({ suspectedChange, flapDamping: { sinceMs: NOW_MS, count: 2 } }),
      fetched: changed('ax'),
      wanted: undefined,
    },
    { kind: 'read' },
  ],
  [
    'a deletion by groupsync that takes effect late is no difference',
    {
      ...{ fetched: 'gone', state: { ...missing(2), ...uncertainly({ action: 'delete' }) } },
      listed: { ...listing(other), showsManaged: true },
    },
    { kind: 'unlink', difference: undefined },
  ],
  ['an uncertain write leads to a wake-up', { state: state(uncertainly({})) }, { againAtMs: NOW_MS + 1 }],
  ['a group is read after its uncertain write', { state: state(uncertainly({}, NOW_MS)) }, READ_GROUP],
  [
    'an uncertain deletion of another group leads to no read',
    { state: state(uncertainly({ action: 'delete', platformId: 'x' as never }, 0)) },
    { kind: 'settle' },
  ],
  [
    'a group is settled if it shows the member that was excluded',
    { wanted: wanted('ab'), views: views(view('ab')), isolated: B },
    { as: 'in_sync' },
  ],
  ['an excluded wanted member waits', { wanted: wanted('ab'), isolated: B }, waits('platform_rejected')],
  [
    'a removal in mode report is not written, and the group is settled',
    { views: views(view('ab', { mode: 'report' })), settings: WATCHED },
    { driftOutcome: 'report' },
  ],
])('decide: %s', (_, over, expected) => {
  expect(decide(facts(over))).toMatchObject(expected);
});

const UNLINK = { kind: 'unlink' };
const LATER = { kind: 'wait', waitMs: undefined };
it.each<[string, Partial<Facts>, object]>([
  [
    'a group that was just created waits',
    { state: state({ suspectedChange, link: { ...LINK, createdAtMs: NOW_MS - 1 } }) },
    waits('waiting'),
  ],
  ['the first 404 is recorded', SUSPECTED, FIRST_404],
  ['a second 404 within a minute waits', { state: missing(0.5) }, { kind: 'wait', waitMs: MINUTE_MS / 2 }],
  ['the second 404 after a minute reads the list', { state: missing(2) }, READ_LIST],
  ['a listed group waits longer each time', { state: missing(2), listed: listing(shown('a')) }, LATER],
  ['an empty list leads to a wait', { state: missing(2), ...NONE }, { waitMs: 4 * MINUTE_MS }],
  ['a list that stays empty for an hour leads to unlink', { state: missing(60), ...NONE }, UNLINK],
  [
    'the group waits for an hour in the mode report, too, because the base URL may be wrong',
    { state: missing(59), ...NONE, settings: WATCHED },
    { waitMs: MINUTE_MS },
  ],
])('decide after a 404: %s', (_, over, expected) => {
  expect(decide(facts({ ...over, fetched: 'gone' }))).toMatchObject(expected);
});

const flapDamping = { sinceMs: NOW_MS - 10 * MINUTE_MS, count: 3, seen: stampAt(1) };
const dampedAfter = (over: Partial<FlapDamping>, by: SuspectedChange = suspectedChange) => ({
  state: state({ flapDamping: { ...flapDamping, ...over }, suspectedChange: by }),
});
it.each<[string, Partial<Facts>, object]>([
  ['a damped group waits for the rest of the hour', {}, { kind: 'wait' }],
  ['a damped group is read after its hour of damping', { nowMs: NOW_MS + 50 * MINUTE_MS }, READ_GROUP],
  ['a damped group is read by sync', dampedAfter({}, { ...suspectedChange, version: null }), READ_GROUP],
  ['a damped group is read after a newer event', dampedAfter({ seen: STAMP_ZERO }), READ_GROUP],
  ['a group is read immediately after only two restorations', dampedAfter({ count: 2 }), READ_GROUP],
  ['a damped group is read if an added member must leave', { views: views(view('ab')) }, READ_GROUP],
  [
    'a damped group waits although another client added a user',
    { views: views({ ...view('a'), users: new Map([...view('a').users, [user('x'), false]]) }) },
    { kind: 'wait' },
  ],
  ['a damped group is read while a person is blocked', { blocked: new Set([user('x')]) }, READ_GROUP],
])('%s', (_, over, decision) => {
  expect(decide(facts({ ...dampedAfter({}), ...over }))).toMatchObject(decision);
});

it('the flap counter allows two restorations, then one an hour, and is reset after two hours or by sync', () => {
  const fetched = changed('ax');
  const flapDampingAfter = (over: Partial<GroupState>, nowMs = NOW_MS, more: Partial<Facts> = {}) => {
    const decision = decide(facts({ state: state({ suspectedChange, ...over }), fetched, nowMs, ...more }));
    return decision.kind === 'observe' ? decision.flapDamping : undefined;
  };
  expect(flapDampingAfter({})).toMatchObject({ count: 1 });
  const second = { flapDamping: { ...flapDamping, count: 2 } };
  expect(flapDampingAfter(second)).toEqual({ ...flapDamping, count: 3 });
  expect(flapDampingAfter({ flapDamping: { ...flapDamping, count: 1 } })).toEqual({
    sinceMs: flapDamping.sinceMs,
    count: 2,
  });
  // A user that no write of groupsync has contained yet does not wait for the hour.
  const unwritten = { views: views(view('')), fetched: changed('x') };
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
