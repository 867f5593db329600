import { Agent } from 'undici';
import { expect, it, onTestFinished } from 'vitest';
import { openPlatform } from '../../local/open-platform.ts';
import { checkWriteScopes } from '../../shared/operate/connect/inspect.ts';
import { probePlatform } from '../../shared/operate/probe.ts';
import { createApplicants } from '../../shared/platform/applicants.ts';
import { createPlatforms } from '../../shared/platform/platforms.ts';
import { createWorld } from '../support/operate/world.ts';

const TOKEN = 'an-example-token';
const worldWith = (scopes: readonly string[] | undefined) => ({
  companies: [{ id: 'acme', name: 'Acme', employees: [], groups: [] }],
  credentials: [
    { token: TOKEN, kind: 'oauth_app' as const, company: 'acme', ...(scopes && { scopes: [...scopes] }) },
  ],
});

/** Starts the platform simulator over HTTP, with these settings and a credential with these scopes. */
async function simulatorWith(settings: object, scopes?: readonly string[]) {
  const simulator = await openPlatform({ world: worldWith(scopes), dataFile: undefined, port: 0 });
  const dispatcher = new Agent();
  onTestFinished(async () => {
    await dispatcher.close();
    await simulator.close();
  });
  const control = async (name: string, value: object) => {
    const { ok } = await fetch(`${simulator.url}/_simulator/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(value),
    });
    expect(ok).toBe(true);
  };
  await control('settings', settings);
  const { ports, connection } = createWorld({ baseUrl: simulator.url });
  const acme = { ...connection, company: 'acme' };
  await ports.connections.save(acme);
  const secrets = { read: async () => ({ value: { token: TOKEN }, version: '1' }), write: async () => '1' };
  const sleep = async () => {};
  const real = { clock: Date.now, sleep };
  const platforms = createPlatforms({ ...ports, ...real, secrets, dispatcher } as never);
  const request = { connection: acme, signal: new AbortController().signal };
  return {
    break: (...faults: readonly object[]) => control('faults', faults),
    probe: () => probePlatform(request, { ...ports, ...real, platforms }),
    groups: async () => (await platforms.open(acme)).groups.list(0),
    applicant: await createApplicants({ ...ports, ...real, secrets, dispatcher } as never).present(
      simulator.url,
      TOKEN,
    ),
  };
}

it('probe names the missing scope if the token may rename groups but not set their members', async () => {
  const { probe, groups } = await simulatorWith({}, ['groups:write']);
  const report = await probe();
  expect(report).toMatchObject({ kept: false, left: [] });
  expect(report.stopped).toContain('may rename groups but may not set their members');
  expect(report.stopped).toContain('write scope for group members');
  expect(await groups()).toEqual([]);
});

it('probe names the missing scope if the token may not create groups', async () => {
  const { probe } = await simulatorWith({}, ['group-members:write']);
  await expect(probe()).rejects.toThrow('the credential may not create or change groups');
});

it.each<[readonly string[] | undefined, readonly [groups: boolean, members: boolean]]>([
  [undefined, [false, false]],
  [['*'], [false, false]],
  [['employees:name'], [false, false]],
  [
    ['groups:write', 'group-members:write'],
    [false, false],
  ],
  [['groups:write'], [false, true]],
  [['group-members:write'], [true, false]],
])(
  'connect finds whether a token with the scopes %j is refused writes of groups and members: %j',
  async (scopes, refused) => {
    const { applicant, groups } = await simulatorWith({}, scopes);
    expect(await applicant.refusesWrite('groups')).toBe(refused[0]);
    expect(await applicant.refusesWrite('members')).toBe(refused[1]);
    expect(await groups()).toEqual([]);
  },
);

it.each([
  ['calls of unknown groups', '*/groups/*', true],
  ['writes', '*/nowhere', false],
])(
  'connect reports write scopes as unknown only if a GET of an unknown group also answers 403 (403 for all %s)',
  async (_, path, hides) => {
    const simulator = await simulatorWith({}, ['employees:name']);
    await simulator.break(
      { match: { method: 'PATCH', path: '*/groups/*' }, times: 2, status: 403 },
      { match: { method: 'GET', path }, status: 403 },
    );
    const checks = await checkWriteScopes('acme', simulator.applicant);
    expect(checks.map(({ ok }) => ok)).toEqual([hides, hides]);
    expect(checks.every(({ detail }) => detail.startsWith('not known: '))).toBe(hides);
  },
);
