import { describe, expect, it } from 'vitest';
import { CALM_SETTINGS } from '../../../directory-simulator/engine/settings.ts';
import { filtered, NOW_MS, nextOf, type Okta, startOkta } from './fixture.ts';

const time = (ms: number) => new Date(ms).toISOString();
const LAG = { ...CALM_SETTINGS.lagSeconds, log: 180 };
const typesIn = (items: readonly Record<string, string>[]) => items.map(({ eventType }) => eventType);

/** Follows next links until a page is empty. Returns the events, and the link for the next poll. */
async function poll({ get }: Okta, start: string) {
  const events: Record<string, string>[] = [];
  for (let link = start; ; ) {
    const page = await get(link);
    expect(page.status).toBe(200);
    const next = nextOf(page);
    if (next === undefined) throw new Error('a polling request has no next link');
    events.push(...page.json);
    if (page.json.length === 0) return { events, next };
    link = next;
  }
}

describe('the log of the simulated Okta org', () => {
  it('the log has an event for each change, and the targets of a membership are its user and its group', async () => {
    const client = startOkta();
    await client.control('changes', [
      { kind: 'addMember', group: '00gnone', member: '00uann' },
      { kind: 'removeMember', group: '00gsales', member: '00uliz' },
      { kind: 'addGroup', group: { id: '00gnew', email: 'new@group.example', name: 'New' } },
      { kind: 'changeGroup', group: '00gnew', name: 'Newer' },
      { kind: 'deleteGroup', group: '00gapp' },
      { kind: 'suspendUser', user: '00uann' },
      { kind: 'unsuspendUser', user: '00uann' },
      { kind: 'archiveUser', user: '00uann' },
      { kind: 'unarchiveUser', user: '00uann' },
      { kind: 'changeUser', user: '00uann', vendorFields: { status: 'ACTIVE' } },
      { kind: 'changeUser', user: '00uann', givenName: 'Anne' },
      { kind: 'addUser', user: { id: '00unew', primaryEmail: 'new@example.com' } },
      { kind: 'deleteUser', user: '00unew' },
    ]);
    const { events } = await poll(client, 'logs');
    expect(typesIn(events)).toEqual([
      'group.user_membership.add',
      'group.user_membership.remove',
      'group.lifecycle.create',
      'group.profile.update',
      'group.lifecycle.delete',
      'user.lifecycle.suspend',
      'user.lifecycle.unsuspend',
      'user.lifecycle.deactivate',
      'user.lifecycle.reactivate',
      'user.lifecycle.activate',
      'user.account.update_profile',
      'user.lifecycle.create',
      'user.lifecycle.delete.initiated',
      'user.lifecycle.delete.completed',
    ]);
    expect(events[0]?.['target']).toEqual([
      {
        id: '00uann',
        type: 'User',
        alternateId: 'ann@login.example',
        displayName: expect.any(String),
        detailEntry: null,
      },
      { id: '00gnone', type: 'UserGroup', alternateId: 'unknown', displayName: 'Empty', detailEntry: null },
    ]);
  });

  it('the answer to a polling request always has a next link, which leads to later events', async () => {
    const client = startOkta();
    const first = await poll(client, `logs?since=${time(NOW_MS)}`);
    expect(first.events).toEqual([]);
    client.clock.ms += 60_000;
    await client.control('changes', { kind: 'deleteGroup', group: '00gapp' });
    const second = await poll(client, first.next);
    expect(typesIn(second.events)).toEqual(['group.lifecycle.delete']);
    expect((await poll(client, second.next)).events).toEqual([]);
  });

  it('the parameter since limits the time of storage in polling requests, and of publication in bounded requests', async () => {
    const client = startOkta({ settings: { lagSeconds: LAG } });
    await client.control('changes', { kind: 'deleteGroup', group: '00gapp' });
    client.clock.ms += 180_000;
    const afterChange = time(NOW_MS + 1);
    const { events } = await poll(client, `logs?since=${afterChange}`);
    expect(typesIn(events)).toEqual(['group.lifecycle.delete']);
    const until = time(client.clock.ms);
    expect((await client.get(`logs?since=${afterChange}&until=${until}`)).json).toEqual([]);
    const bounded = await client.get(`logs?since=${time(NOW_MS)}&until=${until}`);
    expect(typesIn(bounded.json)).toEqual(['group.lifecycle.delete']);
    expect(nextOf(bounded)).toBeUndefined();
  });

  it('the log filters by type and target, keeps events for 90 days, and shows seven days by default', async () => {
    const client = startOkta();
    await client.control('changes', [
      { kind: 'deleteGroup', group: '00gapp' },
      { kind: 'suspendUser', user: '00uann' },
    ]);
    const found = async (filter: string) => typesIn((await client.get(filtered('logs', filter))).json);
    expect(await found('eventType sw "group." or eventType eq "x"')).toEqual(['group.lifecycle.delete']);
    expect(await found('target.id eq "00uann"')).toEqual(['user.lifecycle.suspend']);
    const since = time(NOW_MS - 1_000);
    client.clock.ms += 8 * 86_400_000;
    expect((await client.get('logs')).json).toEqual([]);
    expect((await client.get(`logs?since=${since}`)).json).toHaveLength(2);
    client.clock.ms += 83 * 86_400_000;
    expect((await client.get(`logs?since=${since}`)).json).toEqual([]);
  });
});
