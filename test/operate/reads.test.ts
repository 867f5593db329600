import { expect, it } from 'vitest';
import type { SignedInPerson } from '../../console/server/roles.ts';
import { weakensSafety } from '../../shared/contract/weakening.ts';
import { runCli } from '../support/cli/io.ts';
import { asking } from '../support/console/asking.ts';
import { portsAs, sixInSync } from '../support/operate/world.ts';

type World = Awaited<ReturnType<typeof sixInSync>>;

/** Returns the recorded reads, oldest first: the person, the kind of data, and the group or person that was read. */
async function readsIn({ audit }: Pick<World, 'audit'>) {
  const entries = (await audit('')).filter(({ action }) => action.startsWith('read_')).toReversed();
  return entries.map(({ actor, action, changes: [change], group }) => [
    actor.id,
    action,
    change?.after,
    group,
  ]);
}

it.each([
  ['members g', 'read_members', 'g', 'g'],
  ['export g', 'read_export', 'g', 'g'],
  ['export --all', 'read_export', null, undefined],
  ['explain g m-ann', 'read_person', 'm-ann', 'g'],
  ['person m-ann', 'read_person', 'm-ann', undefined],
  ['plan g', 'read_plan', 'g', 'g'],
  ['plan', 'read_plan', null, undefined],
  ['pending', 'read_pending', null, undefined],
  ['log', 'read_activity', null, undefined],
  ['deliveries --group g', 'read_deliveries', 'g', 'g'],
  ['log --group g', 'read_activity', 'g', 'g'],
])('auditReads records the command %s once', async (line, ...read) => {
  const world = await sixInSync({ auditReads: true });
  expect((await world.cli(...line.split(' '))).code).toBe(0);
  expect(await readsIn(world)).toEqual([['local:tester', ...read]]);
});

it('auditReads records an import before it shows the effect of the file', async () => {
  const { ports, audit, clock } = await sixInSync({ auditReads: true });
  clock.ms += 60_000;
  const stdin = 'group id,group name,member id,email\ng,Group g,m-ann,ann@acme.test\n';
  const shown = await runCli(['import', '-', '--dry-run', '--as-of', 'now'], { ports, stdin });
  expect([shown.code, shown.stdout]).toEqual([0, expect.stringContaining('bob@acme.test')]);
  expect(await readsIn({ audit })).toEqual([['local:tester', 'read_plan', null, undefined]]);
});

it('no read is recorded by default, or for a command that shows no people', async () => {
  const world = await sixInSync();
  await world.cli('members', 'g');
  const recording = await sixInSync({ auditReads: true });
  await recording.cli('status');
  expect([...(await readsIn(world)), ...(await readsIn(recording))]).toEqual([]);
});

it('auditReads records each person and object that the console shows, at most once in ten minutes', async () => {
  const world = await sixInSync({ auditReads: true });
  const ask = asking(portsAs('ann', world.ports), 'default', { id: 'ann', roles: { '*': 'operator' } });
  for (const name of ['group', 'group', 'home', 'live', 'groups', 'holds', 'connection'])
    await ask(name === 'group' ? 'group?group=g' : name);
  expect((await ask('person?member=unknown')).message).toContain('no person');
  await ask('person?member=m-ann');
  await ask('preview-settings', { changes: [{ key: 'mode', value: 'report' }] });
  world.clock.ms += 10 * 60_000;
  await ask('group?group=g');
  expect((await readsIn(world)).map(([, ...read]) => read)).toEqual([
    ['read_members', 'g', 'g'],
    ['read_person', 'm-ann', undefined],
    ['read_plan', null, undefined],
    ['read_members', 'g', 'g'],
  ]);
  const { activity } = await ask('home');
  expect(activity.filter(({ action }: { action: string }) => action.startsWith('read_'))).toEqual([]);
});

it('the console does not show data if its audit entry cannot be stored', async () => {
  const { ports } = await sixInSync({ auditReads: true });
  const record = async () => Promise.reject(new Error('AccessDeniedException'));
  const reader: SignedInPerson = { id: 'ann', roles: { '*': 'viewer' } };
  const ask = asking({ ...ports, audit: { ...ports.audit, record } }, 'default', reader);
  expect(await ask('group?group=g')).toEqual({ message: expect.stringContaining('AccessDenied') });
});

it('a change of auditReads does not plan any group again', async () => {
  const { cli } = await sixInSync();
  const set = await cli('connections', 'set', 'default', 'auditReads=true', '--json', '--yes');
  expect(set.json).toMatchObject({ changed: [{ key: 'auditReads' }], replanned: 0 });
});

it('switching auditReads off weakens safety, and switching it on does not', async () => {
  const { settings } = (await sixInSync({ auditReads: true })).connection;
  expect(weakensSafety(settings, { ...settings, auditReads: false })).toBe(true);
  expect(weakensSafety({ ...settings, auditReads: false }, settings)).toBe(false);
});
