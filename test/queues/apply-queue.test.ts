import { describe, expect, it } from 'vitest';
import { connectionName, groupId } from '../../shared/domain/ids.ts';
import { createApplyQueue } from '../../shared/queues/apply-queue.ts';
import { fakeSqs } from './fake-sqs.ts';

const ref = (group: string, connection = 'default') => ({
  connection: connectionName(connection),
  group: groupId(group),
});

function queueAt(coalesceMs: number, refused?: string) {
  const sqs = fakeSqs(({ MessageBody = '' }) => refused !== undefined && MessageBody.includes(refused));
  let nowMs = 0;
  let ids = 0;
  const queue = createApplyQueue(sqs.client, {
    queueUrl: 'url',
    coalesceMs,
    clock: () => nowMs,
    newId: () => `id-${++ids}`,
  });
  const wakeAt = async (ms: number, group = 'g1', connection?: string) => {
    nowMs = ms;
    await queue.wake([ref(group, connection)]);
    return sqs.sent().at(-1)?.MessageDeduplicationId;
  };
  return { ...sqs, queue, wakeAt };
}

describe('wake-ups of one group', () => {
  it('are one message within a window and another in the next', async () => {
    const { wakeAt } = queueAt(5_000);
    const first = await wakeAt(10_000);
    expect(await wakeAt(14_999)).toBe(first);
    expect(await wakeAt(15_000)).not.toBe(first);
  });

  it('are never one message with those of another group, connection or window length', async () => {
    const { wakeAt } = queueAt(5_000);
    const ids = [await wakeAt(0), await wakeAt(0, 'g2'), await wakeAt(0, 'g1', 'other')];
    const others = queueAt(4_000);
    ids.push(await others.wakeAt(0));
    expect(new Set(ids).size).toBe(4);
  });

  it('each count where there is no window', async () => {
    const { wakeAt } = queueAt(0);
    expect([await wakeAt(0), await wakeAt(0)]).toEqual(['id-1', 'id-2']);
  });

  it('read the clock when they are sent, not before', async () => {
    const { client, sent } = fakeSqs();
    const times = [0, 5_000];
    const queue = createApplyQueue(client, {
      queueUrl: 'url',
      coalesceMs: 5_000,
      clock: () => times.shift() ?? 0,
      newId: () => '',
    });
    await queue.wake([ref('g1')]);
    await queue.wake([ref('g1')]);
    const [first, second] = sent();
    expect(first?.MessageDeduplicationId).not.toBe(second?.MessageDeduplicationId);
  });

  it('have lanes and ids that SQS takes, whatever the directory calls its groups', async () => {
    const { queue, sent } = queueAt(5_000);
    await queue.wake([ref('Vertrieb – Süd #1 🚀'), ref('a:b', 'c'), ref('b', 'c')]);
    const lanes = sent().map(({ MessageGroupId }) => MessageGroupId);
    expect(new Set(lanes).size).toBe(3);
    for (const { MessageGroupId, MessageDeduplicationId } of sent()) {
      expect(MessageGroupId).toMatch(/^[0-9a-f]{64}$/);
      expect(MessageDeduplicationId).toMatch(/^[0-9a-f]{64}$/);
    }
  });

  it('that SQS does not take are named', async () => {
    const { queue } = queueAt(5_000, '"bad"');
    expect(await queue.wake([ref('good'), ref('bad')])).toEqual([ref('bad')]);
  });
});
