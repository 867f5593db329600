import { expect, it } from 'vitest';
import { type OpenMove, platformAttributes } from '../../shared/domain/group-state.ts';
import { connectionName, groupId } from '../../shared/domain/ids.ts';
import { STAMP_ZERO } from '../../shared/domain/stamp.ts';
import { createGroupStore } from '../../shared/store/group-store.ts';
import {
  AUDIT_PREFIX,
  driftKey,
  groupKey,
  MEMBER_PREFIX,
  PLATFORM_PREFIXES,
} from '../../shared/store/keys.ts';
import type { Value } from '../../shared/store/table.ts';
import { tableOf } from '../../simulate/engine.ts';
import { MemoryTable } from '../../simulate/table.ts';

const connection = connectionName('default');
const [old, next] = [groupId('old'), groupId('next')].map((group) => ({ connection, group })) as [Ref, Ref];
type Ref = Parameters<typeof groupKey>[0];
const [OLD, NEXT] = [groupKey(old), groupKey(next)];
const move = { from: old.group, to: next.group, source: 'scim', sinceMs: 5, floor: STAMP_ZERO } as const;
const dirty = { nowMs: 9, wakeAtMs: 9 };

const sample = (name: string): Value => {
  if (name === 'openDrift') return ['d'];
  return name === 'unattributed' ? ['d', 'e'] : { of: name };
};
const STATE = Object.fromEntries(platformAttributes().map((name) => [name, sample(name)]));
/** Items in the partition of the old group. The first ones belong to the platform group. */
const CHUNKS = [...PLATFORM_PREFIXES.map((prefix) => `${prefix}1`), `${MEMBER_PREFIX}m`, `${AUDIT_PREFIX}1`];

function world() {
  const table = new MemoryTable();
  table.store({ ...OLD, rev: 3, upserted: 'u', lastAudit: 'a', ...STATE });
  table.store({ ...NEXT, rev: 1, upserted: 'v', missingSince: 1 });
  for (const sk of CHUNKS) table.store({ pk: OLD.pk, sk, text: sk });
  table.store({ ...driftKey(old, 'd'), group: old.group });
  let writes = 0;
  /** Moves with a worker that dies before its next write after `most` writes. */
  const moveWith = async (most = Number.POSITIVE_INFINITY, one: OpenMove = move) => {
    writes = 0;
    const effect = async (kind: string) => {
      if (/^(get|query)/.test(kind)) return;
      if (writes >= most) throw new Error('it dies here');
      writes += 1;
    };
    const worker = { name: 'w', skewMs: 0, effect, isDead: () => false };
    return createGroupStore(tableOf(table, worker, () => 'none')).move(connection, one, dirty);
  };
  return { table, moveWith };
}

it('a move takes every attribute and item of the platform group, whatever write its workers die before', async () => {
  const { table, moveWith } = world();
  let deaths = 0;
  for (; deaths < 50; deaths += 1) {
    const isMoved = await moveWith(deaths).catch(() => 'died');
    const [one, other] = [table.look(OLD), table.look(NEXT)];
    // One of the groups has the whole state, and at most one may write the platform group.
    const isWhole = (item = {}) => Object.keys(STATE).every((name) => name in item);
    expect([one, other].some(isWhole)).toBe(true);
    expect([one, other].filter((item) => item?.['link'] && !item['openMove']).length).toBeLessThan(2);
    if (isMoved === true) break;
  }
  expect(deaths).toBeGreaterThan(6);
  const link = { of: 'link', takeOver: true };
  expect(table.look(NEXT)).toEqual({
    ...table.look(NEXT),
    ...STATE,
    link,
    upserted: 'v',
    movedAt: 5,
    movedFloor: '',
  });
  expect(table.look(OLD)).toMatchObject({ upserted: 'u', lastAudit: 'a', released: true, movedTo: 'next' });
  for (const name of ['openMove', ...platformAttributes()]) expect(table.look(OLD)).not.toHaveProperty(name);
  expect(CHUNKS.filter((sk) => table.look({ pk: NEXT.pk, sk }))).toEqual(CHUNKS.slice(0, -2));
  expect([table.look(driftKey(next, 'd'))?.['group'], table.look(driftKey(old, 'd'))]).toEqual([
    'next',
    undefined,
  ]);
  // A worker that is late changes nothing.
  const [left, moved] = [table.look(OLD), table.look(NEXT)];
  expect(await moveWith()).toBe(true);
  expect([table.look(OLD), table.look(NEXT)]).toEqual([left, moved]);
});

it('a worker that is late with a move leaves the platform group with the group to which a later move took it', async () => {
  const { table, moveWith } = world();
  await moveWith();
  const back = { ...move, from: next.group, to: old.group, sinceMs: 6 };
  expect(await moveWith(undefined, back)).toBe(true);
  const [owner, former] = [table.look(OLD), table.look(NEXT)];
  expect(owner).toMatchObject({ link: { of: 'link' } });
  await moveWith();
  expect([table.look(OLD), table.look(NEXT)]).toEqual([owner, former]);
});

it.each([
  ['the new group has a platform group', NEXT, { link: { id: 'p' } }, false],
  ['an operator released the old group', OLD, { released: true }, false],
  ['the new group has an open write', NEXT, { intent: { id: 'i' } }, undefined],
  ['the old group belongs to another open move', OLD, { openMove: { sinceMs: 4 } }, undefined],
])('a move has no effect if %s', async (_, key, set, outcome) => {
  const { table, moveWith } = world();
  table.change(key, { set });
  expect(await moveWith()).toBe(outcome);
  expect(table.look(OLD)).toMatchObject(STATE);
  if (outcome === false) expect(table.look(NEXT)).not.toHaveProperty('openMove');
});
