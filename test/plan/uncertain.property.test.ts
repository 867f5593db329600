import fc from 'fast-check';
import { expect, it } from 'vitest';
import { eachField } from '../../shared/domain/group-fields.ts';
import type { Intent } from '../../shared/domain/group-state.ts';
import { intentId, platformUserId, versionToken } from '../../shared/domain/ids.ts';
import type { ObservedGroup, View } from '../../shared/domain/view.ts';
import { externalDifferences } from '../../shared/plan/external-change.ts';
import {
  changeBetween,
  changedView,
  lateWrites,
  mergeUncertain,
  rebasedRecord,
  type UncertainWrites,
  uncertainWrite,
} from '../../shared/plan/uncertain.ts';

const users = fc.subarray([...'abcdef'].map(platformUserId));
const name = fc.constantFrom('A', 'B', 'C');
const content = fc.record({ name, users });
const viewOf = ({
  name,
  users: of,
}: {
  name: string;
  users: readonly ReturnType<typeof platformUserId>[];
}): View => ({
  name,
  spokeId: 'g',
  users: new Map(of.map((user) => [user, true])),
});
const asShown = ({ name, spokeId, users: of }: View): ObservedGroup => ({
  id: 'p',
  name,
  spokeId,
  users: [...of.keys()],
  version: versionToken('v'),
});
const record = (id: string, before: View, after: View, how: object = {}): UncertainWrites => {
  const intent: Intent = { id: intentId(id), action: 'put', atMs: 0, name: after.name, spokeId: 'g' };
  return uncertainWrite(intent, changeBetween(before, after), { untilMs: 0, ...how });
};
/** Draws writes that all start from the same view, in their order. */
const writes = (most: number) =>
  fc.tuple(
    content.map(viewOf),
    fc.array(
      fc.record({
        after: content.map(viewOf),
        untilMs: fc.nat(9),
        removals: fc.option(fc.nat(5), { nil: undefined }),
        isAnswered: fc.boolean(),
      }),
      { minLength: 1, maxLength: most },
    ),
  );
const recordsOf = ([base, all]: [
  View,
  readonly { after: View; untilMs: number; removals: number | undefined; isAnswered: boolean }[],
]) =>
  all.map(({ after, untilMs, removals, isAnswered }, at) =>
    record(`i${at}`, base, after, {
      untilMs,
      ...(removals !== undefined && { removals: { intent: intentId(`i${at}`), atMs: at, removals } }),
      ...(isAnswered && { isAnswered }),
    }),
  );
const merged = (records: readonly UncertainWrites[]) => records.reduce(mergeUncertain);
/** Sorts the lists, because their order has no meaning. */
const sorted = ({ sent, change, ...others }: UncertainWrites) => ({
  ...others,
  sent: eachField((field) => [...sent[field]].sort()),
  added: [...change.added].sort(),
  removed: [...change.removed].sort(),
});
const foreignTo = (base: View, { change, ...stored }: UncertainWrites, shown: View) => {
  const observed = asShown(shown);
  return externalDifferences([base], observed, { late: lateWrites(stored, change, observed, base) });
};

it('the view before a write, with the change of its intent, equals the view after the write', () => {
  fc.assert(
    fc.property(content.map(viewOf), content.map(viewOf), fc.boolean(), (before, after, hasAlias) => {
      const base: View = hasAlias ? { ...before, alias: 'a' } : before;
      const intent: Intent = { id: intentId('i'), action: 'patch', atMs: 0, name: after.name, spokeId: 'g' };
      const made = changedView(base, intent, changeBetween(base, after));
      expect(made).toEqual(base.name === after.name ? { ...base, users: after.users } : after);
      expect(changedView(base, { ...intent, action: 'delete' })).toBeUndefined();
    }),
  );
});

it('the record does not depend on the grouping in which its parts are merged', () => {
  fc.assert(
    fc.property(writes(6), fc.nat(4), (drawn, at) => {
      const all = recordsOf(drawn);
      const [left, right] = [all.slice(0, at + 1), all.slice(at + 1)];
      const grouped = right.length === 0 ? merged(left) : mergeUncertain(merged(left), merged(right));
      expect(sorted(grouped)).toEqual(sorted(merged(all)));
    }),
  );
});

it('the record of merged writes keeps every user, the latest deadline and the largest guard record', () => {
  fc.assert(
    fc.property(writes(6), (drawn) => {
      const all = recordsOf(drawn);
      const { change, untilMs, removals, isAnswered = false, sent } = merged(all);
      for (const one of all) {
        for (const user of one.change.added) expect(change.added.has(user)).toBe(true);
        for (const user of one.change.removed) expect(change.removed.has(user)).toBe(true);
        for (const name of one.sent.name) expect(sent.name).toContain(name);
        expect(untilMs).toBeGreaterThanOrEqual(one.untilMs);
        expect(removals?.removals ?? 0).toBeGreaterThanOrEqual(one.removals?.removals ?? 0);
      }
      expect(isAnswered).toBe(all.every((one) => one.isAnswered === true));
    }),
  );
});

it('the record explains the result of each of its writes, even after later changes of the group', () => {
  const moves = fc.array(content.map(viewOf), { maxLength: 4 });
  fc.assert(
    fc.property(writes(4), moves, fc.nat(3), (drawn, later, which) => {
      let [base] = drawn;
      const landed = drawn[1][which % drawn[1].length]?.after ?? base;
      let known = merged(recordsOf(drawn));
      for (const next of later) {
        known = rebasedRecord(known, base, next);
        base = { ...next, name: base.name };
      }
      expect(foreignTo(base, known, landed)).toEqual([]);
    }),
  );
});

it('the record explains no change of a user that is in no write and in no later change', () => {
  const [a, x] = ['a', 'x'].map((one) => viewOf({ name: 'A', users: [platformUserId(one)] })) as [View, View];
  const ab = viewOf({ name: 'A', users: ['a', 'b'].map(platformUserId) });
  expect(foreignTo(a, record('i', a, ab), x)).toEqual([
    { kind: 'members_added', before: [], after: ['x'] },
    { kind: 'members_removed', before: ['a'], after: [] },
  ]);
});

it('the record keeps the latest write and the latest deletion', () => {
  const view = viewOf({ name: 'A', users: [] });
  const deletion = uncertainWrite(
    { id: intentId('d'), action: 'delete', atMs: 0, name: '', spokeId: '' },
    changeBetween(view, undefined),
    { untilMs: 1 },
  );
  const all = [record('i1', view, view), deletion, record('i2', view, view)];
  expect(merged(all)).toMatchObject({ write: { id: 'i2' }, deletion: { id: 'd' } });
});
