import { describe, expect, it } from 'vitest';
import type { Hold, HoldDecision } from '../../shared/domain/hold.ts';
import { platformUserId } from '../../shared/domain/ids.ts';
import { applicableHold, isOver, judgeByHold } from '../../shared/plan/hold.ts';
import { NO_PLAN } from '../../shared/plan/plan.ts';
import { guardLimits } from '../support/guard-limits.ts';

const users = (...ids: string[]) => ids.map(platformUserId);
const SET = new Set(users('a', 'b'));
const EXPIRES_MS = 1_000;

const holdWith = (decision: HoldDecision): Hold => ({
  ...{ digest: 'digest', rule: 'count', removes: 2, keeps: 0, share: 1, createdAtMs: 0 },
  ...{ expiresAtMs: EXPIRES_MS, decision, chunks: 1, hash: 'hash' },
});
const waiting = holdWith({ kind: 'waiting' });
const AFTER_REJECTION: Hold = { ...waiting, afterRejection: true };
const approved = holdWith({ kind: 'approved', by: 'Ann', reason: 'a reorganisation', atMs: 0 });
const rejected = holdWith({ kind: 'rejected', by: 'Ann', reason: 'a mistake', atMs: 0 });

const judged = (parts: Partial<ReturnType<typeof judgeByHold>>) => ({
  approved: [],
  unjudged: [],
  held: [],
  superseded: false,
  ...parts,
});

describe('judgeByHold', () => {
  it('the guard decides about removals if there is no hold', () => {
    expect(judgeByHold(users('a'), undefined, 0)).toEqual(judged({ unjudged: users('a') }));
  });

  it.each([
    ['waiting', waiting, users('a'), judged({ held: users('a') })],
    ['waiting', waiting, users('a', 'c'), judged({ held: users('a', 'c'), superseded: true })],
    ['approved', approved, users('a'), judged({ approved: users('a') })],
    ['approved', approved, users('b', 'c'), judged({ approved: users('b'), unjudged: users('c') })],
    ['rejected', rejected, users('b', 'c'), judged({ unjudged: users('c'), held: users('b') })],
  ] as const)('a hold that is %s decides about the removals $2', (_, hold, removals, verdict) => {
    expect(judgeByHold(removals, { hold, users: SET }, EXPIRES_MS - 1)).toEqual(verdict);
  });

  it.each([
    ['waiting', waiting, true],
    ['approved', approved, true],
    ['rejected', rejected, false],
  ] as const)('a hold that is %s ends at its time of expiry: $2', (_, hold, over) => {
    expect(isOver(hold, EXPIRES_MS)).toBe(over);
    expect(isOver(hold, EXPIRES_MS - 1)).toBe(false);
    expect(judgeByHold(users('a', 'c'), { hold, users: SET }, EXPIRES_MS)).toEqual(
      over
        ? judged({ held: users('a', 'c'), superseded: true })
        : judged({ unjudged: users('c'), held: users('a') }),
    );
  });
});

describe('applicableHold', () => {
  const removing = (...ids: string[]) => ({ ...NO_PLAN(undefined), removals: users(...ids) });
  const limits = guardLimits();
  const say = (hold: Hold, { removal = 'a', guard = true, nowMs = 0 }) =>
    applicableHold(
      hold,
      { users: SET, about: 'remove' },
      { plan: removing(removal, 'z'), limits: guard ? limits : null, nowMs },
    ) !== undefined;

  it.each([
    ['waiting', waiting, {}, true],
    ['waiting, with the guard off', waiting, { guard: false }, false],
    ['waiting after a rejection, with the guard off', AFTER_REJECTION, { guard: false }, true],
    ['waiting, with none of the wanted removals', waiting, { removal: 'c' }, false],
    ['approved, with the guard off', approved, { guard: false }, true],
    ['approved and expired, with the guard off', approved, { guard: false, nowMs: EXPIRES_MS }, false],
    ['approved and expired', approved, { nowMs: EXPIRES_MS }, true],
    ['rejected, with the guard off', rejected, { guard: false, nowMs: EXPIRES_MS }, true],
  ])('a hold that is %s applies: $3', (_, hold, circumstances, expected) => {
    expect(say(hold, circumstances)).toBe(expected);
  });

  it.each([undefined, 'delete'] as const)(
    'a hold whose kind of write is %s does not apply to removals',
    (about) => {
      const asked = { plan: removing('a'), limits, nowMs: 0 };
      expect(applicableHold(waiting, { users: SET, about }, asked)).toBeUndefined();
      const deleting = { ...asked, plan: { ...asked.plan, departs: true } };
      expect(applicableHold(waiting, { users: SET, about }, deleting) === undefined).toBe(
        about === undefined,
      );
    },
  );

  it('a hold of a deletion still applies after all users have left the group', () => {
    const plan = { ...NO_PLAN(undefined), action: 'delete', departs: true } as const;
    const covers = (hold: Hold, about: 'remove' | 'delete') =>
      applicableHold(hold, { users: SET, about }, { plan, limits, nowMs: 0, isEmptyDeletion: true }) !==
      undefined;
    expect([covers(waiting, 'delete'), covers(rejected, 'delete')]).toEqual([true, true]);
    expect([covers(waiting, 'remove'), covers(rejected, 'remove')]).toEqual([false, false]);
  });

  it('all removals are held again if the users of the hold cannot be read', () => {
    const unreadable = { users: undefined, about: undefined };
    const current = applicableHold(approved, unreadable, { plan: removing('a'), limits, nowMs: 0 });
    expect(judgeByHold(users('a'), current, 0)).toMatchObject({ held: users('a'), superseded: true });
  });
});
