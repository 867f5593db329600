import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OUTPUT_SCHEMAS } from '../../cli/schemas.ts';
import { PROVIDER } from '../../directory-simulator/google/federation.ts';
import { READ_ALL } from '../../directory-simulator/google/scopes.ts';
import { SERVICE_ACCOUNT } from '../../directory-simulator/google/sign-in.ts';
import { DirectoryInvocation } from '../../shared/contract/invocation.ts';
import { createDirectories } from '../../shared/directory/directories.ts';
import { examineDirectory, tryDirectory } from '../../shared/operate/connect/directory.ts';
import { requireConnection } from '../../shared/operate/settings.ts';
import type { ToolPorts } from '../../shared/sync/ports/bundles.ts';
import { SecretError } from '../../shared/sync/ports/secrets.ts';
import { openGoogle } from '../directory/google/reader.ts';
import { ADMIN } from '../directory-simulator/fixture.ts';
import { runCli } from '../support/cli/io.ts';
import { temporaryFolder } from '../support/folder.ts';
import { savedWorld, sixInSync } from '../support/operate/world.ts';

type Check = { readonly name: string; readonly ok: boolean };

/** A connection, and a directory that it may be connected to. The function `directory` has no key. */
async function worldOf(saved: () => Promise<Awaited<ReturnType<typeof savedWorld>>> = savedWorld) {
  const world = await saved();
  const google = await openGoogle();
  google.clock.ms = world.clock.ms;
  const stored: unknown[] = [];
  const directoryApplicants = {
    present: async () => google.directory,
    store: async (_: unknown, key: unknown) => void stored.push(key),
    remove: async () => void stored.push('removed'),
  };
  const read = async () => {
    throw new SecretError('the secret cannot be read');
  };
  const functions: ToolPorts['functions'] = {
    async run(_, event) {
      const { preview } = DirectoryInvocation.parse(event);
      const found = await requireConnection(world.connection.name, world.ports);
      const directories = createDirectories({ read }, google.world);
      const report =
        preview === undefined
          ? await examineDirectory(found, { directories })
          : await tryDirectory(found, preview, { ...world.ports, directories });
      return JSON.parse(JSON.stringify({ reports: [report] }));
    },
  };
  const deployment = { ...world.ports.deployment, allowsLoopback: true };
  const ports = { ...world.ports, directoryApplicants, functions, deployment };
  const key = join(temporaryFolder(), 'key.json');
  writeFileSync(key, JSON.stringify(google.key));
  const args = ['connect', 'default', '--directory', 'google', '--administrator', ADMIN, '--key', key];
  return {
    google,
    stored,
    connect: (...more: string[]) => runCli([...args, '--yes', '--json', ...more], { ports }),
    run: (...given: string[]) => runCli(given, { ports }),
    setting: async () => (await ports.connections.current('default' as never))?.settings.directory,
  };
}

describe('connect --directory', () => {
  it('shows the groups and stores the key and the setting', async () => {
    const { connect, stored, setting, google } = await worldOf();
    const { code, json, stderr } = await connect();
    expect(OUTPUT_SCHEMAS.connect.parse(json)).toMatchObject({
      connection: 'default',
      stored: true,
      kind: 'google',
      listed: 4,
      selected: 4,
      others: [],
    });
    expect(json.sample).toContainEqual({
      group: 'g-emea',
      name: 'EMEA',
      members: 1,
      matched: 0,
      problem: null,
    });
    expect(json.sample.find(({ group }: { group: string }) => group === 'g-all').problem).toContain(
      'every user',
    );
    expect(stderr).toContain('4 groups in the directory, 4 selected');
    expect(code).toBe(0);
    expect(stored).toEqual([google.key]);
    expect(await setting()).toEqual({ kind: 'google', administrator: ADMIN });
  });

  it.each([
    ['a scope is missing', { scopes: ['https://www.googleapis.com/auth/admin.directory.group.readonly'] }],
    ['nothing is delegated', { scopes: [] }],
  ])('stores nothing if %s', async (_, delegation) => {
    const { connect, stored, setting, google } = await worldOf();
    await google.control('delegation', delegation);
    const { code, stderr } = await connect();
    expect(code).toBe(1);
    expect(stderr).toContain('nothing was stored: token: the directory answered 401 (unauthorized_client)');
    expect([stored, await setting()]).toEqual([[], null]);
  });

  it('stores nothing if groups came from another source that the directory does not have', async () => {
    const { connect, stored, setting } = await worldOf(sixInSync);
    const { code, json } = await connect();
    expect(code).toBe(1);
    expect(json).toMatchObject({ stored: false, others: ['g'] });
    expect([stored, await setting()]).toEqual([[], null]);
  });

  it('asks for the administrator and the key', async () => {
    const { run } = await worldOf();
    const { code, stderr } = await run('connect', 'default', '--directory', 'google');
    expect(code).toBe(2);
    expect(stderr).toContain('expected --administrator ADDRESS, and --key FILE or --provider NAME with');
  });

  it('refuses a key and a provider at the same time, and half a provider', async () => {
    const { connect, run } = await worldOf();
    const both = await connect('--provider', PROVIDER, '--service-account', SERVICE_ACCOUNT.email);
    const half = await run(...WITHOUT_KEY, '--provider', PROVIDER);
    for (const { code, stderr } of [both, half]) {
      expect([code, stderr]).toEqual([2, expect.stringContaining('--provider NAME with --service-account')]);
    }
  });
});

const WITHOUT_KEY = ['connect', 'default', '--directory', 'google', '--administrator', ADMIN];

/** A connection whose function signs in with its role. `setUp` may take something away first. */
async function keylessWorld() {
  const world = await worldOf();
  const { google, run } = world;
  const federated = [
    ...['--provider', PROVIDER, '--service-account', SERVICE_ACCOUNT.email],
    ...['--directory-url', google.url, '--yes'],
  ];
  return { ...world, connect: () => run(...WITHOUT_KEY, ...federated, '--json') };
}

describe('connect --directory without a key', () => {
  it('has the function try the directory, stores the setting, and removes a key that was stored', async () => {
    const { connect, stored, setting, google } = await keylessWorld();
    const { code, json, stderr } = await connect();
    expect(stderr).toContain('4 groups in the directory, 4 selected');
    expect([code, json.stored, json.listed]).toEqual([0, true, 4]);
    expect(stored).toEqual(['removed']);
    expect(await setting()).toEqual({
      kind: 'google',
      administrator: ADMIN,
      federation: { provider: PROVIDER, serviceAccount: SERVICE_ACCOUNT.email },
      baseUrl: google.url,
    });
  });

  it('stores nothing if a step fails, and names the fix', async () => {
    const { connect, stored, setting, google } = await keylessWorld();
    await google.control('federation', { allowedSubjects: [] });
    const { code, stderr } = await connect();
    expect(code).toBe(1);
    expect(stderr).toContain('nothing was stored: signJwt: the directory answered 403 (PERMISSION_DENIED)');
    expect(stderr).toContain(`token creator of ${SERVICE_ACCOUNT.email}`);
    expect([stored, await setting()]).toEqual([[], null]);
  });
});

describe('doctor', () => {
  const checksOf = async ({ run }: Awaited<ReturnType<typeof worldOf>>) =>
    (await run('doctor', '--json')).json.checks.filter(({ name }: Check) => name.includes(': directory'));

  it('tries each step of reading the directory', async () => {
    const world = await keylessWorld();
    await world.connect();
    expect((await checksOf(world)).map(({ name, ok }: Check) => [name, ok])).toEqual(
      [
        ...['web identity', 'token exchange', 'signature', 'administrator'],
        ...['groups', 'members', 'users', 'reports'],
      ].map((step) => [`default: directory ${step}`, true]),
    );
  });

  it('names the scope that is missing, to be pasted', async () => {
    const world = await keylessWorld();
    await world.connect();
    await world.google.control('delegation', { scopes: READ_ALL.slice(0, 3) });
    expect((await checksOf(world)).filter(({ ok }: Check) => !ok)).toEqual([
      {
        name: 'default: directory reports',
        ok: false,
        detail: 'token: the directory answered 401 (unauthorized_client)',
        fix: expect.stringMatching(/^docs\/read-google\.md.*\nhttps:\S+admin\.reports\.audit\.readonly$/),
      },
    ]);
  });

  it('explains a limit of calls that was reached', async () => {
    const world = await keylessWorld();
    await world.connect();
    await world.google.control('faults', [
      { match: { path: '*/directory/v1/users/*' }, times: 30, error: 'userRateLimitExceeded' },
    ]);
    expect((await checksOf(world)).filter(({ ok }: Check) => !ok)).toMatchObject([
      { name: 'default: directory users', fix: expect.stringContaining('2,400 a minute for each user') },
    ]);
  });
});
