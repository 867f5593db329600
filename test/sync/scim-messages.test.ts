import { expect, it } from 'vitest';
import { ingest } from '../../shared/sync/ingest/ingest.ts';
import { createTestEngine } from '../support/engine/test-engine.ts';

const resource = (members: readonly string[], place: object) =>
  JSON.stringify({
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
    id: 'scim-17',
    externalId: 'g',
    displayName: 'Sales',
    members: members.map((id) => ({ value: id, display: `${id}@acme.test` })),
    ...place,
  });
const patch = (members: readonly string[], place: object) =>
  JSON.stringify({
    schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
    groupId: 'g',
    id: 'g',
    Operations: [
      { op: 'replace', path: 'displayName', value: 'Sales' },
      {
        op: 'replace',
        path: 'members',
        value: members.map((id) => ({ value: id, display: `${id}@acme.test` })),
      },
    ],
    ...place,
  });

const TIME = { time: '2026-11-20T09:00:00Z' };

it.each([
  ['of a Group with equal times', resource, TIME, ['m1', 'm2']],
  ['of a Group with equal times, of which m2 arrives first', resource, TIME, ['m2', 'm1']],
  ['of a Group without times, sent in one millisecond', resource, {}, ['m1', 'm2']],
  ['of a PatchOp that repeats the id of its group', patch, TIME, ['m1', 'm2']],
  ['of a PatchOp with the id of another resource', patch, { id: 'scim-17' }, ['m1', 'm2']],
] as const)(
  'after two lists of members %s, the group has the list with the higher message id, and not a mixture',
  async (...of) => {
    const [, bodyOf, place, arrivals] = of;
    const { world, deliver, shown, hire } = await createTestEngine();
    await hire('ann', 'bob');
    const bodies = { m1: bodyOf(['ann'], place), m2: bodyOf(['bob'], place) };
    const sentAtMs = world.nowMs();
    for (const messageId of arrivals) {
      await ingest([{ messageId, body: bodies[messageId], sentAtMs }], world.toolPorts);
      await deliver();
    }
    expect(shown('g')).toEqual([['u-bob']]);
  },
);

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
