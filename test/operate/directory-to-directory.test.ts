import { describe, expect, it } from 'vitest';
import type { TakeoverPlan } from '../../shared/contract/answers/directory.ts';
import { planTakeover, takeOverGroups } from '../../shared/operate/directory/takeover.ts';
import { resumeConnection } from '../../shared/operate/pausing.ts';
import { changeSettings, planSettings } from '../../shared/operate/settings.ts';
import { openEntra } from '../directory/entra/reader.ts';
import { openGoogle } from '../directory/google/reader.ts';
import { CONNECTION, MINUTE_MS } from '../support/engine/world.ts';
import { company, openReader, platformGroupsOf, type Reader } from '../sync/directory/fixture.ts';

const directory = { kind: 'google', administrator: 'admin@acme.test' };

async function resume(reader: Reader) {
  await resumeConnection(CONNECTION, reader.world.toolPorts);
  await reader.pass(20 * MINUTE_MS);
}

describe('takeover from a directory to another directory', () => {
  /** Returns a reader of Google, and the groups of Entra ID that will own the platform groups of the Google groups. */
  async function openBoth() {
    const reader = await openReader({ world: company({ rowing: ['a', 'b'] }), settings: { directory } });
    await reader.hire('a', 'b', 'c');
    await reader.passMinutes(30);
    const world = {
      ...company({ 'e-rowing': ['b', 'c'] }),
      groups: [
        {
          id: 'e-rowing',
          email: 'e@acme.test',
          name: 'Group rowing',
          members: [{ member: 'b' }, { member: 'c' }],
        },
      ],
    };
    const { directory: entra } = await openEntra({ world, settings: {}, seed: '1' });
    const toEntra = { source: 'directory', directory: entra, replaces: true } as const;
    const toGoogle = { source: 'directory', directory: reader.google.directory, replaces: false } as const;
    const ports = { ...reader.world.toolPorts, vault: {} as never };
    return {
      reader,
      plan: async () => planTakeover(await reader.world.connection(), toEntra, ports),
      planBack: async () => planTakeover(await reader.world.connection(), toGoogle, ports),
      takeOver: async (planned: TakeoverPlan) =>
        takeOverGroups(await reader.world.connection(), planned, reader.world.toolPorts),
    };
  }

  it('another cloud cannot be connected while the reader owns groups of the tenant', async () => {
    const entra = { kind: 'entra', tenant: 'acme.test', clientId: 'reader' };
    const settings = { directory: entra };
    const reader = await openReader({ world: company({ rowing: ['a'] }), settings });
    await reader.hire('a');
    await reader.passMinutes(30);
    const ports = { ...reader.world.toolPorts, vault: {} as never };
    const value = { ...entra, cloud: 'dod' };
    const planned = await planSettings(CONNECTION, [{ key: 'directory', value }], ports);
    await expect(changeSettings(planned, ports)).rejects.toThrow('the reader owns 1 group (rowing)');
  });

  it('a repeated takeover does not move a group again', async () => {
    const { plan, takeOver } = await openBoth();
    await takeOver(await plan());
    expect(await plan()).toMatchObject({ groups: [], unmapped: [] });
  });

  it('a takeover can be reversed before the new directory is connected', async () => {
    const { reader, plan, planBack, takeOver } = await openBoth();
    const [before] = platformGroupsOf(reader);
    await takeOver(await plan());
    const back = await planBack();
    expect(back.groups).toMatchObject([{ group: 'e-rowing', target: 'rowing' }]);
    await takeOver(back);
    await resume(reader);
    await reader.passMinutes(30);
    expect(platformGroupsOf(reader)).toEqual([before]);
  });

  it('after a takeover to another Google customer, deleting the old groups keeps the platform group', async () => {
    const reader = await openReader({ world: company({ rowing: ['a', 'b'] }), settings: { directory } });
    await reader.hire('a', 'b', 'c');
    await reader.passMinutes(30);
    const [before] = platformGroupsOf(reader);
    const world = company({ 'other-rowing': ['b', 'c'] });
    const renamed = (world.groups ?? []).map((group) => ({ ...group, name: 'Group rowing' }));
    const { directory: other } = await openGoogle({
      world: { ...world, groups: renamed },
      administrator: 'admin@acme.test',
    });
    const ports = { ...reader.world.toolPorts, vault: {} as never };
    const target = { source: 'directory', directory: other, replaces: true } as const;
    const planned = await planTakeover(await reader.world.connection(), target, ports);
    await takeOverGroups(await reader.world.connection(), planned, ports);
    const value = { kind: 'google', administrator: 'admin@other.test' };
    await changeSettings(await planSettings(CONNECTION, [{ key: 'directory', value }], ports), ports);
    Object.assign(reader.ports.directories, { open: async () => other });
    await expect(reader.run({ isFull: true })).rejects.toThrow('known groups are missing');
    await reader.run({ acceptsDeletions: true });
    await reader.passMinutes(30);
    await resume(reader);
    expect(platformGroupsOf(reader)).toEqual([{ ...before, spokeId: 'other-rowing', users: ['u-b', 'u-c'] }]);
  });
});
