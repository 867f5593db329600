import { expect, it } from 'vitest';
import { ingest } from '../../shared/sync/ingest/ingest.ts';
import { createTestEngine } from '../support/engine/test-engine.ts';

it('a user that Okta deactivates leaves the groups, and returns after the reactivation', async () => {
  const { world, deliver, shown, hire } = await createTestEngine();
  await hire('ann', 'bob');
  await deliver({ snapshot: 'g', of: ['ann', 'bob'] });
  const okta = async (eventType: string) => {
    world.advance(60_000);
    const published = new Date(world.nowMs()).toISOString();
    const body = JSON.stringify({
      uuid: eventType,
      published,
      eventType,
      target: [{ type: 'User', id: 'ann' }],
    });
    await ingest([{ messageId: eventType, body, sentAtMs: world.nowMs() }], world.toolPorts);
    await deliver();
    return shown('g');
  };
  expect(await okta('user.lifecycle.deactivate')).toEqual([['u-bob']]);
  expect(await okta('user.lifecycle.activate')).toEqual([['u-ann', 'u-bob']]);
});
