import { expect, it } from 'vitest';
import { createTestEngine } from '../support/engine/test-engine.ts';

it('the users of a write of more than 32 users are stored in chunks that expire with the audit entry', async () => {
  const engine = await createTestEngine();
  const many = Array.from({ length: 40 }, (_, index) => `m${index}`);
  await engine.hire(...many);
  await engine.deliver({ snapshot: 'g', of: many });
  const [created] = await engine.audit('g');
  const chunks = [...engine.world.table.items.values()].filter(({ sk }) => sk.startsWith('STEP#'));
  expect(created?.step).toMatchObject({ before: '-', chunks: { chunks: 1 } });
  expect(chunks.map(({ text, expiresAt }) => [String(text).split('\n').length, typeof expiresAt])).toEqual([
    [40, 'number'],
  ]);
});
