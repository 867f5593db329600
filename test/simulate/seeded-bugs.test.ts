import { expect, it } from 'vitest';
import type { Hold } from '../../shared/domain/hold.ts';
import { drawRun } from '../../simulate/draw.ts';
import { execute } from '../../simulate/execute.ts';
import type { WrapPorts } from '../../simulate/lambdas.ts';
import { SEEDED_BUGS } from '../../simulate/seeded-bugs.ts';
import { at } from '../../simulate/seeding.ts';
import { startProcess } from '../local/support/process.ts';
import { PATIENCE_MS } from '../support/patience.ts';

/** A bug: the decision of a person reads neither the setting fourEyes nor the requirement of the hold. */
const withoutFourEyes: WrapPorts = (ports, actor) => {
  if (actor !== 'operator') return ports;
  const ofSettings = at('connections', ({ current }) => ({
    current: async (name) => {
      const known = await current(name);
      return known && { ...known, settings: { ...known.settings, fourEyes: false } };
    },
  }));
  const ofHolds = at('groups', ({ read }) => ({
    read: async (ref) => {
      const state = await read(ref);
      if (state?.removals === undefined) return state;
      const sets = state.removals.sets.map(({ fourEyes: _, ...hold }): Hold => hold);
      return { ...state, removals: { ...state.removals, sets } };
    },
  }));
  return ofHolds(ofSettings(ports, actor), actor);
};

it(
  'the check two_persons finds that a person may approve the removals of an own event',
  async () => {
    const { violations } = await execute(drawRun(4, { days: 1, scale: 'small' }), {
      wrapPorts: withoutFourEyes,
      endsAt: ({ check }) => check === 'two_persons',
    });
    expect(violations.map(({ cause }) => cause)).toContain('own_removal');
  },
  PATIENCE_MS,
);

it(
  'npm run simulate -- --planted with an unknown name exits with 2, and names the known bugs or a similar one',
  async () => {
    const run = (name: string) =>
      startProcess(process.execPath, ['--import', 'tsx', 'simulate/run.ts', '--planted', name]).exit;
    const [unknown, similar] = await Promise.all([run('xyzzy'), run('post_twice')]);
    expect([unknown.code, similar.code]).toEqual([2, 2]);
    for (const { name } of SEEDED_BUGS) expect(unknown.stderr).toContain(name);
    expect(similar.stderr).toContain('did you mean posts_twice?');
  },
  PATIENCE_MS,
);
