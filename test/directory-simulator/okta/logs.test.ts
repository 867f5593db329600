import { expect, it } from 'vitest';
import { startOkta } from './fixture.ts';

it('the log of the simulated Okta org has an event for each change, and a membership names its user and its group', async () => {
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
  const { apiToken } = (await client.control('client')).json;
  const { json } = await client.send('GET /api/v1/logs', { headers: { authorization: `SSWS ${apiToken}` } });
  const events: readonly { eventType: string; target: readonly { id: string; type: string }[] }[] = json;
  expect(events.map(({ eventType }) => eventType)).toEqual([
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
  expect(events[0]?.target).toMatchObject([
    { id: '00uann', type: 'User', alternateId: 'ann@login.example' },
    { id: '00gnone', type: 'UserGroup', displayName: 'Empty' },
  ]);
});
