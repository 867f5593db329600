import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type HeldSetName, type Hold, type HoldDecision, STORED_AS } from '../../shared/domain/hold.ts';
import { platformUserId } from '../../shared/domain/ids.ts';
import { isOver, judgeByHolds } from '../../shared/plan/hold.ts';
import { NO_PLAN } from '../../shared/plan/plan.ts';

const users = (ids: string) => [...ids].map(platformUserId);
const EXPIRES_MS = 1_000;
const BY_ANN = { by: 'Ann', reason: 'a reorganisation', atMs: 0 };

const holdWith = (decision: HoldDecision): Hold => ({
  ...{ digest: 'digest', rule: 'count', removes: 2, keeps: 0, share: 1, createdAtMs: 0, dirtySinceMs: 0 },
  ...{ expiresAtMs: EXPIRES_MS, decision, chunks: 1, hash: 'hash' },
});
const waiting = holdWith({ kind: 'waiting' });
const approved = holdWith({ kind: 'approved', ...BY_ANN });
const rejected = holdWith({ kind: 'rejected', ...BY_ANN });
const HOLDS = { hold: waiting, approval: approved, rejection: rejected };

interface Given {
  readonly removals: string;
  /** The users of each stored set; null for a set that cannot be read. */
  readonly sets?: Partial<Record<HeldSetName, string | null>>;
  readonly about?: 'remove' | 'delete';
  readonly deletes?: boolean;
  readonly isGuardOn?: boolean;
  readonly nowMs?: number;
}

function judge({ removals, sets = {}, about, deletes = false, isGuardOn = true, nowMs = 0 }: Given) {
  const kind = about ?? (deletes ? 'delete' : 'remove');
  const names = Object.keys(sets) as HeldSetName[];
  const read = names.map((name) => {
    const ids = sets[name];
    const set = ids == null ? undefined : new Set(users(ids));
    return [name, { users: set, about: set && kind }] as const;
  });
  const plan = {
    ...NO_PLAN(undefined),
    ...(deletes && ({ action: 'delete', departs: true } as const)),
    removals: users(removals),
  };
  const verdict = judgeByHolds(plan, {
    holds: Object.fromEntries(names.map((name) => [name, HOLDS[name]])),
    read: Object.fromEntries(read),
    isGuarded: isGuardOn,
    nowMs,
  });
  const text = (some: readonly string[] | undefined) => some && [...some].sort().join('');
  return {
    approved: text(verdict.approved),
    held: text(verdict.held),
    unjudged: text(verdict.unjudged),
    renewed: text(verdict.renewed),
    ends: verdict.ends,
    isApproved: verdict.isApproved,
    isStopped: verdict.isStopped,
  };
}

describe('judgeByHolds', () => {
  it.each<[string, Given, Partial<ReturnType<typeof judge>>]>([
    [
      'without a set, the guard judges',
      { removals: 'a' },
      { unjudged: 'a', held: '', approved: '', renewed: undefined, ends: [] },
    ],
    ['a hold keeps its removals', { removals: 'a', sets: { hold: 'ab' } }, { held: 'a', renewed: undefined }],
    [
      'a new hold replaces a hold that lacks a removal',
      { removals: 'ac', sets: { hold: 'ab' } },
      { held: 'ac', renewed: 'ac' },
    ],
    [
      'a hold with none of the removals ends',
      { removals: 'c', sets: { hold: 'ab' } },
      { unjudged: 'c', ends: ['hold'] },
    ],
    [
      'approved removals are permitted, and the guard judges the other removals',
      { removals: 'bc', sets: { approval: 'ab' } },
      { approved: 'b', unjudged: 'c', ends: [] },
    ],
    [
      'an approval of none of the removals ends',
      { removals: 'c', sets: { approval: 'ab' } },
      { ends: ['approval'] },
    ],
    [
      'rejected removals are held, and the guard judges the other removals',
      { removals: 'bc', sets: { rejection: 'ab' } },
      { held: 'b', unjudged: 'c', ends: [] },
    ],
    [
      'a rejection of none of the removals ends',
      { removals: 'c', sets: { rejection: 'ab' } },
      { ends: ['rejection'] },
    ],
    [
      'each removal is judged by the set that contains it',
      { removals: 'abc', sets: { hold: 'a', approval: 'b', rejection: 'c' } },
      { approved: 'b', held: 'ac', unjudged: '', renewed: undefined, ends: [] },
    ],
    [
      'a removal in no set joins the undecided removals in a new hold',
      { removals: 'abcd', sets: { hold: 'a', approval: 'b', rejection: 'c' } },
      { approved: 'b', held: 'acd', renewed: 'ad' },
    ],
    [
      'with the guard off, a hold ends',
      { removals: 'a', sets: { hold: 'a' }, isGuardOn: false },
      { ends: ['hold'] },
    ],
    [
      'with the guard off, an approval and a rejection stay valid',
      { removals: 'bc', sets: { approval: 'b', rejection: 'c' }, isGuardOn: false },
      { approved: 'b', held: 'c', ends: [] },
    ],
    [
      'a hold of a deletion ends if the plan does not delete the group',
      { removals: 'a', sets: { hold: 'a' }, about: 'delete' },
      { ends: ['hold'] },
    ],
    [
      'a rejection of member removals does not stop the deletion of the group',
      { removals: 'a', sets: { rejection: 'a' }, about: 'remove', deletes: true },
      { unjudged: 'a', ends: ['rejection'] },
    ],
    [
      'a rejected deletion of a group stays rejected with other users',
      { removals: 'bc', sets: { rejection: 'a' }, deletes: true },
      { held: 'bc', ends: [] },
    ],
    [
      'without a set, the deletion of an empty group is neither approved nor stopped',
      { removals: '', deletes: true },
      { isApproved: false, isStopped: false },
    ],
    ...(['hold', 'rejection'] as const).map((name): [string, Given, object] => [
      `a ${name} stops the deletion of an empty group`,
      { removals: '', sets: { [name]: 'a' }, deletes: true },
      { isStopped: true, renewed: undefined, ends: [] },
    ]),
    [
      'an approval permits the deletion of an empty group',
      { removals: '', sets: { approval: 'a' }, deletes: true },
      { isApproved: true, isStopped: false },
    ],
    [
      'a new hold replaces a hold that cannot be read',
      { removals: 'a', sets: { hold: null } },
      { held: 'a', renewed: 'a', ends: [] },
    ],
    [
      'a rejection that cannot be read causes a hold even with the guard off',
      { removals: 'a', sets: { rejection: null }, isGuardOn: false },
      { renewed: 'a', ends: [] },
    ],
    [
      'a rejection that cannot be read causes no second hold',
      { removals: 'a', sets: { rejection: null, hold: 'a' }, isGuardOn: false },
      { held: 'a', renewed: undefined, ends: [] },
    ],
    [
      'an approval that cannot be read ends',
      { removals: 'a', sets: { approval: null } },
      { unjudged: 'a', ends: ['approval'] },
    ],
  ])('judgeByHolds: %s', (_, given, expected) => {
    expect(judge(given)).toMatchObject(expected);
  });

  it.each<[HeldSetName, boolean, object]>([
    ['hold', true, { renewed: 'ac', ends: [] }],
    ['approval', true, { approved: '', renewed: 'ac' }],
    ['rejection', true, { renewed: 'ac', ends: ['rejection'] }],
    ['hold', false, { renewed: undefined, ends: ['hold'] }],
    ['approval', false, { approved: '', unjudged: 'ac', ends: ['approval'] }],
    ['rejection', false, { held: '', unjudged: 'ac', ends: ['rejection'] }],
  ])(
    'judgeByHolds: an expired %s needs a new decision if the guard is on (%s)',
    (name, isGuardOn, expected) => {
      const given = { removals: 'ac', sets: { [name]: 'ab' }, isGuardOn };
      expect(judge({ ...given, nowMs: EXPIRES_MS })).toMatchObject(expected);
    },
  );

  it('an approval counts until it expires', () => {
    const sets = { hold: 'ac', approval: 'ab' };
    const verdict = judge({ removals: 'ac', sets, nowMs: EXPIRES_MS - 1 });
    expect(verdict).toMatchObject({ approved: 'a', held: 'c' });
  });

  it('only approved removals are permitted, rejected users stay, and no held removal is written', () => {
    const some = fc.subarray([...'abcdef']).map((ids) => ids.join(''));
    const given = fc.record({
      removals: some,
      places: fc.array(fc.constantFrom('none', 'hold', 'approval', 'rejection'), {
        minLength: 6,
        maxLength: 6,
      }),
      nowMs: fc.constantFrom(0, EXPIRES_MS),
      isGuardOn: fc.boolean(),
    });
    fc.assert(
      fc.property(given, ({ removals, places, ...rest }) => {
        const inSet = (name: string) => [...'abcdef'].filter((_, at) => places[at] === name).join('');
        const names = Object.values(STORED_AS).filter((name) => inSet(name) !== '');
        const sets = Object.fromEntries(names.map((name) => [name, inSet(name)]));
        const { approved = '', held = '', unjudged = '', renewed } = judge({ removals, sets, ...rest });
        const split = [...new Set([...approved, ...held, ...unjudged])].sort().join('');
        expect(split).toBe([...removals].sort().join(''));
        const planned = (name: HeldSetName) => [...inSet(name)].filter((user) => removals.includes(user));
        const hasExpired = rest.nowMs === EXPIRES_MS;
        expect(approved).toBe(hasExpired ? '' : planned('approval').join(''));
        if (!hasExpired) expect([...held]).toEqual(expect.arrayContaining(planned('rejection')));
        if (!rest.isGuardOn) return;
        expect([...held]).toEqual(expect.arrayContaining(planned('hold')));
        const decided = [...planned('approval'), ...planned('rejection')];
        if (hasExpired) expect([...(renewed ?? '')]).toEqual(expect.arrayContaining(decided));
      }),
    );
  });

  it('a set of held removals ends at its time of expiry', () => {
    expect(isOver(waiting, EXPIRES_MS)).toBe(true);
    expect(isOver(waiting, EXPIRES_MS - 1)).toBe(false);
  });
});
