import { expect, it } from 'vitest';
import { createDesk } from '../../console/server/desk.ts';
import { createOverview } from '../../console/server/overview.ts';
import { added, group, savedWorld } from '../support/operate/world.ts';

const MINUTE_MS = 60_000;

it('tells how long changes waited in the day before anybody looked, and how long one waits now', async () => {
  const world = await savedWorld();
  await world.hire('ann', 'bob');
  await world.publish(group('g'), added('g', 'ann'));
  world.clock.ms += 20 * MINUTE_MS;
  await world.apply('g');
  world.clock.ms += 120 * MINUTE_MS;
  await world.publish(added('g', 'bob'));
  world.clock.ms += 5 * MINUTE_MS;
  const { lag } = await createOverview(world.connection.name, world.ports, createDesk(world.ports)).home();
  const minutes = lag.map((ms) => Math.round(ms / MINUTE_MS));
  expect(minutes.length).toBe(96);
  expect(minutes.slice(-10)).toEqual([10, 20, 0, 0, 0, 0, 0, 0, 0, 5]);
  expect(Math.max(...minutes.slice(0, -10))).toBe(0);
});
