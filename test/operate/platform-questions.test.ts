import { expect, it } from 'vitest';
import { PlatformQuestion } from '../../shared/contract/invocation.ts';
import type { EmployeeField } from '../../shared/contract/match-rule.ts';
import { platformGroupId, platformUserId, roleId, versionToken } from '../../shared/domain/ids.ts';
import type { ObservedGroup } from '../../shared/domain/view.ts';
import { answerPlatformQuestion, type PlatformAnswerPorts } from '../../shared/operate/platform/answer.ts';
import { platformsThroughFunction } from '../../shared/operate/platform/through-function.ts';
import type { ToolPorts } from '../../shared/sync/ports/bundles.ts';
import { type EmployeeRecord, type Platform, PlatformFailure } from '../../shared/sync/ports/platform.ts';
import { runCli } from '../support/cli/io.ts';
import { createWorld, sixInSync } from '../support/operate/world.ts';

const { connection } = createWorld();
const MAX_ANSWER = 6 * 1024 * 1024;

/** Returns the function `reconcile` with these ports, as the command line calls it. */
function functionOver(ports: PlatformAnswerPorts) {
  const asked: PlatformQuestion[] = [];
  const functions: ToolPorts['functions'] = {
    async run(_, event) {
      const { question } = JSON.parse(JSON.stringify(event));
      const about = PlatformQuestion.parse(question);
      asked.push(about);
      const reply = JSON.stringify(await answerPlatformQuestion(connection, about, ports));
      expect(Buffer.byteLength(reply)).toBeLessThan(MAX_ANSWER);
      return JSON.parse(reply);
    },
  };
  return { asked, functions };
}

/** Returns a platform with these calls, as a command uses it through the function. */
async function throughFunction(given: Partial<Platform['groups']>, rest: Partial<Platform> = {}) {
  let opened = 0;
  const open = async () => {
    opened += 1;
    return { groups: given, ...rest } as Platform;
  };
  const checkCredential = async () => ({ checks: [{ name: 'company', ok: true, detail: '', fix: null }] });
  const health = { read: async () => ({ holder: { user: 'u-boss' } }) };
  const { asked, functions } = functionOver({ platforms: { open }, health, checkCredential });
  const { platforms, ...calls } = platformsThroughFunction({ functions, clock: () => 0 });
  return { asked, opened: () => opened, platform: await platforms.open(connection), ...calls };
}

const groupOf = (id: number, users: number): ObservedGroup => ({
  id: `g${id}`,
  name: `Group ${id}`,
  spokeId: null,
  version: versionToken('1'),
  users: Array.from({ length: users }, (_, at) =>
    platformUserId(`user-${id}-${String(at).padStart(20, '0')}`),
  ),
});

it('plan prints the same document whether it calls the platform through the function or directly', async () => {
  const world = await sixInSync();
  await world.publish({ type: 'group.upserted', data: { group: { id: 'g', name: 'Renamed' } } });
  for (const id of world.platform.groups.keys()) world.platform.changeAsOther(id, { name: 'Changed' });
  const { functions, asked } = functionOver(world.ports);
  const ports = { ...world.ports, ...platformsThroughFunction({ functions, clock: () => world.clock.ms }) };
  const [direct, asking] = [
    await runCli(['plan', '--json'], world),
    await runCli(['plan', '--json'], { ports }),
  ];
  expect(asking).toEqual(direct);
  expect(asking.json.plans).toMatchObject([{ group: 'g' }]);
  expect(asked.length).toBeGreaterThan(0);
});

it('a list that is too large for one answer of Lambda arrives completely in several parts', async () => {
  const groups = Array.from({ length: 5 }, (_, id) => groupOf(id, 60_000));
  const { platform, asked } = await throughFunction({ list: async () => groups });
  expect(await platform.groups.list(0)).toEqual(groups);
  expect(platform.groups.countListed()).toBe(5);
  expect(asked.length).toBeGreaterThan(2);
});

it('a list that changes between two of its parts is read again from its beginning', async () => {
  const groups = Array.from({ length: 4 }, (_, id) => groupOf(id, 60_000));
  let changes = 1;
  const list = async () => {
    if (changes > 0 && asked.length > 1) {
      changes -= 1;
      groups.push(...groups.splice(0, 1));
    }
    return groups;
  };
  const { platform, asked } = await throughFunction({ list });
  expect((await platform.groups.list(0)).map(({ id }) => id)).toEqual(groups.map(({ id }) => id));
  changes = Number.POSITIVE_INFINITY;
  await expect(platform.groups.list(0)).rejects.toThrow('changed 3 times');
});

it('a list is requested again only by a later call after a failure, or if it is older than the caller accepts', async () => {
  let failures = 1;
  const list = async () => {
    failures -= 1;
    if (failures >= 0) throw new PlatformFailure('unavailable', 'it answers 503', { status: 503 });
    return [];
  };
  const { platform, asked } = await throughFunction({ list });
  await expect(platform.groups.list(1_000)).rejects.toMatchObject({ status: 503 });
  expect(await platform.groups.list(1_000)).toEqual([]);
  await platform.groups.list(1_000);
  expect(asked).toHaveLength(2);
  platform.groups.forgetList();
  await platform.groups.list(1_000);
  await platform.groups.list(0);
  expect(asked).toHaveLength(4);
});

it('employees arrive with the requested fields, and a field that is missing stays absent', async () => {
  const email: EmployeeField = { kind: 'field', name: 'workEmail' };
  const custom: EmployeeField = { kind: 'customField', title: 'Okta ID' };
  const [ann, bob]: EmployeeRecord[] = [
    { role: roleId('ann'), userId: 'u', state: 'ACTIVE', fields: new Map([[email, 'ann@acme.test']]) },
    { role: roleId('bob'), fields: new Map([[custom, null]]) },
  ] as const as never;
  const { platform } = await throughFunction(
    {},
    {
      async *employees() {
        yield [ann as EmployeeRecord];
        yield [bob as EmployeeRecord];
      },
      employee: async (role) => (role === 'bob' ? bob : undefined),
    },
  );
  const found: unknown[] = [];
  for await (const page of platform.employees({ fields: [email, custom], states: [] }))
    found.push(...(page as []));
  expect(found).toEqual([ann, bob]);
  expect(await platform.employee(roleId('bob'), [email, custom])).toEqual(bob);
  expect(await platform.employee(roleId('cid'), [])).toBeUndefined();
});

it('the checks of a credential arrive through the function', async () => {
  const { checkCredential } = await throughFunction({});
  expect(await checkCredential(connection)).toMatchObject({ checks: [{ name: 'company', ok: true }] });
});

it('a refused credential is read again once, and a second refusal names the person to contact', async () => {
  let refusals = 1;
  const get = async () => {
    if (refusals === 0) return groupOf(1, 1);
    refusals -= 1;
    throw new PlatformFailure('unauthorized', 'it answers 401', { status: 401 });
  };
  const { platform, opened } = await throughFunction({ get });
  expect(await platform.groups.get(platformGroupId('g1'))).toEqual(groupOf(1, 1));
  expect(opened()).toBe(2);
  refusals = 2;
  const message = expect.stringMatching(/^it answers 401\. Contact .* the platform user is u-boss$/);
  const failure = { name: 'PlatformFailure', kind: 'unauthorized', status: 401, message };
  await expect(platform.groups.get(platformGroupId('g1'))).rejects.toMatchObject(failure);
});

it('a function that cannot be called causes the same error as a failed call of the platform', async () => {
  const denied = Object.assign(new Error('not authorized'), { name: 'AccessDeniedException' });
  const functions = { run: () => Promise.reject(denied) };
  const { platforms } = platformsThroughFunction({ functions, clock: () => 0 });
  const { groups } = await platforms.open(connection);
  await expect(groups.get(platformGroupId('g'))).rejects.toMatchObject({
    kind: 'unavailable',
    cause: denied,
  });
});

it('a command cannot write to the platform through the function', async () => {
  const { platform, asked } = await throughFunction({});
  const fields = { name: 'x', spokeId: 'x', users: [] };
  expect(() => platform.groups.create(fields)).toThrow('only functions write');
  expect(() => platform.groups.delete(platformGroupId('g'))).toThrow('only functions write');
  expect(asked).toEqual([]);
  expect(PlatformQuestion.safeParse({ create: fields }).success).toBe(false);
});
