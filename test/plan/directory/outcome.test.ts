import { describe, expect, it } from 'vitest';
import { type MemberId, memberId } from '../../../shared/domain/ids.ts';
import { outcomeOf } from '../../../shared/plan/directory/outcome.ts';
import type { Difference } from '../../../shared/plan/directory/read.ts';

const NOW_MS = Date.UTC(2026, 10, 20, 10);
const MINUTE_MS = 60_000;
const [ANN, BOB] = [memberId('ann'), memberId('bob')];
const NONE: Difference = { added: [], removed: [], isNamed: false, isSuperseded: false };

const many = (count: number): MemberId[] =>
  Array.from({ length: count }, (_, index) => memberId(`m${index}`));
const minutesAgo = (...minutes: readonly number[]) => minutes.map((ago) => NOW_MS - ago * MINUTE_MS);

interface Case {
  readonly members?: readonly MemberId[];
  readonly isShort?: boolean;
  readonly difference?: Partial<Difference>;
  readonly shortMs?: readonly number[];
  readonly emptyMs?: number;
}

const decide = ({ members = [ANN], isShort = false, difference = {}, ...known }: Case) =>
  outcomeOf({ name: 'Sales', members: new Set(members), isShort }, { ...NONE, ...difference }, known, {
    nowMs: NOW_MS,
    lagMs: 0,
  });

describe('outcome of a read', () => {
  it('a read without a difference has the outcome equal', () => {
    expect(decide({})).toEqual({ kind: 'equal' });
  });

  it('the outcome is a snapshot for a group of up to 1,000 members', () => {
    expect(decide({ difference: { removed: [BOB] } })).toEqual({ kind: 'snapshot', members: [ANN] });
    expect(decide({ members: many(1_000), difference: { removed: [BOB] } }).kind).toBe('snapshot');
  });

  it('the outcome for a group of more than 1,000 members contains only the changes', () => {
    const outcome = decide({ members: many(1_001), difference: { added: [ANN], removed: [BOB] } });
    expect(outcome).toEqual({
      kind: 'changes',
      isNamed: false,
      added: [ANN],
      removed: [BOB],
      isShort: false,
    });
  });

  it('the outcome is another read if a later event explains the whole difference', () => {
    expect(decide({ difference: { isSuperseded: true } })).toEqual({ kind: 'again', because: 'superseded' });
  });
});

describe('listing with fewer users than the directory counts', () => {
  const difference = { added: [ANN], removed: [BOB] };

  it('after the first short listing, no event is sent and the group is read again', () => {
    expect(decide({ isShort: true, difference })).toEqual({ kind: 'again', because: 'short' });
    expect(decide({ isShort: true })).toEqual({ kind: 'again', because: 'short' });
  });

  it('the third short listing within an hour adds members and removes none', () => {
    const shortMs = minutesAgo(20, 10);
    expect(decide({ isShort: true, difference, shortMs })).toEqual({
      kind: 'changes',
      isNamed: false,
      added: [ANN],
      removed: [],
      isShort: true,
    });
    const onlyRemovals = { isShort: true, difference: { removed: [BOB] }, shortMs };
    expect(decide(onlyRemovals)).toEqual({ kind: 'again', because: 'short' });
  });

  it('short listings of more than an hour ago do not count', () => {
    const shortMs = minutesAgo(61, 10);
    expect(decide({ isShort: true, difference, shortMs })).toEqual({ kind: 'again', because: 'short' });
  });
});

describe('outcome of a read without members', () => {
  const emptied = { members: [], difference: { removed: [ANN, BOB] } };

  it('an empty group is read again before a member is removed', () => {
    expect(decide(emptied)).toEqual({ kind: 'again', because: 'empty' });
    expect(decide({ ...emptied, emptyMs: NOW_MS - 9 * MINUTE_MS })).toEqual({
      kind: 'again',
      because: 'empty',
    });
  });

  it('an empty group is sent as a snapshot if a read ten minutes later is empty too', () => {
    const confirmed = { ...emptied, emptyMs: NOW_MS - 10 * MINUTE_MS };
    expect(decide(confirmed)).toEqual({ kind: 'snapshot', members: [] });
  });

  it('an empty group is sent as a snapshot immediately if it had no members before', () => {
    expect(decide({ members: [], difference: { isNamed: true } })).toEqual({ kind: 'snapshot', members: [] });
  });
});
