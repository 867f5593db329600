import { describe, expect, it } from 'vitest';
import type { WorldInput } from '../../../directory-simulator/engine/world.ts';
import { DirectorySource } from '../../../shared/contract/directory-settings.ts';
import { openDirectory } from '../../../shared/directory/vendors/directories.ts';
import { groupId } from '../../../shared/domain/ids.ts';
import { SECRET, TENANT } from '../../directory-simulator/entra/fixture.ts';
import { openReader } from '../reading/fixture.ts';
import { openEntra } from './entra/reader.ts';
import { allOf, openGoogle } from './google/reader.ts';
import { openOkta } from './okta/reader.ts';

const worldOf = (vendorFields: object): WorldInput => ({
  customerId: TENANT,
  domain: 'acme.test',
  users: [
    { id: 'u-admin', primaryEmail: 'admin@acme.test', isAdmin: true },
    { id: 'u-ann', primaryEmail: 'ann@acme.test', vendorFields: { ...vendorFields } },
    { id: 'u-bob', primaryEmail: 'bob@acme.test' },
  ],
  groups: [
    {
      id: 'g',
      email: 'g@acme.test',
      name: 'G',
      members: ['u-ann', 'u-bob', 'x@other.test'].map((member) => ({ member })),
    },
  ],
});

const VENDORS = {
  google: async () => {
    const fields = {
      externalIds: [
        { type: 'custom', customType: 'badge', value: 'B1' },
        { type: 'organization', value: '7' },
      ],
      organizations: [{ department: 'Ops', description: 'Guest', primary: true }],
      customSchemas: { HR: { Grade: [{ value: 'x' }, { value: 'y' }] } },
    };
    const { url: baseUrl, key, world } = await openGoogle({ world: worldOf(fields) });
    const setting = { kind: 'google', administrator: 'admin@acme.test', baseUrl };
    const custom = { 'custom.HR.Grade': 'x y', 'custom.externalIds.badge': 'B1' };
    return { setting, key, world, custom };
  },
  entra: async () => {
    const fields = {
      employeeId: '7',
      userType: 'Guest',
      department: 'Ops',
      extension_0a_robot: true,
      onPremisesExtensionAttributes: { extensionAttribute3: 'x' },
    };
    const world = worldOf(fields);
    for (const one of world.users ?? [])
      one.vendorFields = {
        extension_0a_robot: null,
        onPremisesExtensionAttributes: null,
        ...one.vendorFields,
      };
    const opened = await openEntra({ world });
    const { tenant, clientId } = opened.account;
    const setting = { kind: 'entra', tenant, clientId, baseUrl: opened.url };
    const custom = { 'custom.extension_0a_robot': 'true', 'custom.extensionAttribute3': 'x' };
    return { setting, key: { clientSecret: SECRET }, world: opened.world, custom };
  },
  okta: async () => {
    const profile = { employeeNumber: '7', userType: 'Guest', department: 'Ops', grade: ['x', 'y'] };
    const opened = await openOkta({ world: worldOf({ profile }) });
    const { clientId, key } = opened.credentials;
    const setting = { kind: 'okta', orgUrl: opened.url, clientId };
    return { setting, key, world: opened.world, custom: { 'custom.grade': 'x y' } };
  },
};

describe.each(Object.entries(VENDORS))('attributes that the settings name, read from %s', (_, open) => {
  const read = async (named: readonly string[] | undefined) => {
    const { setting, key, world, custom } = await open();
    const attributes = named && [...named, ...Object.keys(custom)];
    const directory = await openDirectory(DirectorySource.parse(setting), key, { ...world, attributes });
    const members = await allOf(directory.membersOf(groupId('g')));
    const found = new Map(
      members.flatMap((one) => (one.kind === 'user' ? [[one.user.id as string, one.user]] : [])),
    );
    const valuesOf = (id: string) => Object.fromEntries(found.get(id)?.attributes ?? []);
    return { custom, valuesOf, alone: await directory.user('u-ann') };
  };

  it('the members and single users have these attributes, and a missing value is empty', async () => {
    const { custom, valuesOf, alone } = await read(['employeeNumber', 'type', 'department', 'unknown']);
    const values = { employeeNumber: '7', type: 'Guest', department: 'Ops', ...custom };
    expect(valuesOf('u-ann')).toMatchObject({ ...values, email: 'ann@acme.test' });
    expect(Object.fromEntries(alone?.attributes ?? [])).toMatchObject(values);
    expect(valuesOf('u-bob')).toMatchObject({ email: 'bob@acme.test', employeeNumber: '' });
  });

  it('without such a setting, the reader reads only the address and the login', async () => {
    const { valuesOf } = await read(undefined);
    expect(Object.keys(valuesOf('u-ann')).sort()).toEqual(['email', 'userName']);
  });
});

it('a reader with other named attributes reads every group again', async () => {
  const { run, world, takeSent, passMinutes } = await openReader({ world: worldOf({}) });
  await passMinutes(60);
  takeSent();
  const { connections } = world.toolPorts;
  const stored = await world.connection();
  const settings = { ...stored.settings, match: ['employeeNumber=employeeNumber'] };
  await connections.save({ ...stored, settings } as never);
  expect(await run()).toMatchObject({ read: 1 });
  expect(await run()).toMatchObject({ read: 0 });
});
