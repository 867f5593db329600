import { expect, it } from 'vitest';
import { ingest } from '../../shared/sync/ingest/ingest.ts';
import { createTestEngine } from '../support/engine/test-engine.ts';

/**
 * Adds a member by an event whose time is `seconds` after the deletion of the user. A negative number means before the
 * deletion.
 */
async function joinedAround(seconds: number, isLate: boolean) {
  const { world, deliver, shown, hire } = await createTestEngine();
  await hire('ann', 'bob');
  await deliver({ snapshot: 'g', of: ['ann', 'bob'] });
  world.advance(60_000);
  const deletedMs = world.nowMs();
  world.advance(60_000);
  const send = async (id: string, atMs: number, type: string, data: object) => {
    const time = new Date(atMs).toISOString();
    const body = JSON.stringify({
      specversion: '1.0',
      id,
      source: 'test',
      time,
      type: `directory.${type}`,
      data,
    });
    await ingest([{ messageId: id, body, sentAtMs: world.nowMs() }], world.toolPorts);
    await deliver();
  };
  const leave = () => send('leave', deletedMs, 'user.deleted', { user: { id: 'ann' } });
  const join = () =>
    send('join', deletedMs + seconds * 1_000, 'group.member.added', {
      group: { id: 'g' },
      members: [{ id: 'ann' }],
    });
  for (const next of isLate ? [leave, join] : [join, leave]) await next();
  return shown('g');
}

it.each([true, false])(
  'a membership event with a time before the deletion of its user gives no access (arrives after the deletion: %s)',
  async (isLate) => {
    expect(await joinedAround(-1, isLate)).toEqual([['u-bob']]);
  },
);

it.each([true, false])(
  'a membership event with a time after the deletion of its user adds the user again (arrives after the deletion: %s)',
  async (isLate) => {
    expect(await joinedAround(1, isLate)).toEqual([['u-ann', 'u-bob']]);
  },
);
