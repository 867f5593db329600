import { expect, it } from 'vitest';
import type { DirectoryChange, DirectoryEvent } from '../../shared/domain/event.ts';
import { attributesOf, foldEvents } from '../../shared/domain/fold.ts';
import { connectionName, groupId, memberId } from '../../shared/domain/ids.ts';
import { makeStamp, STAMP_ZERO } from '../../shared/domain/stamp.ts';

const A = groupId('a');
const M = memberId('m');
const at = (second: number, id = 'e') =>
  makeStamp({ time: `2026-11-20T10:00:${String(second).padStart(2, '0')}Z`, id, source: 's' });
const event = (second: number, change: DirectoryChange, connection = 'one'): DirectoryEvent => ({
  connection: connectionName(connection),
  id: 'e',
  source: 's',
  stamp: at(second),
  change,
});
const plain = (id: typeof M) => ({ id, attributes: new Map<string, string>() });
const foldOne = (...events: readonly DirectoryEvent[]) => {
  const fold = foldEvents(events).get(connectionName('one'));
  if (fold === undefined) throw new Error('expected a fold');
  return fold;
};
it('events of different connections are folded separately', () => {
  const upserted = { kind: 'group.upserted', group: A, name: 'A' } as const;
  const folds = foldEvents([event(1, upserted), event(2, upserted, 'two')]);
  expect([...folds.keys()]).toEqual(['one', 'two']);
  expect(folds.get(connectionName('two'))?.groups.get(A)?.upserted).toBe(at(2));
  expect(folds.get(connectionName('one'))?.groups.get(A)?.upserted).toBe(at(1));
});

it('the fold keeps each copy of a snapshot part, and an incomplete snapshot raises no floor', () => {
  const part = { snapshotId: 'x', index: 0, count: 2 };
  const snapshot = { kind: 'group.snapshot', group: A, members: [], part } as const;
  const group = foldOne(event(1, snapshot), event(2, snapshot), event(2, snapshot)).groups.get(A);
  expect(group).toMatchObject({ snapshot: STAMP_ZERO, upserted: at(2) });
  expect([...(group?.parts.values() ?? [])]).toEqual(
    expect.arrayContaining([
      { ...part, source: 's', stamp: at(1) },
      { ...part, source: 's', stamp: at(2) },
    ]),
  );
  expect(group?.parts.size).toBe(2);
});

it('the fold has the latest value of each attribute of a user, from user events and member events', () => {
  const attributes = (entries: Record<string, string>) => new Map(Object.entries(entries));
  const said = [
    event(1, {
      kind: 'user.upserted',
      user: { id: M, attributes: attributes({ email: 'old', userName: 'u' }) },
    }),
    event(2, {
      kind: 'member.removed',
      group: A,
      members: [{ id: M, attributes: attributes({ email: 'new' }) }],
    }),
    event(3, { kind: 'user.deleted', user: M }),
    event(2, { kind: 'user.deleted', user: M }),
    event(0, { kind: 'user.upserted', user: { id: M, attributes: attributes({ name: 'n', email: 'x' }) } }),
  ];
  for (const inOrder of [
    said,
    said.toReversed(),
    [...said, ...said],
    [...said.slice(2), ...said.slice(0, 2)],
  ]) {
    const user = foldOne(...inOrder).users.get(M);
    expect(user).toMatchObject({ user: M, deleted: at(3) });
    expect(user && attributesOf(user)).toEqual(
      new Map([
        ['email', { value: 'new', stamp: at(2) }],
        ['userName', { value: 'u', stamp: at(1) }],
        ['name', { value: 'n', stamp: at(0) }],
      ]),
    );
  }
});

it('later events do not change the stored attributes of the first event', () => {
  const said = new Map([['email', 'e']]);
  const more = new Map([['email', 'later']]);
  const user = foldOne(
    event(1, { kind: 'user.upserted', user: { id: M, attributes: said } }),
    event(2, { kind: 'user.upserted', user: { id: M, attributes: more } }),
  ).users.get(M);
  expect(user).toMatchObject({ attributesStamp: at(1) });
  expect(user?.attributes).toBe(said);
});

it('a membership event without attributes creates no record of the user', () => {
  const fold = foldOne(event(1, { kind: 'member.added', group: A, members: [plain(M)] }));
  expect([...fold.users]).toEqual([]);
  expect([...(fold.groups.get(A)?.members.keys() ?? [])]).toEqual([M]);
});
