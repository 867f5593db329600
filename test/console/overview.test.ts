import { expect, it } from 'vitest';
import { createDesk } from '../../console/server/desk.ts';
import { createHandle } from '../../console/server/handle.ts';
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

it('names the connection that the page is about in whatever is to be pasted', async () => {
  const { ports } = await savedWorld();
  const spell = (text: string, of: string) => `${text} for ${of}`;
  const describe = () => 'groupsync connect';
  const handle = createHandle({ prefix: 'p', ports: ports as never, describe, spell });
  const ask = async (query: string) =>
    (await handle(new Request(`http://page.test/api/${query}?connection=b`))).json() as Promise<{
      checks: readonly { fix: string | null }[];
    }>;
  expect(await ask('connection')).toEqual({ message: 'groupsync connect for b' });
  const { checks } = await ask('doctor');
  const fixes = checks.flatMap(({ fix }) => fix ?? []);
  expect(fixes).not.toEqual([]);
  for (const fix of fixes) expect(fix).toMatch(/ for b$/);
});
