import { expect, it } from 'vitest';
import { drawRun } from '../../simulate/draw.ts';
import { execute } from '../../simulate/execute.ts';
import { possiblePairs } from '../../simulate/features.ts';
import { createMeetings } from '../../simulate/meetings.ts';
import { createMissingPairs } from '../../simulate/missing-pairs.ts';
import { DAY_MS, HOUR_MS } from '../../simulate/simulation-run.ts';

const connection = 'a';

it('two features meet on one group, in their order, and within a week', () => {
  const { touch, meetings } = createMeetings({
    hasState: (one) => one === 'hold',
    removes: (one) => one === 'leave',
  });
  touch({ atMs: 0, connection, group: 'g1', feature: 'hold' });
  touch({ atMs: HOUR_MS, connection, group: 'g2', feature: 'join' });
  touch({ atMs: 2 * HOUR_MS, connection, group: 'g1', feature: 'rename' });
  expect(meetings().pairs).toEqual(['hold > rename']);
  touch({ atMs: 3 * HOUR_MS, connection: 'b', feature: 'pause_all' });
  touch({ atMs: 3 * HOUR_MS, connection, feature: 'pause_all' });
  expect(meetings().pairs).toEqual([
    'hold > rename',
    'hold > pause_all',
    'rename > pause_all',
    'join > pause_all',
  ]);
  touch({ atMs: 4 * HOUR_MS, connection, group: 'g1', feature: 'leave' });
  expect(meetings().triples).toEqual(['hold > rename > leave', 'hold > pause_all > leave']);
  touch({ atMs: 9 * DAY_MS, connection, group: 'g1', feature: 'delete' });
  expect(meetings().pairs).not.toContain('hold > delete');
});

it('a run meets most of the pairs that it is asked to meet, and the next run is asked for others', async () => {
  const missing = createMissingPairs();
  const asked = missing.next(1).slice(0, 50);
  const run = drawRun(1, { days: 1, scale: 'small', meet: asked });
  const { meetings } = await execute(run, { countsMeetings: true });
  const met = new Set(meetings?.pairs);
  expect(asked.filter((pair) => met.has(pair)).length).toBeGreaterThan(asked.length * 0.5);
  missing.met(meetings);
  expect(missing.next(1).filter((pair) => met.has(pair))).toEqual([]);
  expect(new Set(possiblePairs()).size).toBe(possiblePairs().length);
});
