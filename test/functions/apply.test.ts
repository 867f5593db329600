import { beforeEach, expect, it, vi } from 'vitest';
import { handler } from '../../functions/apply.ts';
import type { GroupRef } from '../../shared/domain/ids.ts';
import type { ApplyReport } from '../../shared/sync/apply/apply.ts';
import { StoreError } from '../../shared/sync/ports/store-errors.ts';
import { CONTEXT, fakeBase, recordOf } from './fake-base.ts';

const world = vi.hoisted(() => ({ wired: undefined as unknown, applied: [] as GroupRef[], recorded: 0 }));
vi.mock('../../shared/runtime/wire-platform.ts', () => ({ wireApply: () => world.wired }));
vi.mock('../../functions/frame/once.ts', () => ({ once: (wire: () => unknown) => wire }));
vi.mock('../../shared/sync/apply/apply.ts', () => ({
  applyGroup: async (ref: GroupRef): Promise<ApplyReport> => {
    world.applied.push(ref);
    if (ref.group.startsWith('broken')) {
      throw new StoreError('the table could not be read', { cause: new Error('of ann@acme.test') });
    }
    const outcome = ref.group as string as ApplyReport['outcome'];
    const writes = outcome === 'written' ? [{ action: 'put' as const, added: 1, removed: 0 }] : [];
    return { ref, outcome, writes, conflicts: 0, drift: [] };
  },
}));

let base: ReturnType<typeof fakeBase>;
beforeEach(() => {
  base = fakeBase();
  world.recorded = 0;
  const recordCalls = async () => {
    world.recorded += 1;
  };
  world.wired = { ...base, ports: { recordCalls } };
  world.applied = [];
});

const wake = (group: string) => recordOf(JSON.stringify({ connection: 'default', group }));

it('the apply function applies the group of each message, and acknowledges the message after every outcome', async () => {
  const outcomes = ['written', 'in_sync', 'postponed', 'failed', 'gate_closed', 'paused'];
  const answer = await handler({ Records: outcomes.map(wake) }, CONTEXT);
  expect(answer).toEqual({ batchItemFailures: [] });
  expect(world.applied.map(({ group }) => group)).toEqual(outcomes);
  // One invocation records its platform calls once, for all groups together.
  expect(world.recorded).toBe(1);
  expect(base.logged('applied')).toHaveLength(outcomes.length);
});

it('the apply function returns only the messages whose group could not be stored, and logs no error text of a library', async () => {
  const broken = wake('broken');
  const again = { ...broken, messageId: 'again' };
  const answer = await handler({ Records: [wake('written'), broken, wake('in_sync'), again] }, CONTEXT);
  const failed = [broken, again].map(({ messageId }) => ({ itemIdentifier: messageId }));
  expect(answer).toEqual({ batchItemFailures: failed });
  expect(world.applied.map(({ group }) => group)).toEqual(['written', 'broken', 'in_sync']);
  expect(base.logged('not applied')).toMatchObject([
    { level: 'error', group: 'broken', requestId: 'request-1', connection: 'default' },
  ]);
});

it.each(['', '{', '{"connection":"default"}', '{"connection":"NOT A NAME","group":"g"}', 'null'])(
  'the apply function acknowledges and logs the invalid message %j',
  async (body) => {
    expect(await handler({ Records: [recordOf(body)] }, CONTEXT)).toEqual({ batchItemFailures: [] });
    expect(world.applied).toEqual([]);
    expect(base.logged('not an apply message')).toHaveLength(1);
  },
);
