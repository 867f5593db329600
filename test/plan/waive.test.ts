import { describe, expect, it } from 'vitest';
import { memberId, platformUserId } from '../../shared/domain/ids.ts';
import { makeStamp, STAMP_ZERO } from '../../shared/domain/stamp.ts';
import type { Waiver } from '../../shared/domain/waiver.ts';
import type { WantedGroup } from '../../shared/plan/draft.ts';
import { type Newness, standingWaiver, waive } from '../../shared/plan/waive.ts';

const at = (second: number) => makeStamp({ time: `2026-11-20T10:00:0${second}Z`, id: 'e', source: 's' });
const [one, two, three] = [at(1), at(2), at(3)];
const users = (...ids: string[]) => new Set(ids.map(platformUserId));
const nothing: Waiver = {
  policy: 'adopt',
  seen: two,
  present: users(),
  absent: users(),
  name: false,
  spokeId: false,
};
const wanted = (...ids: string[]): WantedGroup => ({
  name: 'Eng',
  spokeId: 'g1',
  users: new Map(ids.map((id) => [platformUserId(id), memberId(id)])),
});
const newness = (change: Partial<Newness> = {}): Newness => ({
  newest: one,
  name: one,
  snapshot: STAMP_ZERO,
  departed: new Map(),
  user: () => one,
  ...change,
});

describe('waive', () => {
  it('turns differences into what stands', () => {
    const waiver = waive({
      policy: 'report',
      seen: two,
      earlier: undefined,
      differences: [
        { kind: 'name', before: 'a', after: 'b' },
        { kind: 'spoke_id', before: 'a', after: 'b' },
        { kind: 'members_added', before: [], after: ['in'] },
        { kind: 'members_removed', before: ['out'], after: [] },
      ],
    });
    expect(waiver).toEqual({
      policy: 'report',
      seen: two,
      present: users('in'),
      absent: users('out'),
      name: true,
      spokeId: true,
    });
  });

  it('waives only what was found', () => {
    const input = { policy: 'adopt', seen: two, earlier: undefined } as const;
    expect(waive({ ...input, differences: [] })).toEqual(nothing);
    expect(waive({ ...input, differences: [{ kind: 'deleted', before: 'p', after: null }] })).toEqual(
      nothing,
    );
    expect(waive({ ...input, differences: [{ kind: 'members_added', before: [], after: null }] })).toEqual(
      nothing,
    );
  });

  it('adds to what was waived before, and somebody who comes back is no difference any more', () => {
    const earlier = { ...nothing, present: users('p'), absent: users('q'), name: true, seen: three };
    const waiver = waive({
      policy: 'adopt',
      seen: two,
      earlier,
      differences: [
        { kind: 'members_added', before: [], after: ['q', 'r'] },
        { kind: 'members_removed', before: ['p', 's'], after: [] },
      ],
    });
    expect(waiver).toEqual({ ...nothing, seen: three, name: true, present: users('r'), absent: users('s') });
  });
});

describe('standingWaiver', () => {
  it('is nothing where nothing was waived or nothing of it is left', () => {
    expect(standingWaiver(undefined, newness(), wanted())).toBeUndefined();
    expect(standingWaiver(nothing, newness(), wanted())).toBeUndefined();
  });

  it('stands until the directory speaks of the very thing, where the policy is adopt', () => {
    const waiver = { ...nothing, present: users('in'), absent: users('out'), name: true, spokeId: true };
    const stands = (change: Partial<Newness>, ...want: string[]) =>
      standingWaiver(waiver, newness(change), wanted(...want));
    expect(stands({ newest: three }, 'out')).toEqual(waiver);
    expect(stands({ name: two, user: () => two }, 'out')).toEqual(waiver);
    expect(stands({ name: three }, 'out')).toEqual({ ...waiver, name: false });
    expect(stands({ user: () => three }, 'out')).toEqual({ ...waiver, absent: users() });
    expect(stands({ user: () => undefined }, 'out')).toEqual(waiver);
    expect(stands({}, 'in', 'out')).toEqual({ ...waiver, present: users() });
    expect(stands({})).toEqual({ ...waiver, absent: users() });
  });

  it.each([
    ['somebody who is in', { present: users('in') }],
    ['somebody who is out', { absent: users('out') }],
    ['a name', { name: true }],
    ['a spokeId', { spokeId: true }],
  ])('stands for %s alone', (_, change) => {
    const waiver = { ...nothing, ...change };
    expect(standingWaiver(waiver, newness(), wanted('out'))).toEqual(waiver);
  });

  it('ends with any newer word about the group, where the policy is report', () => {
    const waiver = { ...nothing, policy: 'report', name: true } as const;
    expect(standingWaiver(waiver, newness({ newest: two }), wanted())).toEqual(waiver);
    expect(standingWaiver(waiver, newness({ newest: three }), wanted())).toBeUndefined();
  });
});
