import { describe, expect, it } from 'vitest';
import { drawRun } from '../../simulate/draw.ts';
import { execute } from '../../simulate/execute.ts';
import { SEEDED_BUGS } from '../../simulate/seeded-bugs.ts';
import type { SimulationRun } from '../../simulate/simulation-run.ts';

const withDirectory = (seed: number, days: number): SimulationRun => {
  const run = drawRun(seed, { days, directory: true });
  // The test is fast because it keeps only the connection that reads a directory.
  const connections = run.connections.filter(({ google }) => google !== undefined);
  const happenings = run.happenings.filter(({ connection }) => connection === 'd');
  return { ...run, connections, happenings };
};

describe('simulation run with a directory that is read', () => {
  it('a run with a directory has the same other connections as a run without a directory', () => {
    const of = (directory: boolean) => {
      const { connections, happenings } = drawRun(7, { directory });
      const others = happenings.filter(
        ({ connection, actor }) => connection !== 'd' && actor !== 'directory',
      );
      return { connections: connections.filter(({ name }) => name !== 'd'), others };
    };
    expect(of(true)).toEqual(of(false));
  });

  it('a run reads a directory only if the option directory is set', () => {
    const reads = (directory?: boolean) =>
      drawRun(7, { directory }).connections.filter(({ google }) => google !== undefined).length;
    expect([reads(), reads(true)]).toEqual([0, 1]);
  });

  it('a run with a directory ends with a platform that equals the directory, and has no violation', {
    timeout: 60_000,
  }, async () => {
    const { violations, fired } = await execute(withDirectory(3, 1));
    expect(violations.map(({ sentence }) => sentence)).toEqual([]);
    expect([...fired.keys()].some((name) => name.startsWith('google:'))).toBe(true);
  });
});

describe('seeded bug of the directory reader', () => {
  it.each(['pushes_are_stored'])('the seeded bug %s is found', { timeout: 60_000 }, async (name) => {
    const bug = SEEDED_BUGS.find((one) => one.name === name);
    const { violations } = await execute(withDirectory(3, 1), {
      wrapPorts: bug?.wrapPorts,
      endsAt: ({ check }) => check === 'directory',
    });
    expect(violations.filter(({ check }) => check === 'directory')).not.toEqual([]);
  });
});
