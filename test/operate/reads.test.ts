import { describe, expect, it } from 'vitest';
import type { Person } from '../../console/server/roles.ts';
import { weakensSafety } from '../../shared/contract/weakening.ts';
import { asking } from '../support/console/asking.ts';
import { portsAs, sixInSync } from '../support/operate/world.ts';

type World = Awaited<ReturnType<typeof sixInSync>>;

/** Returns the recorded reads, the oldest first: who, what, and of which group or person. */
async function readsIn({ audit }: Pick<World, 'audit'>) {
  const entries = (await audit('')).filter(({ action }) => action.startsWith('read_')).toReversed();
  return entries.map(({ actor, action, changes: [change], group }) => [
    actor.id,
    action,
    change?.after,
    group,
  ]);
}

describe('reads of data of people, with the setting auditReads', () => {
  it.each([
    ['members g', 'read_members', 'g', 'g'],
    ['export g', 'read_export', 'g', 'g'],
    ['export --all', 'read_export', null, undefined],
    ['explain g m-ann', 'read_person', 'm-ann', 'g'],
    ['person m-ann', 'read_person', 'm-ann', undefined],
    ['plan g', 'read_plan', 'g', 'g'],
    ['plan', 'read_plan', null, undefined],
    ['pending', 'read_pending', null, undefined],
    ['drift', 'read_drift', null, undefined],
    ['log', 'read_activity', null, undefined],
    ['audit g', 'read_activity', 'g', 'g'],
    ['audit', 'read_activity', null, undefined],
  ])('the command %s is recorded once', async (line, ...read) => {
    const world = await sixInSync({ auditReads: true });
    expect((await world.cli(...line.split(' '))).code).toBe(0);
    expect(await readsIn(world)).toEqual([['local:tester', ...read]]);
  });

  it('nothing is recorded by default, or for a command that shows no people', async () => {
    const world = await sixInSync();
    await world.cli('members', 'g');
    const recording = await sixInSync({ auditReads: true });
    await recording.cli('status');
    expect([...(await readsIn(world)), ...(await readsIn(recording))]).toEqual([]);
  });

  it('the console records each person and object once in ten minutes, although the page repeats its queries', async () => {
    const world = await sixInSync({ auditReads: true });
    const ask = asking(portsAs('ann', world.ports), 'default', { id: 'ann', roles: { '*': 'viewer' } });
    for (const name of ['group', 'group', 'home', 'live', 'groups', 'holds', 'connection'])
      await ask(name === 'group' ? 'group?group=g' : name);
    expect((await ask('person?member=unknown')).message).toContain('no person');
    await ask('person?member=m-ann');
    world.clock.ms += 10 * 60_000;
    await ask('group?group=g');
    expect((await readsIn(world)).map(([, ...read]) => read)).toEqual([
      ['read_members', 'g', 'g'],
      ['read_person', 'm-ann', undefined],
      ['read_members', 'g', 'g'],
    ]);
    const { activity } = await ask('home');
    expect(activity.filter(({ action }: { action: string }) => action.startsWith('read_'))).toEqual([]);
  });

  it('the data is not shown if its entry cannot be stored', async () => {
    const { ports } = await sixInSync({ auditReads: true });
    const record = async () => Promise.reject(new Error('AccessDeniedException'));
    const reader: Person = { id: 'ann', roles: { '*': 'viewer' } };
    const ask = asking({ ...ports, audit: { ...ports.audit, record } }, 'default', reader);
    expect(await ask('group?group=g')).toEqual({ message: expect.stringContaining('AccessDenied') });
  });

  it('changing the setting plans no group again', async () => {
    const { cli } = await sixInSync();
    const set = await cli('connections', 'set', 'default', 'auditReads=true', '--json', '--yes');
    expect(set.json).toMatchObject({ changed: [{ key: 'auditReads' }], replanned: 0 });
  });

  it('switching it off needs an administrator in the console', async () => {
    const { settings } = (await sixInSync({ auditReads: true })).connection;
    expect(weakensSafety(settings, { ...settings, auditReads: false })).toBe(true);
    expect(weakensSafety({ ...settings, auditReads: false }, settings)).toBe(false);
  });
});
