import { expect, it } from 'vitest';
import { roleId } from '../../shared/domain/ids.ts';
import type { GroupClient } from '../../shared/platform/group-client.ts';
import { feedPages, recordOf } from '../../shared/platform/records.ts';

const VAST = `x${'🚀'.repeat(150_000)}`;

async function eventOf(event: object) {
  async function* follow() {
    yield { events: [{ id: 'e1', ...event }], next: 'c1', done: true };
  }
  const client = { activity: { follow } } as unknown as GroupClient;
  for await (const { events } of feedPages(client, { cursor: 'c0' }, (run) => run())) return events[0];
  throw new Error('expected a page');
}

it('long texts of an activity event are shortened to a size that can be stored', async () => {
  const event = await eventOf({
    id: VAST,
    event_type: VAST,
    timestamp: VAST,
    initiator: { type: VAST, role: VAST, display_name: VAST },
  });
  expect(JSON.stringify(event).length).toBeLessThan(1_500);
  expect(event?.actor?.name?.isWellFormed()).toBe(true);
  const another = await eventOf({ id: `${VAST}y` });
  expect(another?.id).not.toBe(event?.id);
});

it('a subject without an id in an activity event is not a group', async () => {
  const subjects = [
    { type: 'GROUP', instance: '' },
    { type: 'GROUP', instance: 'g1' },
  ];
  expect((await eventOf({ subjects }))?.groups).toEqual(['g1']);
});

it('an empty userId of an employee is dropped', () => {
  const role = roleId('r1');
  expect(recordOf({ id: role, userId: '' } as never, [])).not.toHaveProperty('userId');
  expect(recordOf({ id: role, userId: 'u1' } as never, [])).toMatchObject({ userId: 'u1' });
});
