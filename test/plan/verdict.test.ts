import { expect, it } from 'vitest';
import { parseSettings } from '../../shared/contract/change-setting.ts';
import { STAMP_ZERO } from '../../shared/domain/stamp.ts';
import { verdictOf } from '../../shared/plan/verdict.ts';

const zero = { upserted: STAMP_ZERO, deleted: STAMP_ZERO, snapshot: STAMP_ZERO };
const named = { ...zero, upserted: 'x', name: { value: 'G', stamp: 'x' } };
const [with_, without] = [{ views: { base: { users: new Map([['u', true]]) } } }, { views: {} }];
const stranger = { ...with_, wanted: { pending: new Map(), membersByUser: new Map(), registers: [] } };
const wanted = {
  ...stranger.wanted,
  membersByUser: new Map([
    ['o', [{}]],
    ['u', [{ member: 'm' }]],
  ]),
};
const left = (register: object) => ({
  wanted: { ...stranger.wanted, registers: [{ member: 'm', value: 'absent', stamp: 'x', ...register }] },
});
const policy = (over: object) => ({
  ...stranger,
  settings: parseSettings({ baseUrl: 'https://p.test', ...over }),
});
const writes = (...users: string[]) => ({
  decision: {
    kind: 'write',
    held: new Set(),
    plan: { removals: users, after: { users: new Map(users.map((one) => [one, 1])) } },
  },
});
const FAILED = { failedAtMs: 1, lastError: { message: 'because' } };

it.each<[string, object, object, object?]>([
  ['an operator released this group; adopt the group to sync it again', with_, { released: true }],
  ['g2 of another source owns this group; look at that group', with_, { released: true, movedTo: 'g2' }],
  ['groups.exclude', policy({ groups: { exclude: ['*'] } }), {}],
  ['no event about the group', with_, { registers: zero }],
  ['no such group', with_, { registers: { ...named, deleted: 'y' } }],
  ['the platform both have them', with_, {}],
  ['refused the group: because', without, FAILED],
  ['added by the next write; last try: because', without, { ...FAILED, dirtySinceMs: 1 }, writes('u')],
  ['groupsync adds them after the next read', without, {}, writes('u')],
  ['the mode report lets them stay', policy({ groups: { policies: [{ match: '*', mode: 'report' }] } }), {}],
  ['the mode additive lets them stay', policy({ mode: 'additive' }), {}, writes('x')],
  ['took them out of the group', left({}), {}],
  ['the setting nested no longer includes', left({ via: 'x' }), {}],
  ['no group within the group has them', { ...policy({ nested: 'flatten' }), ...left({ via: 'x' }) }, {}],
  ['the removal is not done yet', stranger, {}, writes('u')],
  ['an earlier source; the platform refused', stranger, FAILED],
  ['earlier source; closed', stranger, {}, { ...writes('u'), obstacle: { outcome: '', detail: 'closed' } }],
])('verdictOf returns a reason that contains: %s', (expected, facts, state, over = {}) => {
  const group = { ref: { group: 'g' }, registers: named, ...state };
  const all = { ...policy({}), wanted, ...facts, state: group };
  const asked = {
    member: 'm',
    user: 'u',
    facts: all,
    decision: { kind: 'settle' },
    isSwitchedOn: true,
    ...over,
  };
  expect(verdictOf(asked as never).detail).toContain(expected);
});
