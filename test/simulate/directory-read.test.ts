import { expect, it } from 'vitest';
import { DIRECTORY_KINDS } from '../../shared/contract/directory-settings.ts';
import { drawRun } from '../../simulate/draw.ts';
import { execute } from '../../simulate/execute.ts';
import { SEEDED_BUGS } from '../../simulate/seeded-bugs.ts';
import type { SimulationRun } from '../../simulate/simulation-run.ts';

/** The test is fast because the run has only the connection that reads a directory. */
const withDirectory = (seed: number, days: number): SimulationRun =>
  drawRun(seed, { days, directory: true, alone: true });

it('the option directory adds a connection and does not change the other connections of the run', () => {
  const of = (directory: boolean) => {
    const { connections, happenings } = drawRun(7, { directory });
    const others = happenings.filter(({ connection, actor }) => connection !== 'd' && actor !== 'directory');
    return { connections: connections.filter(({ name }) => name !== 'd'), others };
  };
  expect(of(true)).toEqual(of(false));
});

// The seed determines the vendor, and the first vendor has the seed 0.
it.each(DIRECTORY_KINDS.map((kind, place) => [kind, place || DIRECTORY_KINDS.length] as const))(
  'a run that reads the simulated directory of %s has no violation',
  { timeout: 60_000 },
  async (vendor, seed) => {
    const run = withDirectory(seed, 1);
    const { violations, fired } = await execute(run);
    expect(run.connections.map(({ source }) => source?.setting.kind)).toEqual([vendor]);
    expect(violations.map(({ sentence }) => sentence)).toEqual([]);
    expect([...fired.keys()].some((name) => name.startsWith('source:'))).toBe(true);
  },
);

it.each(['pushes_are_stored'])('a run finds the seeded bug %s', { timeout: 60_000 }, async (name) => {
  const bug = SEEDED_BUGS.find((one) => one.name === name);
  const { violations } = await execute(withDirectory(3, 1), {
    wrapPorts: bug?.wrapPorts,
    endsAt: ({ check }) => check === 'directory',
  });
  expect(violations.filter(({ check }) => check === 'directory')).not.toEqual([]);
});
