import { describe, expect, it } from 'vitest';
import { type Google, startGoogle, WORLD } from '../fixture.ts';

const PEOPLE = 60;
const users = Array.from({ length: PEOPLE }, (_, index) => ({
  id: `u${String(index).padStart(3, '0')}`,
  primaryEmail: `u${index}@example.com`,
  isAdmin: index === 0,
}));
const world = {
  ...WORLD,
  users: [...(WORLD.users ?? []), ...users],
  groups: [{ id: 'g', email: 'g@example.com', members: users.map(({ id }) => ({ member: id })) }],
};
const PATH = 'groups/g/members';

describe('page tokens', () => {
  const firstToken = async (google: Google) =>
    (await google.get(`${PATH}?maxResults=10`)).json.nextPageToken as string;

  it('page tokens expire after three days, and when a control expires them', async () => {
    const google = startGoogle({ world });
    const isRefused = async (token: string) => {
      google.forgetToken();
      const { status, json } = await google.get(`${PATH}?pageToken=${token}`);
      return status === 400 && json.error.message === `Invalid Input: ${token}`;
    };
    const first = await firstToken(google);
    await google.control('page-tokens/expire');
    expect(await isRefused(first)).toBe(true);
    google.forgetToken();
    const second = await firstToken(google);
    google.clock.ms += 3 * 86_400_000;
    expect(await isRefused(second)).toBe(false);
    google.clock.ms += 1;
    expect(await isRefused(second)).toBe(true);
  });
});
