import { expect, it } from 'vitest';
import type { Hold } from '../../shared/domain/hold.ts';
import { platformUserId } from '../../shared/domain/ids.ts';
import { actsOf } from '../../simulate/acts.ts';
import { drawRun } from '../../simulate/draw.ts';
import { execute } from '../../simulate/execute.ts';
import type { WrapPorts } from '../../simulate/lambdas.ts';
import { APPROVERS } from '../../simulate/persons.ts';
import { SEEDED_BUGS } from '../../simulate/seeded-bugs.ts';
import { at, atGroups } from '../../simulate/seeding.ts';
import { HOUR_MS } from '../../simulate/simulation-run.ts';
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

/** A bug: apply sends no removal of this user, because an operator rejected it once. */
const keeping = (user: string): WrapPorts =>
  atGroups(({ patch }) => ({
    patch: (id, fields, version) => {
      const users = fields.users && [...new Set([...fields.users, platformUserId(user)])];
      return patch(id, users === undefined ? fields : { ...fields, users }, version);
    },
  }));

it(
  'the check decision finds that a rejection has an effect after the directory wanted the user again',
  async () => {
    const drawn = drawRun(2, { days: 1, scale: 'small' });
    const [first] = drawn.connections;
    if (first === undefined) throw new Error('expected a connection');
    const { event, operator } = actsOf(first.name);
    const members = Array.from({ length: 9 }, (_, index) => `p${index}`);
    const group = 'g1';
    const all = { kind: 'snapshot', group, name: 'Team', members, parts: 1 } as const;
    const settings = { guard: { minSize: 3, maxRemovedShare: 0.4 } };
    const run = {
      ...drawn,
      connections: [{ ...first, settings }],
      happenings: [
        event(HOUR_MS, all),
        event(2 * HOUR_MS, { ...all, members: ['p0'] }),
        operator(3 * HOUR_MS, { kind: 'reject', group, oldMs: 0 }, APPROVERS[0]),
        event(4 * HOUR_MS, all),
        event(6 * HOUR_MS, { kind: 'leave', group, members: ['p3'] }),
      ],
    };
    const causes = async (wrapPorts?: WrapPorts) =>
      (await execute(run, { wrapPorts, endsAt: ({ check }) => check === 'decision' })).violations.map(
        ({ check, cause }) => `${check} ${cause}`,
      );
    expect(await causes()).toEqual([]);
    expect(await causes(keeping(`u-r-${first.name}-p3`))).toContain('decision outlived');
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
