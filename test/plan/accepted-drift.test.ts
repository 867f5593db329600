import { describe, expect, it } from 'vitest';
import type { Difference } from '../../shared/domain/drift.ts';
import { eachField } from '../../shared/domain/group-fields.ts';
import { memberId, type PlatformUserId, platformUserId } from '../../shared/domain/ids.ts';
import type { Stamp } from '../../shared/domain/stamp.ts';
import type { AcceptedDrift } from '../../shared/domain/view.ts';
import { acceptDrift, type LatestStamps, validAcceptedDrift } from '../../shared/plan/accepted-drift.ts';
import type { WantedGroup } from '../../shared/plan/draft.ts';

const users = (ids: string) => [...ids].map(platformUserId);
const set = (ids: string): ReadonlySet<PlatformUserId> => new Set(users(ids));
const at = (stamp: string) => stamp as Stamp;
const wanted = (ids: string): WantedGroup => ({
  name: 'Ours',
  spokeId: 'g',
  users: new Map(users(ids).map((user) => [user, memberId(`m-${user}`)])),
});
const acceptedDrift = (over: Partial<AcceptedDrift> = {}): AcceptedDrift => ({
  policy: 'adopt',
  seen: at('5'),
  present: set('x'),
  absent: set('a'),
  ...eachField(() => true),
  ...over,
});
const NOTHING = { present: set(''), absent: set(''), ...eachField(() => false) };
const latestStamps = (over: Partial<LatestStamps> = {}): LatestStamps => ({
  newest: at('5'),
  field: eachField(() => at('5')),
  allUsers: at('1'),
  user: () => at('5'),
  ...over,
});
const valid = (now: Partial<LatestStamps>, given = acceptedDrift(), group = wanted('ab')) =>
  validAcceptedDrift(given, latestStamps(now), group);

describe('acceptDrift', () => {
  it('acceptDrift keeps earlier accepted differences, and drops differences that another client has undone', () => {
    const next = acceptDrift({
      policy: 'report',
      seen: at('4'),
      differences: [
        { kind: 'members_added', before: [], after: ['a', 'y'] },
        { kind: 'members_removed', before: ['b', 'x'], after: [] },
      ],
      earlier: acceptedDrift({ name: false }),
    });
    expect(next).toEqual({
      policy: 'report',
      seen: '5',
      present: set('y'),
      absent: set('b'),
      name: false,
      spokeId: true,
    });
  });

  it.each<[Difference, Partial<AcceptedDrift>]>([
    [{ kind: 'members_added', before: [], after: ['a'] }, { present: set('a') }],
    [{ kind: 'name', before: 'a', after: 'b' }, { name: true }],
    [{ kind: 'spoke_id', before: 'a', after: null }, { spokeId: true }],
  ])('acceptDrift accepts only the given differences: %o', (difference, expected) => {
    const next = acceptDrift({
      policy: 'adopt',
      seen: at('4'),
      differences: [difference],
      earlier: undefined,
    });
    expect(next).toEqual({ ...acceptedDrift({ ...NOTHING, seen: at('4') }), ...expected });
  });
});

describe('validAcceptedDrift', () => {
  it('the whole drift stays accepted while no newer directory event arrives', () => {
    expect(valid({})).toEqual(acceptedDrift());
    expect(valid({}, acceptedDrift({ policy: 'report' }))).toEqual(acceptedDrift({ policy: 'report' }));
  });

  it.each<[string, Partial<LatestStamps>, Partial<AcceptedDrift>]>([
    ['the name', { field: { ...latestStamps().field, name: at('6') } }, { name: false }],
    ['a wanted user', { user: () => at('6') }, { absent: set('') }],
    ['a removed user', { departed: new Map([[platformUserId('x'), at('6')]]) }, { present: set('') }],
    ['an older removal of a user ends nothing', { departed: new Map([[platformUserId('x'), at('4')]]) }, {}],
    ['all users', { allUsers: at('6') }, { present: set('') }],
    ['an event about another subject ends nothing', {}, {}],
  ])(
    'with policy adopt, an event ends the accepted drift only of its own subject, and only if the event is newer: %s',
    (_, now, changed) => {
      expect(valid({ newest: at('6'), ...now })).toEqual(acceptedDrift(changed));
    },
  );

  it.each<[string, Partial<AcceptedDrift>]>([
    ['additional users', { present: set('x') }],
    ['missing users', { absent: set('a') }],
    ['the name', { name: true }],
    ['the spokeId', { spokeId: true }],
  ])('an accepted drift stays if it consists only of %s', (_, one) => {
    const alone = acceptedDrift({ ...NOTHING, ...one });
    expect(valid({}, alone)).toEqual(alone);
  });

  it('users that no longer differ are removed from the accepted drift', () => {
    expect(valid({}, acceptedDrift(), wanted('xb'))).toEqual(
      acceptedDrift({ present: set(''), absent: set('') }),
    );
  });

  it('validAcceptedDrift returns undefined if no part of the drift is still accepted', () => {
    expect(valid({}, acceptedDrift({ name: false, spokeId: false }), wanted('xb'))).toBeUndefined();
    expect(validAcceptedDrift(undefined, latestStamps(), wanted(''))).toBeUndefined();
    // With policy `report`, any newer directory event ends the acceptance.
    expect(valid({ newest: at('6') }, acceptedDrift({ policy: 'report' }))).toBeUndefined();
  });
});
