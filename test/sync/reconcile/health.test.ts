import { describe, expect, it } from 'vitest';
import { roleId } from '../../../shared/domain/ids.ts';
import type { Platform, Platforms } from '../../../shared/sync/ports/platform.ts';
import { checkHealth, readLevels } from '../../../shared/sync/reconcile/levels.ts';
import { CONNECTION, createWorld, failure, START_MS } from './support/world.ts';

const DAY_MS = 24 * 3_600_000;

describe('daily check of a credential', () => {
  it('the daily check records its last success and its last failure', async () => {
    const world = await createWorld();
    expect(await checkHealth(world.connection, world.ports)).toEqual({
      checkedAtMs: START_MS,
      goodAtMs: START_MS,
      holder: { user: expect.any(String) },
    });
    world.advance(DAY_MS);
    world.platform.failing = (kind) => (kind === 'me' ? 401 : undefined);
    await checkHealth(world.connection, world.ports);
    expect(await world.ports.health.read(CONNECTION)).toEqual({
      checkedAtMs: START_MS + DAY_MS,
      goodAtMs: START_MS,
      lastFailure: {
        atMs: START_MS + DAY_MS,
        message: expect.stringMatching(/401.*Contact the person who installed the app.*the platform user is/),
      },
      holder: { user: expect.any(String) },
    });
    world.advance(DAY_MS);
    world.platform.failing = () => undefined;
    expect(await checkHealth(world.connection, world.ports)).toMatchObject({
      goodAtMs: START_MS + 2 * DAY_MS,
      lastFailure: { atMs: START_MS + DAY_MS },
    });
  });

  it('a failure of the platform counts as a failure of the daily check, but an internal error does not', async () => {
    const world = await createWorld();
    const failing = (error: Error) => ({
      ...world.ports,
      platforms: {
        open: async () => {
          throw error;
        },
      },
    });
    const refused = failing(failure('unauthorized'));
    expect(await checkHealth(world.connection, refused)).toMatchObject({ lastFailure: { atMs: START_MS } });
    await expect(checkHealth(world.connection, failing(new Error('ours')))).rejects.toThrow('ours');
  });
});

describe('person behind a credential', () => {
  const at = (day: string) => new Date(START_MS + Number(day) * DAY_MS).toISOString().slice(0, 10);

  /**
   * Runs the daily check for a user with these roles. The value of a role is `stays`, `terminated`, or the day on which
   * the role ends.
   */
  async function checked(...roles: readonly string[]) {
    const world = await createWorld();
    const people = {
      ...world.ports.people,
      ofUser: async () => roles.map((_, index) => ({ role: roleId(String(index)) }) as never),
    };
    const employee: Platform['employee'] = async (role) => {
      const given = roles[Number(role)] ?? '';
      const ends = { stays: {}, terminated: { state: 'TERMINATED' } }[given] ?? { endDate: at(given) };
      return { role, fields: new Map(), ...ends };
    };
    const open: Platforms['open'] = async (...args) => ({
      ...(await world.ports.platforms.open(...args)),
      holder: 'user-ann',
      employee,
    });
    const ports = { ...world.ports, people, platforms: { open } };
    const { holder } = await checkHealth(world.connection, ports);
    const { holderLeaves = false } = await readLevels(world.connection, ports);
    return { holder, holderLeaves };
  }

  it.each([
    ['is no known employee', [], undefined, false],
    ['stays', ['stays'], undefined, false],
    ['leaves in 29 days', ['29'], '29', true],
    ['leaves in 60 days', ['60'], '60', false],
    ['has left', ['terminated'], '0', true],
    ['has left one of two roles', ['terminated', 'stays'], undefined, false],
    ['leaves both roles, the second one in 60 days', ['terminated', '60'], '60', false],
  ] as const)(
    'the daily check stores the user and the last day, and the levels show an early end, for a user who %s',
    async (_, roles, day, leaves) => {
      const lastDay = day === undefined ? {} : { lastDay: at(day) };
      expect(await checked(...roles)).toEqual({
        holder: { user: 'user-ann', ...lastDay },
        holderLeaves: leaves,
      });
    },
  );

  it('the daily check succeeds and keeps the stored user if it cannot read the employee of the user', async () => {
    const world = await createWorld();
    const people = { ...world.ports.people, ofUser: async () => [{ role: roleId('0') } as never] };
    const open: Platforms['open'] = async (...args) => ({
      ...(await world.ports.platforms.open(...args)),
      holder: 'user-ann',
      employee: async () => {
        throw failure('unavailable');
      },
    });
    const known = { checkedAtMs: 1, goodAtMs: 1, holder: { user: 'user-ann', lastDay: at('29') } };
    await world.ports.health.write(CONNECTION, known);
    expect(await checkHealth(world.connection, { ...world.ports, people, platforms: { open } })).toEqual({
      ...known,
      checkedAtMs: START_MS,
      goodAtMs: START_MS,
    });
  });
});

describe('levels of a connection', () => {
  it('the levels of a connection count dirty groups, waiting holds and the seconds of a closed gate', async () => {
    const world = await createWorld();
    const { gates } = world.ports;
    const levels = async () => {
      const { found: _, ...rest } = await readLevels(world.connection, world.ports);
      return rest;
    };
    expect(await levels()).toEqual({
      dirtyGroups: 0,
      oldestDirtySeconds: 0,
      holdsWaiting: 0,
      pendingMembers: 0,
      gateClosedSeconds: 0,
      unauthorized: false,
      sourceLateSeconds: 0,
      readerLateSeconds: 0,
      readerStopped: false,
      readerShortGroups: 0,
    });
    await checkHealth(world.connection, world.ports);
    await world.link('a', {
      dirtySince: START_MS - 90_000,
      removals: { sets: [{ decision: { kind: 'waiting' } }] },
    });
    await world.link('b', { dirtySince: START_MS, approval: {} });
    await gates.write(CONNECTION, await gates.read(CONNECTION), {
      state: 'unauthorized',
      closings: 1,
      sinceMs: START_MS - 5_000,
    });
    world.advance(10_000);
    expect(await levels()).toEqual({
      dirtyGroups: 2,
      oldestDirtySeconds: 100,
      holdsWaiting: 1,
      pendingMembers: 0,
      gateClosedSeconds: 15,
      unauthorized: true,
      sourceLateSeconds: 0,
      readerLateSeconds: 0,
      readerStopped: false,
      readerShortGroups: 0,
      credentialUncheckedSeconds: 10,
    });
  });
});
