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

it('the simulator refuses web pages of another origin and other host names', async () => {
  const { send } = startGoogle();
  const origin = { origin: 'http://evil.example' };
  expect((await send('GET /_simulator/state', { headers: origin })).status).toBe(403);
  expect((await send('GET /', { headers: { host: 'evil.example' } })).status).toBe(403);
});
