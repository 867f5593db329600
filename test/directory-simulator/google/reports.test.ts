import { describe, expect, it } from 'vitest';
import { type Google, startGoogle } from '../fixture.ts';

interface Item {
  readonly id: { readonly time: string };
  readonly events: { readonly name: string; readonly parameters: { name: string; value: string }[] }[];
}

const items = async (google: Google, application: string, query = ''): Promise<readonly Item[]> =>
  (await google.get(`activity/users/all/applications/${application}${query}`)).json.items ?? [];
const names = async (google: Google, application: string, query = '') =>
  (await items(google, application, query)).flatMap(({ events }) => events.map(({ name }) => name));

describe('activities.list', () => {
  it('activities.list shows the newest entry first, and filters by time, event and parameter', async () => {
    const google = startGoogle();
    const start = new Date(google.clock.ms).toISOString();
    for (const [kind, member] of [
      ['addMember', 'u-liz'],
      ['addMember', 'u-sue'],
      ['removeMember', 'u-sue'],
    ]) {
      google.clock.ms += 1_000;
      await google.control('changes', { kind, group: 'g-emea', member });
    }
    google.clock.ms += 1_000;
    expect(await names(google, 'admin')).toEqual([
      'REMOVE_GROUP_MEMBER',
      'ADD_GROUP_MEMBER',
      'ADD_GROUP_MEMBER',
    ]);
    expect(
      await names(google, 'admin', '?eventName=ADD_GROUP_MEMBER&filters=USER_EMAIL==sue@example.com'),
    ).toEqual(['ADD_GROUP_MEMBER']);
    const end = new Date(google.clock.ms - 2_000).toISOString();
    expect(await names(google, 'admin', `?startTime=${start}&endTime=${end}`)).toHaveLength(2);
    const wrong = await google.get(`activity/users/all/applications/admin?startTime=${end}&endTime=${start}`);
    expect(wrong.status).toBe(400);
  });

  it('activities.list shows changes late and out of order, and never shows some changes', async () => {
    const lagSeconds = { users: 0, groups: 0, members: 0, log: 180 };
    const google = startGoogle({ settings: { lagSeconds, lostLogEntries: 0.1 } });
    const changes = Array.from({ length: 100 }, (_, index) => ({
      kind: index % 2 === 0 ? 'addMember' : 'removeMember',
      group: 'g-none',
      member: 'u-ann',
    }));
    for (const change of changes) {
      await google.control('changes', change);
      google.clock.ms += 1_000;
    }
    const early = await items(google, 'admin');
    const newest = Date.parse(early[0]?.id.time ?? '');
    google.clock.ms += 180_000;
    const later = await items(google, 'admin');
    const cameLate = later.filter(
      (item) => Date.parse(item.id.time) < newest && !early.some(({ id }) => id.time === item.id.time),
    );
    expect(cameLate.length).toBeGreaterThan(5);
    expect(later.length).toBeGreaterThan(80);
    expect(later.length).toBeLessThan(100);
  });
});
