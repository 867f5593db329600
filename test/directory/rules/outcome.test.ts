import { expect, it } from 'vitest';
import { outcomeOf } from '../../../shared/directory/rules/outcome.ts';
import type { MemberDifference } from '../../../shared/directory/rules/read.ts';
import { type MemberId, memberId } from '../../../shared/domain/ids.ts';

const NOW_MS = Date.UTC(2026, 10, 20, 10);
const MINUTE_MS = 60_000;
const [ANN, BOB] = [memberId('ann'), memberId('bob')];
const NONE: MemberDifference = { added: [], removed: [], isNamed: false, isSuperseded: false };

const many = (count: number): MemberId[] =>
  Array.from({ length: count }, (_, index) => memberId(`m${index}`));
const minutesAgo = (...minutes: readonly number[]) => minutes.map((ago) => NOW_MS - ago * MINUTE_MS);

interface Case {
  readonly members?: readonly MemberId[];
  readonly isShort?: boolean;
  readonly difference?: Partial<MemberDifference>;
  readonly shortMs?: readonly number[];
  readonly isCounted?: boolean;
  readonly unconfirmed?: { readonly content: string; readonly sinceMs: number };
}

const decide = ({ members = [ANN], isShort = false, isCounted = true, difference = {}, ...known }: Case) => {
  const read = { name: 'Sales', members: new Set(members), isShort, isCounted, content: members.join() };
  return outcomeOf(read, { ...NONE, ...difference }, known, { nowMs: NOW_MS, lagMs: 0 });
};

const ADDITION = { kind: 'changes', isNamed: false, added: [ANN], removed: [] };

it('a read without a difference has the outcome equal', () => {
  expect(decide({})).toEqual({ kind: 'equal' });
});

it('the outcome is a snapshot for a group of up to 1,000 members', () => {
  expect(decide({ difference: { removed: [BOB] } })).toEqual({ kind: 'snapshot', members: [ANN] });
  expect(decide({ members: many(1_000), difference: { removed: [BOB] } }).kind).toBe('snapshot');
});

it('the outcome for a group of more than 1,000 members contains only the changes', () => {
  const outcome = decide({ members: many(1_001), difference: { added: [ANN], removed: [BOB] } });
  expect(outcome).toEqual({ ...ADDITION, removed: [BOB] });
});

it('the outcome is another read if a later event explains the whole difference', () => {
  expect(decide({ difference: { isSuperseded: true } })).toEqual({ kind: 'again', because: 'superseded' });
});

const difference = { added: [ANN], removed: [BOB] };

it('after the first short listing, no event is sent and the group is read again', () => {
  expect(decide({ isShort: true, difference })).toEqual({ kind: 'again', because: 'short' });
  expect(decide({ isShort: true })).toEqual({ kind: 'again', because: 'short' });
});

it('the third short listing within an hour adds members and removes none', () => {
  const shortMs = minutesAgo(20, 10);
  expect(decide({ isShort: true, difference, shortMs })).toEqual({ ...ADDITION, keepsBecause: 'short' });
  const onlyRemovals = { isShort: true, difference: { removed: [BOB] }, shortMs };
  expect(decide(onlyRemovals)).toEqual({ kind: 'again', because: 'short' });
});

it('short listings of more than an hour ago do not count', () => {
  const shortMs = minutesAgo(61, 10);
  expect(decide({ isShort: true, difference, shortMs })).toEqual({ kind: 'again', because: 'short' });
});

const AGAIN = { kind: 'again', because: 'unconfirmed' };
const NO_ONE: Case = { members: [], difference: { removed: [ANN, BOB] } };
const UNCOUNTED: Case = { isCounted: false, difference: { removed: [BOB] } };

it.each<[string, Case, string, readonly MemberId[]]>([
  ['without members', NO_ONE, '', []],
  ['without a count', UNCOUNTED, 'ann', [ANN]],
])('a list %s removes members only if a read ten minutes later agrees', (_, unsure, content, members) => {
  const decideAfter = (minutes: number, first = content) =>
    decide({ ...unsure, unconfirmed: { content: first, sinceMs: NOW_MS - minutes * MINUTE_MS } });
  expect(decide(unsure)).toEqual(AGAIN);
  expect(decideAfter(9)).toEqual(AGAIN);
  expect(decideAfter(60, 'bob')).toEqual(AGAIN);
  expect(decideAfter(10)).toEqual({ kind: 'snapshot', members });
});

it('an unconfirmed list adds members and removes none', () => {
  expect(decide({ ...UNCOUNTED, difference })).toEqual({ ...ADDITION, keepsBecause: 'unconfirmed' });
});

it('a list that removes no member needs no confirmation', () => {
  expect(decide({ members: [], difference: { isNamed: true } })).toEqual({ kind: 'snapshot', members: [] });
  const added = { isCounted: false, difference: { added: [ANN] } };
  expect(decide(added)).toEqual({ kind: 'snapshot', members: [ANN] });
});
