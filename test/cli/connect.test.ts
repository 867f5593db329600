import { expect, it } from 'vitest';
import { connectionName } from '../../shared/domain/ids.ts';
import { PlatformFailure } from '../../shared/sync/ports/platform.ts';
import { runCli } from '../support/cli/io.ts';
import { applicantOf, NOW_MS, savedWorld } from '../support/operate/world.ts';

const employee = (name: string) =>
  new Map([
    ['workEmail', `${name}@acme.test`],
    ['id', `r-${name}`],
    ['userId', `u-${name}`],
  ]);
const refusing = () => {
  throw new PlatformFailure('unavailable', 'the platform failed', { status: 500 });
};
const failing = async () => refusing();
const groupOf = (...users: string[]) => ({ id: 'g', name: 'Existing', spokeId: null, users });

async function worldOf(change: Partial<ReturnType<typeof applicantOf>> = {}) {
  const world = await savedWorld();
  const applicant = {
    ...applicantOf('company'),
    employees: async function* () {
      yield ['ann', 'bob'].map(employee);
    },
    ...change,
  };
  const applicants = { present: () => applicant };
  const vault = { ...world.ports.vault, store: async () => 'v1' };
  const functions = { ...world.ports.functions, run: async () => ({}) };
  const ports = { ...world.ports, applicants, vault, functions };
  const args = (name: string) => ['connect', name, '--base-url', 'https://platform.test'];
  return {
    ports,
    scripted: (name = 'new', ...more: string[]) =>
      runCli([...args(name), '--token-stdin', '--yes', '--json', ...more], { ports, stdin: 'token' }),
    stored: async (name = 'new') => (await ports.connections.current(name as never))?.settings.memberIdField,
  };
}

it.each([
  ['id', ['r-ann', 'r-bob', 'r-unknown']],
  ['userId', ['u-ann']],
])('connect stores memberIdField %s if existing groups contain this kind of id', async (field, users) => {
  const { scripted, stored } = await worldOf({ groups: async () => [groupOf(...users)] });
  const { code, json } = await scripted();
  expect(json).toMatchObject({ stored: true, memberIds: { field, users: users.length } });
  expect(code).toBe(0);
  expect(await stored()).toBe(field);
});

it.each([
  ['there are no groups', []],
  ['no employee has the ids of the groups', [groupOf('unknown')]],
])('connect without a terminal keeps userId and reports this if %s', async (_, groups) => {
  const { scripted, stored } = await worldOf({ groups: async () => groups });
  const { code, json, stderr } = await scripted();
  expect(code).toBe(0);
  expect(json.memberIds.field).toBeNull();
  expect(stderr).toContain('memberIdField stays userId');
  expect(stderr).toContain('groupsync connections set new memberIdField=id');
  expect(await stored()).toBe('userId');
});

it('connect does not change memberIdField of an existing connection, and reports groups with the other kind of id', async () => {
  const { scripted, stored } = await worldOf({ groups: async () => [groupOf('r-ann')] });
  const { code, json } = await scripted('default');
  expect(code).toBe(3);
  expect(json.checks).toContainEqual(expect.objectContaining({ name: 'memberIdField', ok: false }));
  expect(await stored('default')).toBe('userId');
});

it('connect opens a gate that a failure closed, and does not end the pause of an operator', async () => {
  const { ports, scripted } = await worldOf();
  const name = connectionName('default');
  for (const [state, after] of [
    ['unauthorized', 'open'],
    ['backoff', 'open'],
    ['paused', 'paused'],
  ] as const) {
    await ports.gates.write(name, await ports.gates.read(name), { state, reason: 'r', closings: 1 });
    await scripted(name);
    expect((await ports.gates.read(name)).state).toBe(after);
    expect(await ports.health.read(name)).toEqual({ goodAtMs: NOW_MS });
  }
});

it('connect reports each check that a credential passes', async () => {
  const { scripted } = await worldOf();
  const { json } = await scripted();
  const passed = json.checks.flatMap(({ name, ok }: { name: string; ok: boolean }) => (ok ? name : []));
  expect(passed.join()).toMatch(/^credential,installed,groups,write groups,write group members,employees,/);
});

it.each(['me', 'groups', 'employees'])('connect stores nothing if the call %s fails', async (call) => {
  const { scripted, stored } = await worldOf({ [call]: refusing });
  const json = { stored: false, usable: false, memberIds: null };
  expect(await scripted()).toMatchObject({ code: 1, json });
  expect(await stored()).toBeUndefined();
});

it.each([
  ['groups', 'write groups', 'the credential may not create or change groups'],
  ['members', 'write group members', 'the credential may rename groups but may not set their members'],
] as const)(
  'connect stores nothing and gives the reason if the scope for %s is refused',
  async (refused, name, sentence) => {
    const { scripted, stored } = await worldOf({ refusesWrite: async (scope) => scope === refused });
    const { code, json } = await scripted();
    expect(code).toBe(1);
    expect(json).toMatchObject({ stored: false, usable: false });
    const check = json.checks.find((one: { name: string }) => one.name === name);
    expect(check).toMatchObject({
      ok: false,
      detail: expect.stringContaining(sentence),
      fix: expect.any(String),
    });
    expect(await stored()).toBeUndefined();
  },
);

it('connect stores nothing if the platform refuses both writes to an unknown group, but not a read of this group', async () => {
  const { scripted, stored } = await worldOf({ refusesWrite: async () => true });
  const { code, json } = await scripted();
  expect(code).toBe(1);
  const faults = json.checks.filter(({ ok }: { ok: boolean }) => !ok);
  expect(faults.map(({ name }: { name: string }) => name)).toEqual(['write groups', 'write group members']);
  expect(await stored()).toBeUndefined();
});

it.each<[string, Partial<ReturnType<typeof applicantOf>>]>([
  ['a read of the group is refused too', { refusesWrite: async () => true, hidesGroups: async () => true }],
  ['a read of this group fails', { refusesWrite: async () => true, hidesGroups: failing }],
  ['the platform fails', { refusesWrite: failing }],
])('connect accepts a credential without a known write scope if %s', async (_, change) => {
  const { scripted, stored } = await worldOf(change);
  const { code, json } = await scripted();
  expect(code).toBe(0);
  expect(await stored()).toBe('userId');
  for (const name of ['write groups', 'write group members']) {
    const detail = expect.stringMatching(/^not known: .*: groupsync probe --connection \S+$/);
    expect(json.checks).toContainEqual(expect.objectContaining({ name, ok: true, detail }));
  }
});
