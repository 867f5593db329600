import { expect, it } from 'vitest';
import { answerQuestion } from '../../../shared/directory/operate/answer.ts';
import { planTakeover, takeOverGroups } from '../../../shared/directory/operate/takeover.ts';
import { groupId } from '../../../shared/domain/ids.ts';
import { changeSettings, planSettings } from '../../../shared/operate/settings.ts';
import { CONNECTION } from '../../support/engine/world.ts';
import { directory, openWith, resume, takeOver } from '../../support/operate/takeovers.ts';
import { company, openReader, platformGroupsOf } from '../reading/fixture.ts';
import { openEntra } from '../vendors/entra/reader.ts';

type Reader = Awaited<ReturnType<typeof openWith>>;

/** Plans to read this directory. @returns a function that saves the change */
async function planned({ world }: Pick<Reader, 'world'>, value: unknown) {
  const ports = { ...world.toolPorts, vault: {} as never };
  const plan = await planSettings(CONNECTION, [{ key: 'directory', value }], ports);
  return () => changeSettings(plan, ports);
}

it('another cloud cannot be connected while the reader owns groups of the tenant', async () => {
  const entra = { kind: 'entra', tenant: 'acme.test', clientId: 'reader' };
  const settings = { directory: entra };
  const reader = await openReader({ world: company({ rowing: ['a'] }), settings });
  await reader.hire('a');
  await reader.passMinutes(30);
  const save = await planned(reader, { ...entra, cloud: 'dod' });
  await expect(save()).rejects.toThrow('the reader owns 1 group (rowing)');
});

it('a change of the directory that is refused because of another change keeps what the reader knows', async () => {
  const reader = await openWith({ rowing: ['a'] });
  await reader.passMinutes(30);
  await takeOver(reader, 'events', { sameIds: true });
  const late = await planned(reader, { kind: 'entra', tenant: 'acme.test', clientId: 'reader' });
  await (await planned(reader, { ...directory, administrator: 'b@acme.test' }))();
  await expect(late()).rejects.toThrow('another operator changed the same setting');
  expect(await reader.stored('rowing')).toMatchObject({ readMs: expect.any(Number) });
});

it('a takeover can be reversed before the new directory is connected', async () => {
  const reader = await openWith({ rowing: ['a', 'b'] });
  await reader.passMinutes(30);
  const [before] = platformGroupsOf(reader);
  const { groups = [], ...world } = company({ 'e-rowing': ['b', 'c'] });
  const renamed = groups.map((group) => ({ ...group, name: 'Group rowing' }));
  const entra = await openEntra({ world: { ...world, groups: renamed }, settings: {}, seed: '1' });
  const target = { source: 'directory', directory: entra.directory, replaces: true } as const;
  const moves = await planTakeover(await reader.world.connection(), target, reader.world.toolPorts);
  await takeOverGroups(await reader.world.connection(), moves, reader.world.toolPorts);
  const back = await takeOver(reader, 'directory');
  expect(back.groups).toMatchObject([{ group: 'e-rowing', target: 'rowing' }]);
  await resume(reader);
  await reader.passMinutes(30);
  expect(platformGroupsOf(reader)).toEqual([before]);
});

it('a directory that is set after another one was disconnected is read, although it lacks all groups of the other', async () => {
  const reader = await openWith({ rowing: ['a'], chess: ['c'] });
  const set = async (value: unknown) => (await planned(reader, value))();
  await reader.passMinutes(30);
  await takeOver(reader, 'events', { sameIds: true });
  await resume(reader);
  await set(null);
  await reader.google.control('settings', { lostLogEntries: 1 });
  const group = { id: 'go', email: 'go@acme.test', name: 'Go', members: [] };
  const gone = ['rowing', 'chess'].map((group) => ({ kind: 'deleteGroup', group }));
  await reader.change(...gone, { kind: 'addGroup', group });
  await set(directory);
  await reader.passMinutes(10);
  expect(await reader.stored('go')).toMatchObject({ readMs: expect.any(Number) });
  expect(await reader.stored('rowing')).toBeUndefined();
});

it('a question about the members of groups is answered for the first group also if no time is left', async () => {
  const membersOf = async function* () {
    yield { items: [] };
  };
  const directories = { open: async () => ({ membersOf }) } as never;
  const question = { membersOf: [groupId('a'), groupId('b')], from: 0 };
  const ports = { directories, isTimeUp: () => true };
  const answer = await answerQuestion({ settings: {} } as never, { question }, ports);
  expect(answer).toEqual({ members: [{ group: 'a', members: [] }] });
});
