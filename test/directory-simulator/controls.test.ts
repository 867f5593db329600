import { expect, it } from 'vitest';
import { startGoogle } from './fixture.ts';

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

it('the simulator refuses web pages of another origin and other host names', async () => {
  const { send } = startGoogle();
  const origin = { origin: 'http://evil.example' };
  expect((await send('GET /_simulator/state', { headers: origin })).status).toBe(403);
  expect((await send('GET /', { headers: { host: 'evil.example' } })).status).toBe(403);
});
