import { describe, expect, it } from 'vitest';
import { type Google, readAll, startGoogle } from './fixture.ts';

const membersOf = async (google: Google, group: string) =>
  (await readAll(google, `groups/${group}/members`, 'members')).items.map(({ email }) => email).toSorted();

describe('changes of the simulated directory', () => {
  it('a change adds or removes a member', async () => {
    const google = startGoogle();
    await google.control('changes', [
      { kind: 'addMember', group: 'g-none', member: 'ann@example.com' },
      { kind: 'addMember', group: 'g-none', member: 'new@partner.example', role: 'MANAGER' },
      { kind: 'addMember', group: 'g-none', member: 'g-emea' },
      { kind: 'removeMember', group: 'sales@example.com', member: 'guest@partner.example' },
    ]);
    expect(await membersOf(google, 'g-none')).toEqual([
      'ann@example.com',
      'emea@example.com',
      'new@partner.example',
    ]);
    expect(await membersOf(google, 'g-sales')).not.toContain('guest@partner.example');
  });

  it('a change is refused if a group would contain itself directly or through other groups', async () => {
    const google = startGoogle();
    for (const [group, member] of [
      ['g-emea', 'g-sales'],
      ['g-emea', 'g-emea'],
    ]) {
      const { status } = await google.control('changes', { kind: 'addMember', group, member });
      expect(status).toBe(400);
    }
  });
});

describe('faults of the simulated directory', () => {
  it('random faults have every status of a failing answer, and the same seed gives the same faults', async () => {
    const statuses = async () => {
      const google = startGoogle();
      await google.get('groups/g-sales');
      await google.control('settings', { failures: 0.5 });
      const answers = [];
      for (let call = 0; call < 60; call += 1) answers.push((await google.get('groups/g-sales')).status);
      return answers;
    };
    const first = await statuses();
    expect(new Set(first)).toEqual(new Set([200, 403, 429, 500, 502, 503]));
    expect(await statuses()).toEqual(first);
  });
});

describe('member counts of the simulated directory', () => {
  it('a control makes a member count wrong, absent, and correct again', async () => {
    const google = startGoogle();
    const count = async () => (await google.get('groups/g-sales')).json.directMembersCount;
    await google.control('counts', { group: 'g-sales', count: 400 });
    expect(await count()).toBe('400');
    await google.control('counts', { group: 'g-sales', count: null });
    expect(await count()).toBeUndefined();
    await google.control('counts', { group: 'g-sales', count: 'right' });
    expect(await count()).toBe('4');
  });
});

describe('controls of the simulated directory', () => {
  it('the simulator refuses web pages of another origin and other host names', async () => {
    const { send } = startGoogle();
    const origin = { origin: 'http://evil.example' };
    expect((await send('GET /_simulator/state', { headers: origin })).status).toBe(403);
    expect((await send('GET /', { headers: { host: 'evil.example' } })).status).toBe(403);
  });
});
